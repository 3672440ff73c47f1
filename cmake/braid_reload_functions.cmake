# What programs that reload parts of themselves call:
#   braid_reloadable_module(TARGET SOURCE... [LIVE FOLDER])   a module, published when it is built
#   braid_reload_host(TARGET)                                 the program that loads modules
#   braid_reload_flags(TARGET)                                only the flags of a module
#
# A module is linked to a staging folder, checked, and put in place as FOLDER/lib<TARGET>.so in one
# step; FOLDER is `live` below the current binary folder when none is named. The target property
# BRAID_RELOAD_LIVE is the path of that file.

# Debug information about each class that is used, not only about those whose first virtual function
# is defined in this file.
function(braid_reload_host target)
    target_compile_options(${target} PRIVATE
        -g
        $<$<CXX_COMPILER_ID:GNU>:-femit-class-debug-always>
        $<$<CXX_COMPILER_ID:Clang>:-fstandalone-debug>)
endfunction()

function(braid_reload_flags target)
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_include_directories(${target} PRIVATE
        $<TARGET_PROPERTY:braid::reload,INTERFACE_INCLUDE_DIRECTORIES>)
    braid_reload_host(${target})
    # A unique symbol is bound to the first library that has it: statics of inline functions and
    # templates would be those of the old code for ever.
    # Of functions with the same code g++ keeps one, so that an empty export lies where another
    # function is described.
    target_compile_options(${target} PRIVATE
        $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique> $<$<CXX_COMPILER_ID:GNU>:-fno-ipa-icf>)
    target_link_options(${target} PRIVATE -Wl,--build-id=sha1 -Wl,-Bsymbolic)
    set_target_properties(${target} PROPERTIES
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON)
endfunction()

function(braid_reloadable_module target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIVE" "")
    if(NOT arg_LIVE)
        set(arg_LIVE ${CMAKE_CURRENT_BINARY_DIR}/live)
    endif()
    add_library(${target} MODULE ${arg_UNPARSED_ARGUMENTS})
    braid_reload_flags(${target})
    set(live ${arg_LIVE}/lib${target}.so)
    set_target_properties(${target} PROPERTIES
        PREFIX lib
        SUFFIX .so
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/reload_staging
        BRAID_RELOAD_LIVE ${live})
    if(TARGET braid_tool)
        set(publish $<TARGET_FILE:braid_tool> reload publish)
        add_dependencies(${target} braid_tool)
    else()
        find_program(BRAID_TOOL braid HINTS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin)
        mark_as_advanced(BRAID_TOOL)
        set(publish ${BRAID_TOOL} reload publish)
    endif()
    if(TARGET braid_tool OR BRAID_TOOL)
        add_custom_command(TARGET ${target} POST_BUILD
            COMMAND ${CMAKE_COMMAND} -E make_directory ${arg_LIVE}
            COMMAND ${publish} $<TARGET_FILE:${target}> ${live}
            VERBATIM)
    else()
        # Without the tool nothing is checked before, and there is no stamp; still one step.
        add_custom_command(TARGET ${target} POST_BUILD
            COMMAND ${CMAKE_COMMAND} -E make_directory ${arg_LIVE}
            COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:${target}> ${live}.new
            COMMAND ${CMAKE_COMMAND} -E rename ${live}.new ${live}
            VERBATIM)
    endif()
endfunction()
