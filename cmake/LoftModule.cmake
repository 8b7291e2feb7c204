# loft_module(NAME [ONE_BY_ONE] [COLD] [HOT file...] [ONLY_ON processor...] [LINK library...])
#   A module is a folder of src/ and one static library, loft_NAME. It links the modules that
#   src/LAYERS lets its folders include, and the libraries given here. On processors other than those after
#   ONLY_ON (x86_64, aarch64) there is no such library; modules above it tell by LOFT_HAS_NAME,
#   which is defined where there is one. COLD: a second more or less of its code is never noticed, so a
#   release compiles it with -O1, which takes a fifth less time than -O2; all but the files after HOT
#   (without their ending), which run once for each sample, record or loop.
#   With LOFT_UNITY eight files are compiled as if they were one, which takes half the time from nothing; a
#   name that two of them keep to themselves is an error then. ONE_BY_ONE: not in this module, whose
#   files are alike on purpose.
#
# loft_module_tests(NAME [LINK library...])
#   All *_test.cpp of tests/NAME as one program, each case known to CTest by its own name. Left out
#   where one of the modules that it links is.

file(STRINGS ${CMAKE_SOURCE_DIR}/src/LAYERS LOFT_LAYERS REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/LAYERS)

# Headers that nearly every file includes are parsed once: one set for the modules, one for the tests.
# Each is compiled in an empty library of its own, so that its flags are everybody's.
function(loft_shared_headers name)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} STATIC ${CMAKE_BINARY_DIR}/${name}.cpp)
  cmake_parse_arguments(arg "FOR_PROGRAMS" "" "HEADERS;LINK" ${ARGN})
  if(arg_FOR_PROGRAMS) # which are compiled so
    target_compile_options(${name} PRIVATE -fPIE ${LOFT_TEST_OPTIONS})
  endif()
  target_link_libraries(${name} PRIVATE loft_flags ${arg_LINK})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

# Tests run once after each build: the optimizer would take longer than it saves.
set(LOFT_TEST_OPTIONS -O0)

function(loft_module name)
  cmake_parse_arguments(arg "ONE_BY_ONE;COLD" "" "HOT;ONLY_ON;LINK" ${ARGN})
  if(arg_ONLY_ON AND NOT CMAKE_SYSTEM_PROCESSOR IN_LIST arg_ONLY_ON)
    set_property(GLOBAL APPEND PROPERTY LOFT_LEFT_OUT loft_${name})
    return()
  endif()
  string(TOUPPER ${name} upper)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp
                                              ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  add_library(loft_${name} STATIC ${sources})
  target_precompile_headers(loft_${name} REUSE_FROM loft_module_headers)
  if(arg_COLD)
    target_compile_options(loft_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    list(TRANSFORM arg_HOT APPEND .cpp)
    set_source_files_properties(${arg_HOT} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
  endif()
  if(LOFT_UNITY AND NOT arg_ONE_BY_ONE)
    set_target_properties(loft_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    target_compile_options(loft_${name} PRIVATE -Wno-subobject-linkage) # takes the .cpp for headers
  endif()
  target_include_directories(loft_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_compile_definitions(loft_${name} INTERFACE LOFT_HAS_${upper})
  target_link_libraries(loft_${name} PUBLIC loft_flags ${arg_LINK})
  foreach(line IN LISTS LOFT_LAYERS)
    string(REGEX MATCHALL "[a-z_/]+" words "${line}")
    list(TRANSFORM words REPLACE "/.*" "") # a folder stands for its module
    list(POP_FRONT words layer)
    list(REMOVE_ITEM words ${layer})
    if(layer STREQUAL name)
      foreach(below IN LISTS words)
        if(TARGET loft_${below})
          target_link_libraries(loft_${name} PUBLIC loft_${below})
        endif()
      endforeach()
    endif()
  endforeach()
endfunction()

function(loft_module_tests name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  get_property(left_out GLOBAL PROPERTY LOFT_LEFT_OUT)
  foreach(library IN LISTS arg_LINK)
    if(library IN_LIST left_out)
      return()
    endif()
  endforeach()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(loft_${name}_tests ${sources})
  target_compile_options(loft_${name}_tests PRIVATE ${LOFT_TEST_OPTIONS})
  target_precompile_headers(loft_${name}_tests REUSE_FROM loft_test_headers)
  target_include_directories(loft_${name}_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(loft_${name}_tests PRIVATE LOFT_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                        LOFT_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(loft_${name}_tests PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(loft_${name}_tests DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
endfunction()
