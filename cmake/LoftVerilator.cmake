# loft_verilated(NAME SIZE=VALUE...)
#   The counter unit of rtl/ with these parameters, as a simulation: a library Vupc_NAME with a class of
#   that name. LOFT_VERILATOR is empty where Verilator is not installed.
find_program(LOFT_VERILATOR verilator)
if(NOT LOFT_VERILATOR)
  set(LOFT_VERILATOR "")
  return()
endif()

set(LOFT_RTL ${CMAKE_SOURCE_DIR}/rtl/upc_unit.sv ${CMAKE_SOURCE_DIR}/rtl/upc_event_counters.sv
             ${CMAKE_SOURCE_DIR}/rtl/upc_memory.sv)
execute_process(COMMAND ${LOFT_VERILATOR} --getenv VERILATOR_ROOT OUTPUT_VARIABLE LOFT_VERILATOR_ROOT
                OUTPUT_STRIP_TRAILING_WHITESPACE)

function(loft_verilated name)
  if(NOT TARGET loft_verilator_runtime)
    set(runtime ${LOFT_VERILATOR_ROOT}/include)
    add_library(loft_verilator_runtime STATIC EXCLUDE_FROM_ALL ${runtime}/verilated.cpp
                                              ${runtime}/verilated_threads.cpp)
    target_include_directories(loft_verilator_runtime SYSTEM PUBLIC ${runtime} ${runtime}/vltstd)
    target_compile_options(loft_verilator_runtime PRIVATE -w -O1)
    target_link_libraries(loft_verilator_runtime PUBLIC Threads::Threads)
  endif()
  set(folder ${CMAKE_BINARY_DIR}/verilated/${name})
  set(visible ${CMAKE_SOURCE_DIR}/tests/rtl/visible.vlt)
  list(TRANSFORM ARGN PREPEND -G)
  # Verilator chooses the names of its files: one file includes them all.
  add_custom_command(
    OUTPUT ${folder}/all.cpp
    COMMAND ${LOFT_VERILATOR} --cc -Wall --x-initial unique --prefix Vupc_${name} --Mdir ${folder}
            --top-module upc_unit ${ARGN} ${visible} ${LOFT_RTL}
    COMMAND sh -c "cd \"$1\" && rm -f all.cpp && for f in Vupc_*.cpp; do echo \"#include \\\"$f\\\"\"; done >all.new && mv all.new all.cpp"
            sh ${folder}
    DEPENDS ${LOFT_RTL} ${visible} COMMENT "Verilating the counter unit: ${name}" VERBATIM)
  add_library(Vupc_${name} STATIC EXCLUDE_FROM_ALL ${folder}/all.cpp)
  target_include_directories(Vupc_${name} SYSTEM PUBLIC ${folder})
  target_compile_options(Vupc_${name} PRIVATE -w -O1)
  target_link_libraries(Vupc_${name} PUBLIC loft_verilator_runtime)
endfunction()
