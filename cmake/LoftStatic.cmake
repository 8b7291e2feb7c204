# What a static link needs instead of the packages' own CMake files.

# Debian ships {fmt} as a shared library only; its headers can do without.
find_path(LOFT_FMT_INCLUDE fmt/format.h REQUIRED)
add_library(fmt::fmt INTERFACE IMPORTED GLOBAL)
target_include_directories(fmt::fmt SYSTEM INTERFACE ${LOFT_FMT_INCLUDE})
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)

set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
