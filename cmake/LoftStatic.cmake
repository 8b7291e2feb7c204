# What a static link needs instead of the packages' own CMake files.

find_path(LOFT_FMT_INCLUDE fmt/format.h REQUIRED)
add_library(loft_fmt STATIC cmake/fmt_static.cpp)
target_include_directories(loft_fmt SYSTEM PUBLIC ${LOFT_FMT_INCLUDE})
add_library(fmt::fmt ALIAS loft_fmt)

set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
