# loft_scheduler_probe(TARGET SOURCE)
#   Compiles the scheduler probe (probes/scheduler) for the kernel's virtual machine and packs it into a
#   header that SOURCE of TARGET includes; LOFT_HAS_BPF is then defined there. No kernel headers and no type information
#   of this machine are needed. LOFT_BPF is AUTO (when clang, bpftool and libbpf are there), ON or OFF.
set(LOFT_BPF AUTO CACHE STRING "Watch the scheduler with BPF: AUTO, ON or OFF")

function(loft_scheduler_probe target source)
  if(NOT LOFT_BPF)
    return()
  endif()
  set(machine ${CMAKE_SYSTEM_PROCESSOR})
  string(REGEX REPLACE "^(x86_64|AMD64|amd64)$" "x86" machine ${machine})
  string(REGEX REPLACE "^aarch64$" "arm64" machine ${machine})
  find_program(LOFT_BPF_CLANG NAMES clang clang-19 clang-16 clang-15 clang-14)
  find_program(LOFT_BPFTOOL bpftool PATHS /usr/sbin /sbin)
  find_path(LOFT_BPF_INCLUDE bpf/libbpf.h)
  find_library(LOFT_BPF_LIBRARY NAMES libbpf.a bpf)
  find_library(LOFT_ELF_LIBRARY NAMES elf)
  find_library(LOFT_Z_LIBRARY NAMES z)
  set(parts "${LOFT_BPF_CLANG};${LOFT_BPFTOOL};${LOFT_BPF_INCLUDE};${LOFT_BPF_LIBRARY};${LOFT_ELF_LIBRARY};${LOFT_Z_LIBRARY}")
  if(parts MATCHES "NOTFOUND" OR NOT machine MATCHES "^(x86|arm64)$")
    if(NOT LOFT_BPF STREQUAL AUTO)
      message(FATAL_ERROR "LOFT_BPF needs clang, bpftool, libbpf and libelf on x86-64 or arm64: ${parts}")
    endif()
    message(STATUS "Without BPF: loft record will use perf_events (${parts})")
    return()
  endif()

  set(folder ${CMAKE_SOURCE_DIR}/probes/scheduler)
  set(object ${CMAKE_BINARY_DIR}/probes/scheduler.bpf.o)
  set(skeleton ${CMAKE_BINARY_DIR}/probes/scheduler_skeleton.h)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/probes)
  add_custom_command(
    OUTPUT ${skeleton}
    COMMAND ${LOFT_BPF_CLANG} -O2 -g -Wall -Werror -target bpf -D__TARGET_ARCH_${machine}
            -idirafter ${LOFT_BPF_INCLUDE} -c ${folder}/scheduler.bpf.c -o ${object}
    COMMAND sh -c "\"$1\" gen skeleton \"$2\" name scheduler_bpf >\"$3.new\" && mv \"$3.new\" \"$3\"" sh
            ${LOFT_BPFTOOL} ${object} ${skeleton}
    DEPENDS ${folder}/scheduler.bpf.c ${folder}/kernel_types.h ${folder}/wire.h
    COMMENT "Compiling the scheduler probe" VERBATIM)
  set_source_files_properties(${source} PROPERTIES
    COMPILE_DEFINITIONS LOFT_HAS_BPF
    COMPILE_OPTIONS "-I${CMAKE_SOURCE_DIR};-isystem;${CMAKE_BINARY_DIR}/probes;-idirafter;${LOFT_BPF_INCLUDE}"
    OBJECT_DEPENDS ${skeleton} SKIP_PRECOMPILE_HEADERS ON)
  target_link_libraries(${target} PUBLIC ${LOFT_BPF_LIBRARY} ${LOFT_ELF_LIBRARY} ${LOFT_Z_LIBRARY})
endfunction()
