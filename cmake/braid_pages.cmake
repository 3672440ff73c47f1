# braid_pages (alias braid::pages): packs of pages, and a cache of them in bounded memory. There where
# zstd and xxhash are.
set(wanted OFF)
if((BRAID_BUILD_TOOLS OR BRAID_BUILD_TESTS OR BRAID_BUILD_SAMPLES OR BRAID_BUILD_DEMO)
        AND NOT BRAID_NO_EXCEPTIONS AND NOT CMAKE_CROSSCOMPILING)
    set(wanted ON)
endif()
if(BRAID_WITH_PAGES STREQUAL "OFF" OR (BRAID_WITH_PAGES STREQUAL "AUTO" AND NOT wanted))
    return()
endif()

find_path(BRAID_ZSTD_INCLUDE zstd.h)
find_library(BRAID_ZSTD zstd)
find_path(BRAID_XXHASH_INCLUDE xxhash.h)
mark_as_advanced(BRAID_ZSTD_INCLUDE BRAID_ZSTD BRAID_XXHASH_INCLUDE)
if(NOT BRAID_ZSTD_INCLUDE OR NOT BRAID_ZSTD OR NOT BRAID_XXHASH_INCLUDE)
    if(BRAID_WITH_PAGES STREQUAL "ON")
        message(FATAL_ERROR
            "BRAID_WITH_PAGES=ON, but zstd or xxhash was not found: install libzstd-dev and libxxhash-dev.")
    endif()
    message(STATUS "No pages: zstd or xxhash was not found (libzstd-dev, libxxhash-dev).")
    return()
endif()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/pages/*.cpp)
braid_add_library_beside(pages ${sources})
target_include_directories(braid_pages SYSTEM PRIVATE ${BRAID_ZSTD_INCLUDE} ${BRAID_XXHASH_INCLUDE})
# By its name, so that the installed package names no folder of this machine.
target_link_libraries(braid_pages PRIVATE zstd)
install(TARGETS braid_pages EXPORT braidTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
