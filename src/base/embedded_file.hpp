// A file that is part of the program: the assembler takes it in as it is; a string in C++ would
// have to be escaped by a tool. At file scope, with a name that no other file of the program has:
//
//   LOFT_EMBEDDED_FILE(loft_some_page, LOFT_SOME_PAGE)        // the path, as a string literal
//   std::string_view page() { return LOFT_EMBEDDED_TEXT(loft_some_page); }
#pragma once

#include <cstddef>
#include <string_view>

#define LOFT_EMBEDDED_FILE(name, path) \
  asm(".pushsection .rodata\n"         \
      ".global " #name                 \
      "_begin\n"                       \
      ".global " #name                 \
      "_end\n"                         \
      ".hidden " #name                 \
      "_begin\n"                       \
      ".hidden " #name "_end\n" #name  \
      "_begin:\n"                      \
      ".incbin \"" path "\"\n" #name   \
      "_end:\n"                        \
      ".popsection\n");                \
  extern "C" {                         \
  extern const char name##_begin[];    \
  extern const char name##_end[];      \
  }

#define LOFT_EMBEDDED_TEXT(name) \
  std::string_view(name##_begin, static_cast<std::size_t>(name##_end - name##_begin))
