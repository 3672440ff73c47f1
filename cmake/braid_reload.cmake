# braid_reload (alias braid::reload): parts of a program that are reloaded while it runs. There where
# libdw and xxhash are. What programs call is in braid_reload_functions.cmake, which the installed
# package has, too.
set(BRAID_HAS_RELOAD OFF)
set(wanted OFF)
if((BRAID_BUILD_TOOLS OR BRAID_BUILD_TESTS OR BRAID_BUILD_SAMPLES OR BRAID_BUILD_BENCH)
        AND NOT BRAID_NO_EXCEPTIONS
        AND NOT CMAKE_CROSSCOMPILING AND NOT WIN32)
    set(wanted ON)
endif()
if(BRAID_WITH_RELOAD STREQUAL "OFF" OR (BRAID_WITH_RELOAD STREQUAL "AUTO" AND NOT wanted))
    return()
endif()

find_path(BRAID_LIBDW_INCLUDE elfutils/libdw.h)
find_library(BRAID_LIBDW dw)
find_library(BRAID_LIBELF elf)
find_path(BRAID_XXHASH_INCLUDE xxhash.h)
mark_as_advanced(BRAID_LIBDW_INCLUDE BRAID_LIBDW BRAID_LIBELF BRAID_XXHASH_INCLUDE)
if(NOT BRAID_LIBDW_INCLUDE OR NOT BRAID_LIBDW OR NOT BRAID_LIBELF OR NOT BRAID_XXHASH_INCLUDE)
    if(BRAID_WITH_RELOAD STREQUAL "ON")
        message(FATAL_ERROR
            "BRAID_WITH_RELOAD=ON, but libdw or xxhash was not found: install libdw-dev and libxxhash-dev.")
    endif()
    message(STATUS "No reloading: libdw or xxhash was not found (libdw-dev, libxxhash-dev).")
    return()
endif()

set(BRAID_HAS_RELOAD ON)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/reload/*.cpp)
braid_add_library_beside(reload ${sources})
target_include_directories(braid_reload SYSTEM PRIVATE ${BRAID_LIBDW_INCLUDE} ${BRAID_XXHASH_INCLUDE})
# Whole programs' debug information is read, which takes a sanitizer long without optimization.
if(BRAID_SANITIZE)
    target_compile_options(braid_reload PRIVATE -O1)
endif()
# By their names, so that the installed package names no folder of this machine.
target_link_libraries(braid_reload PRIVATE dw elf ${CMAKE_DL_LIBS})
install(TARGETS braid_reload EXPORT braidTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/braid_reload_functions.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/braid)

include(braid_reload_functions)
