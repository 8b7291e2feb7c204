# Toolchain: arm64 Linux from any Debian machine, linked statically so that the result runs on any
# arm64 kernel, such as the one that scripts/lab boots. `scripts/cross-build arm64` fetches the
# libraries into the sysroot, then builds with this file.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

# Not CMAKE_SYSROOT: the C library comes with the compiler, from a place of its own.
set(LOFT_CROSS_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-arm64)
set(CMAKE_FIND_ROOT_PATH ${LOFT_CROSS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${LOFT_CROSS_ROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${LOFT_CROSS_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${LOFT_CROSS_ROOT}/usr/share/pkgconfig)
