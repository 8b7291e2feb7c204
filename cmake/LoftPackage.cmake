# Packages: `cpack` in the folder of a release build makes a .deb; scripts/package makes the static archive.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME loft)
set(CPACK_PACKAGE_VENDOR loft)
set(CPACK_PACKAGE_CONTACT "loft <loft@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "See your program under its roof")
set(CPACK_PACKAGE_DESCRIPTION
    "loft shows how close a program comes to the limits of the machine: rooflines, exact virtual counters,
 recordings, flame graphs and the reasons for the time that functions take, without changing the program.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# dpkg-shlibdeps finds what programs and library link; libpfm4 is loaded where it is there.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libpfm4)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
