# Libraries beside braid, for programs that show captures in a browser:
#   braid_viewer_page  the viewer as text (alias braid::viewer_page);
#   braid_stream       the server of live views (alias braid::stream), where Boost's headers are.
# The server throws, and Boost's headers would be those of the machine that builds.
set(wanted OFF)
if((BRAID_BUILD_TOOLS OR BRAID_BUILD_TESTS) AND NOT BRAID_NO_EXCEPTIONS AND NOT CMAKE_CROSSCOMPILING)
    set(wanted ON)
endif()
if(BRAID_WITH_STREAM STREQUAL "OFF" OR (BRAID_WITH_STREAM STREQUAL "AUTO" AND NOT wanted))
    return()
endif()

function(braid_add_view_library name)
    braid_add_library_beside(${name} ${ARGN})
    install(TARGETS braid_${name} EXPORT braidTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# viewer/dist/index.html is committed; its absence is seen when CMake runs again.
set(BRAID_VIEWER_PAGE ${PROJECT_SOURCE_DIR}/viewer/dist/index.html CACHE FILEPATH
    "The page that braid_viewer_page holds; missing: one that says so")
set(page_source ${PROJECT_BINARY_DIR}/viewer_page.cpp)
set(page_file)
if(EXISTS ${BRAID_VIEWER_PAGE})
    set(page_file ${BRAID_VIEWER_PAGE})
endif()
add_custom_command(OUTPUT ${page_source}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${page_file} -DOUTPUT=${page_source}
        -P ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${page_file} ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
    VERBATIM)
braid_add_view_library(viewer_page ${page_source})

find_package(Boost 1.74 QUIET)
if(NOT Boost_FOUND)
    if(BRAID_WITH_STREAM STREQUAL "ON")
        message(FATAL_ERROR "BRAID_WITH_STREAM=ON, but Boost was not found: install libboost-dev.")
    endif()
    return()
endif()
braid_add_view_library(stream
    ${PROJECT_SOURCE_DIR}/src/profile/stream/chunks.cpp
    ${PROJECT_SOURCE_DIR}/src/profile/stream/guard.cpp
    ${PROJECT_SOURCE_DIR}/src/profile/stream/hub.cpp
    ${PROJECT_SOURCE_DIR}/src/profile/stream/live_view.cpp
    ${PROJECT_SOURCE_DIR}/src/profile/stream/server.cpp)
target_link_libraries(braid_stream PRIVATE $<BUILD_INTERFACE:Boost::headers>)
# One thread runs every handler, and what others post goes through a lock. Asio's fences order nothing
# here, and the thread sanitizer does not know fences.
target_compile_definitions(braid_stream PRIVATE BOOST_ASIO_DISABLE_FENCED_BLOCK)
