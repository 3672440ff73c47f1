# `cmake --install`: headers, library and the package that find_package(braid) reads.
include(CMakePackageConfigHelpers)

set(braid_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/braid)

install(TARGETS braid EXPORT braidTargets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT braidTargets NAMESPACE braid:: DESTINATION ${braid_package_dir})
if(BRAID_INSTALLS_TRACY)
    install(EXPORT braidTracyTargets NAMESPACE braid:: DESTINATION ${braid_package_dir})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/braid
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.hpp")

configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/braidConfig.cmake.in ${PROJECT_BINARY_DIR}/braidConfig.cmake
    INSTALL_DESTINATION ${braid_package_dir})
# Before 1.0 a minor version may break: only the same minor version satisfies a request.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/braidConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
include(braid_pkg_config)
install(FILES
    ${PROJECT_BINARY_DIR}/braidConfig.cmake
    ${PROJECT_BINARY_DIR}/braidConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindHwloc.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindUring.cmake
    DESTINATION ${braid_package_dir})
