# braid_spirv(TARGET FILE.comp ...): compiles compute shaders for braid::device::kernel. For each the
# target gets a header <FILE_spirv.hpp>, with `inline constexpr std::uint32_t FILE_spirv[]`. Needs glslc.
function(braid_spirv target)
    find_program(BRAID_GLSLC glslc)
    mark_as_advanced(BRAID_GLSLC)
    if(NOT BRAID_GLSLC)
        message(FATAL_ERROR "braid_spirv(${target}): glslc was not found; install glslc.")
    endif()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_spirv)
    foreach(source IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        cmake_path(GET source STEM name)
        set(words ${folder}/${name}.inc)
        file(CONFIGURE OUTPUT ${folder}/${name}_spirv.hpp CONTENT "#pragma once
#include <cstdint>

inline constexpr std::uint32_t @name@_spirv[] =
#include \"@name@.inc\"
    ;
" @ONLY)
        add_custom_command(OUTPUT ${words}
            COMMAND ${BRAID_GLSLC} --target-env=vulkan1.2 -O -mfmt=c -MD -MF ${words}.d
                -o ${words} ${source}
            DEPENDS ${source}
            DEPFILE ${words}.d
            VERBATIM)
        target_sources(${target} PRIVATE ${words} ${folder}/${name}_spirv.hpp)
        set_source_files_properties(${words} PROPERTIES HEADER_FILE_ONLY ON)
    endforeach()
    target_include_directories(${target} PRIVATE ${folder})
endfunction()
