# What the options of the top-level CMakeLists.txt mean for compiler and linker.

# Warnings for our own targets. Never exported: a consumer chooses its own.
add_library(braid_warnings INTERFACE)
target_compile_options(braid_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>  # the rules of base/mutex.hpp
    $<$<BOOL:${BRAID_WERROR}>:-Werror>)

# Sanitizers change the ABI of everything that they touch, so they are not a property of one target.
if(BRAID_SANITIZE)
    add_compile_options(-fsanitize=${BRAID_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${BRAID_SANITIZE})
endif()

if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_CXX_EXTENSIONS OFF)
    find_program(BRAID_CCACHE ccache)
    mark_as_advanced(BRAID_CCACHE)
    if(BRAID_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
        set(CMAKE_CXX_COMPILER_LAUNCHER ${BRAID_CCACHE})
    endif()
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
        set(CMAKE_BUILD_TYPE Release)
    endif()
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
    set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
    set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endif()

find_package(Threads REQUIRED)

set(BRAID_HAS_HWLOC OFF)
if(NOT BRAID_WITH_HWLOC STREQUAL "OFF")
    find_package(Hwloc QUIET)
    set(BRAID_HAS_HWLOC ${Hwloc_FOUND})
    if(BRAID_WITH_HWLOC STREQUAL "ON" AND NOT Hwloc_FOUND)
        message(FATAL_ERROR "BRAID_WITH_HWLOC=ON, but hwloc was not found: install libhwloc-dev.")
    endif()
endif()

set(BRAID_HAS_URING OFF)
if(NOT BRAID_WITH_URING STREQUAL "OFF")
    find_package(Uring QUIET)
    set(BRAID_HAS_URING ${Uring_FOUND})
    if(BRAID_WITH_URING STREQUAL "ON" AND NOT Uring_FOUND)
        message(FATAL_ERROR "BRAID_WITH_URING=ON, but liburing was not found: install liburing-dev.")
    endif()
endif()
