# loft_module(NAME [LINK library...])
#   A module is a folder of src/ and one static library, loft_NAME. It links the modules that
#   src/LAYERS lets it include, and the libraries given here.
#
# loft_module_tests(NAME [LINK library...])
#   All *_test.cpp of tests/NAME as one program, each case known to CTest by its own name.

file(STRINGS ${CMAKE_SOURCE_DIR}/src/LAYERS LOFT_LAYERS REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/LAYERS)

function(loft_module name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp
                                              ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  add_library(loft_${name} STATIC ${sources})
  target_include_directories(loft_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(loft_${name} PUBLIC loft_flags ${arg_LINK})
  foreach(line IN LISTS LOFT_LAYERS)
    string(REGEX MATCHALL "[a-z]+" words "${line}")
    list(POP_FRONT words layer)
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
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(loft_${name}_tests ${sources})
  target_include_directories(loft_${name}_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(loft_${name}_tests PRIVATE LOFT_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                        LOFT_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(loft_${name}_tests PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(loft_${name}_tests DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
endfunction()
