// Why the kernel refused a BPF program, in words. For the file that has the probe alone.
//
//   keep_warnings();                       // before libbpf is used
//   if (failed) return refused(errno, "load the scheduler probe");
#pragma once

#include <bpf/libbpf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/text.hpp"

namespace loft::source::scheduler {

// What libbpf knows of why a program was refused: the verifier's last word, else its own.
inline std::string& last_warning() {
  static std::string text;
  return text;
}

// The verifier tells every step; behind the last one stand only its statistics.
inline std::string_view last_word(std::string_view log) {
  std::string_view word;
  for (const std::string_view line : split(log, '\n')) {
    if (line.starts_with("verification time") || line.starts_with("processed ") ||
        line.starts_with("stack depth"))
      break;
    if (!trim(line).empty()) word = trim(line);
  }
  return word;
}

inline int keep_warning(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string text(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  constexpr std::string_view kVerifier = "the verifier says: ";
  if (text.find("-- BEGIN PROG LOAD LOG --") != std::string::npos)
    last_warning() = std::string(kVerifier) + printable(last_word(text));
  else if (!last_warning().starts_with(kVerifier))  // what comes after it tells less
    last_warning() = printable(trim(text));
  return size;
}

// From now on, instead of having libbpf print them. What was kept before is forgotten.
inline void keep_warnings() {
  libbpf_set_print(keep_warning);
  last_warning().clear();
}

// With what libbpf said last, and with what may help.
inline Failure refused(int number, std::string what) {
  // Who may load programs gets EACCES from the verifier alone.
  if (number == EPERM || (number == EACCES && ::geteuid() != 0))
    return failure(ErrorKind::permission, std::move(what), describe_errno(number),
                   "grant the capabilities: sudo setcap cap_bpf,cap_perfmon+ep "
                   "\"$(command -v loft)\"");
  std::string why = describe_errno(number);
  if (!last_warning().empty()) why += ", " + last_warning();
  return failure(number == ENOMEM ? ErrorKind::limit : ErrorKind::unsupported, std::move(what),
                 std::move(why), "'loft doctor' tells what this kernel allows");
}

}  // namespace loft::source::scheduler
