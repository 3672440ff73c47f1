# braid_vulkan (alias braid::vulkan): graphics processors. There where Vulkan's headers and volk are; no
# loader and no device is needed to build it, nor to run it. What programs call to compile their kernels
# is in braid_vulkan_functions.cmake, which the installed package has, too.
set(BRAID_HAS_VULKAN OFF)
set(wanted OFF)
# A driver is other people's code, which the sanitizers do not see.
if((BRAID_BUILD_TESTS OR BRAID_BUILD_BENCH OR BRAID_BUILD_DEMO) AND NOT BRAID_NO_EXCEPTIONS AND NOT BRAID_SANITIZE
        AND NOT CMAKE_CROSSCOMPILING)
    set(wanted ON)
endif()
if(BRAID_WITH_VULKAN STREQUAL "OFF" OR (BRAID_WITH_VULKAN STREQUAL "AUTO" AND NOT wanted))
    return()
endif()

find_path(BRAID_VULKAN_INCLUDE vulkan/vulkan.h)
find_path(BRAID_VOLK_INCLUDE volk.c)
mark_as_advanced(BRAID_VULKAN_INCLUDE BRAID_VOLK_INCLUDE)
if(NOT BRAID_VULKAN_INCLUDE OR NOT BRAID_VOLK_INCLUDE)
    if(BRAID_WITH_VULKAN STREQUAL "ON")
        message(FATAL_ERROR "BRAID_WITH_VULKAN=ON, but Vulkan's headers or volk were not found: "
            "run scripts/setup.sh vulkan, or install libvulkan-dev and libvulkan-volk-dev.")
    endif()
    message(STATUS "No Vulkan: its headers or volk were not found (libvulkan-dev, libvulkan-volk-dev).")
    return()
endif()

set(BRAID_HAS_VULKAN ON)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/device/vulkan/*.cpp)
braid_add_library_beside(vulkan ${sources})
target_include_directories(braid_vulkan SYSTEM PRIVATE ${BRAID_VULKAN_INCLUDE} ${BRAID_VOLK_INCLUDE})
target_link_libraries(braid_vulkan PRIVATE ${CMAKE_DL_LIBS})
# Others may name both in any order, although it calls what no program calls. Tests link the archive.
target_link_libraries(braid_vulkan INTERFACE $<INSTALL_INTERFACE:braid::braid>)
if(NOT PROJECT_IS_TOP_LEVEL)
    target_link_libraries(braid_vulkan INTERFACE $<BUILD_INTERFACE:braid>)
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/device/vulkan/volk.cpp PROPERTIES COMPILE_OPTIONS -w)
install(TARGETS braid_vulkan EXPORT braidTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/braid_vulkan_functions.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/braid)

include(braid_vulkan_functions)
