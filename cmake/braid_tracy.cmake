# braid_tracy (alias braid::tracy): tasks in Tracy's viewer. There where Tracy is: as a package, or as
# a target of the project that has Braid as a folder.
set(BRAID_INSTALLS_TRACY OFF)
if(BRAID_WITH_TRACY STREQUAL "OFF")
    return()
endif()
if(NOT TARGET Tracy::TracyClient)
    find_package(Tracy CONFIG QUIET)
endif()
if(NOT TARGET Tracy::TracyClient)
    if(BRAID_WITH_TRACY STREQUAL "ON")
        message(FATAL_ERROR "BRAID_WITH_TRACY=ON, but Tracy was not found: install Tracy's client, and name "
            "the folder of its TracyConfig.cmake in Tracy_DIR.")
    endif()
    return()
endif()

braid_add_library_beside(tracy ${PROJECT_SOURCE_DIR}/src/profile/tracy/tracy_observer.cpp)
target_link_libraries(braid_tracy PRIVATE Tracy::TracyClient)

# A set of its own: whoever finds Braid's package and has no Tracy gets all the rest. A Tracy that is
# built together with Braid is for that project to install.
get_target_property(BRAID_INSTALLS_TRACY Tracy::TracyClient IMPORTED)
if(BRAID_INSTALLS_TRACY)
    install(TARGETS braid_tracy EXPORT braidTracyTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
