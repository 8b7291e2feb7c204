# loft_calls_agent(SOURCE)
#   Builds the code that runs inside of programs whose calls are watched (probes/calls) as one flat piece,
#   which SOURCE embeds: LOFT_CALLS_AGENT is its path there. It is never sanitized or profiled.
function(loft_calls_agent source)
  set(folder ${CMAKE_SOURCE_DIR}/probes/calls)
  set(built ${CMAKE_BINARY_DIR}/probes/calls)
  file(MAKE_DIRECTORY ${built})
  set(flags -O2 -std=c11 -ffreestanding -fPIC -mgeneral-regs-only -mno-red-zone -fno-stack-protector
            -fcf-protection=none -fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns -fno-jump-tables
            -fvisibility=hidden -Wall -Wextra -Werror)
  add_custom_command(
    OUTPUT ${built}/agent.bin
    COMMAND ${CMAKE_C_COMPILER} ${flags} -c ${folder}/agent.c -o ${built}/agent.o
    COMMAND ${CMAKE_C_COMPILER} ${flags} -c ${folder}/hooks.S -o ${built}/hooks.o
    COMMAND ${CMAKE_C_COMPILER} -nostdlib -static -Wl,--build-id=none -Wl,-e,0 -Wl,-T,${folder}/agent.ld
            ${built}/agent.o ${built}/hooks.o -o ${built}/agent.elf
    COMMAND ${CMAKE_OBJCOPY} -O binary -j .agent ${built}/agent.elf ${built}/agent.bin
    DEPENDS ${folder}/agent.c ${folder}/hooks.S ${folder}/wire.h ${folder}/agent.ld
    COMMENT "Building the agent that watches calls" VERBATIM)
  set_source_files_properties(${source} PROPERTIES
    COMPILE_DEFINITIONS "LOFT_CALLS_AGENT=\"${built}/agent.bin\"" OBJECT_DEPENDS ${built}/agent.bin
    SKIP_PRECOMPILE_HEADERS ON)
endfunction()
