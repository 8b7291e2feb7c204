# What `cmake --install` leaves: program, library, headers, pkg-config and CMake package, man pages,
# data and shell completions.
include(CMakePackageConfigHelpers)

install(TARGETS loft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(EXISTS ${CMAKE_SOURCE_DIR}/share)
  install(DIRECTORY share/ DESTINATION ${CMAKE_INSTALL_DATADIR}/loft)
endif()

# The library, and two ways to find it. Both find the rest from where they lie themselves, so that
# `cmake --install --prefix` may choose the place.
if(TARGET loft_shared)
  set(loft_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/loft)
  install(TARGETS loft_shared EXPORT loft LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY include/loft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY bindings DESTINATION ${CMAKE_INSTALL_DATADIR}/loft)
  install(EXPORT loft FILE loftTargets.cmake NAMESPACE loft:: DESTINATION ${loft_cmake_dir})
  configure_package_config_file(cmake/loftConfig.cmake.in ${CMAKE_BINARY_DIR}/loftConfig.cmake
                                INSTALL_DESTINATION ${loft_cmake_dir})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/loftConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/loftConfig.cmake ${CMAKE_BINARY_DIR}/loftConfigVersion.cmake
          DESTINATION ${loft_cmake_dir})

  file(RELATIVE_PATH loft_up_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(cmake/loft.pc.in ${CMAKE_BINARY_DIR}/loft.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/loft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# Man pages: docs/man/NAME.SECTION.scd becomes NAME.SECTION.
find_program(LOFT_SCDOC scdoc)
if(LOFT_SCDOC)
  file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.scd)
  foreach(source IN LISTS pages)
    get_filename_component(page ${source} NAME_WLE)
    get_filename_component(section ${page} LAST_EXT)
    string(SUBSTRING ${section} 1 -1 section)
    set(made ${CMAKE_BINARY_DIR}/man/${page})
    add_custom_command(OUTPUT ${made}
                       COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
                       COMMAND sh -c "\"$1\" <\"$2\" >\"$3.new\" && mv \"$3.new\" \"$3\"" sh
                               ${LOFT_SCDOC} ${source} ${made}
                       DEPENDS ${source} VERBATIM)
    install(FILES ${made} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    list(APPEND made_pages ${made})
  endforeach()
  add_custom_target(loft_man ALL DEPENDS ${made_pages})
else()
  message(STATUS "scdoc is missing: no man pages")
endif()

# Completions are what the program itself says, so it must run here.
if(NOT CMAKE_CROSSCOMPILING)
  function(loft_completion shell file folder)
    set(made ${CMAKE_BINARY_DIR}/completions/${file})
    add_custom_command(OUTPUT ${made}
                       COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/completions
                       COMMAND sh -c "\"$1\" completion \"$2\" >\"$3.new\" && mv \"$3.new\" \"$3\"" sh
                               $<TARGET_FILE:loft> ${shell} ${made}
                       DEPENDS loft VERBATIM)
    add_custom_target(loft_completion_${shell} ALL DEPENDS ${made})
    install(FILES ${made} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
  endfunction()
  loft_completion(bash loft bash-completion/completions)
  loft_completion(zsh _loft zsh/site-functions)
  loft_completion(fish loft.fish fish/vendor_completions.d)
endif()
