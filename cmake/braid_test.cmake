# Helpers for tests/CMakeLists.txt.

# GoogleTest for a processor for which Debian has no compiled one: from the sources of its package.
macro(braid_build_googletest)
    set(braid_googletest /usr/src/googletest)
    if(NOT EXISTS ${braid_googletest}/CMakeLists.txt)
        message(FATAL_ERROR "GoogleTest's sources are not in ${braid_googletest}: run scripts/setup.sh arm64.")
    endif()
    set(BUILD_GMOCK OFF)
    set(INSTALL_GTEST OFF)
    add_subdirectory(${braid_googletest} googletest EXCLUDE_FROM_ALL)
endmacro()

# What nearly every test includes, compiled once for all programs of tests whose flags agree.
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows which test forgets an include; scripts/nightly.sh --part release does.
macro(braid_precompile_test_headers)
    set(empty ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    add_library(test_headers OBJECT ${empty})
    braid_compile_as_test(test_headers)
    target_precompile_headers(test_headers PRIVATE
        <gtest/gtest.h> ${PROJECT_SOURCE_DIR}/tests/support/scheduler_test.hpp)
    # Otherwise the header has another content, for ccache, each time it is made.
    target_compile_options(test_headers PRIVATE
        "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endmacro()

# Flags of tests. The library is optimized as always; for tests that would take twice as long.
function(braid_compile_as_test target)
    target_link_libraries(${target} PRIVATE braid_internal braid_warnings GTest::gtest)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# What is left to a part of scripts/nightly.sh under a sanitizer, because landing takes too long with it.
set(braid_left_to_asan fork_join graph job_list)
set(braid_left_to_tsan graph job_list reload)

# braid_unit_label(OUT MODULE): the label of its unit tests; the target <label>_tests builds them.
function(braid_unit_label out module)
    set(label unit)
    if(BRAID_SANITIZE MATCHES address AND module IN_LIST braid_left_to_asan)
        set(label asan)
    elseif(BRAID_SANITIZE MATCHES thread AND module IN_LIST braid_left_to_tsan)
        set(label tsan)
    endif()
    set(${out} ${label} PARENT_SCOPE)
endfunction()

# braid_add_unit_tests(folder LABELS ...): every tests/<folder>/*_test.cpp goes into one executable
# <folder>_tests, except those below a CMakeLists.txt of their own.
function(braid_add_unit_tests folder)
    cmake_parse_arguments(arg "" "" "LABELS" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cpp)
    file(GLOB others CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*/CMakeLists.txt)
    foreach(other IN LISTS others)
        cmake_path(GET other PARENT_PATH other)
        list(FILTER sources EXCLUDE REGEX "^${other}/")
    endforeach()
    braid_leave_policies_out(sources)
    braid_left_out_rows(not_compiled "source")
    foreach(source IN LISTS not_compiled)
        if(NOT EXISTS ${PROJECT_SOURCE_DIR}/tests/${source})
            message(FATAL_ERROR "${BRAID_LEFT_OUT} names ${source}, which is not below tests.")
        endif()
        list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/tests/${source})
    endforeach()
    if(NOT sources)
        return()
    endif()
    add_executable(${folder}_tests ${sources})
    braid_compile_as_test(${folder}_tests)
    target_link_libraries(${folder}_tests PRIVATE GTest::gtest_main)
    if(TARGET test_headers)
        target_precompile_headers(${folder}_tests REUSE_FROM test_headers)
    endif()
    if(CMAKE_CROSSCOMPILING_EMULATOR)
        braid_run_emulated(${folder} "${arg_LABELS}")
        return()
    endif()
    braid_add_suites(${folder}_tests LABELS ${arg_LABELS})
endfunction()

# braid_left_out_rows(OUT KIND): what the rows of that kind name in the file of a cross-compiling preset
# that says which tests it leaves out, and why: kind, what, reason.
function(braid_left_out_rows out kind)
    set(found)
    if(BRAID_LEFT_OUT)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${BRAID_LEFT_OUT})
        file(STRINGS ${BRAID_LEFT_OUT} rows REGEX "^${kind} ")
        foreach(row IN LISTS rows)
            string(REGEX MATCH "^${kind} +([^ ]+)" whole "${row}")
            list(APPEND found ${CMAKE_MATCH_1})
        endforeach()
    endif()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# One CTest test for a whole program, because the emulator takes a while before main. What that leaves
# out is listed by CTest as disabled.
function(braid_run_emulated folder labels)
    target_compile_definitions(${folder}_tests PRIVATE BRAID_TEST_EMULATED=1)
    braid_left_out_rows(left_out ${folder}_tests)
    list(JOIN left_out : left_out)
    add_test(NAME ${folder}_tests COMMAND ${folder}_tests --gtest_filter=-${left_out})
    set_tests_properties(${folder}_tests PROPERTIES LABELS "${labels}")
    if(left_out)
        add_test(NAME ${folder}_tests.left_out COMMAND ${folder}_tests --gtest_filter=${left_out})
        set_tests_properties(${folder}_tests.left_out PROPERTIES DISABLED TRUE LABELS "${labels}")
    endif()
endfunction()

# Every tests/model/<name>_model.cpp is a program that explores production headers under Relacy. It
# links nothing: the model checker replaces threads and atomics.
function(braid_add_models)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/model/*_model.cpp)
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME_WE)
        add_executable(${name} ${source})
        target_compile_features(${name} PRIVATE cxx_std_20)
        target_include_directories(${name} PRIVATE
            ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
            ${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_SOURCE_DIR}/tests/model)
        target_link_libraries(${name} PRIVATE braid_warnings)
        target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
        string(REGEX REPLACE "_model$" "" short ${name})
        add_test(NAME model.${short} COMMAND ${name})
        set_tests_properties(model.${short} PROPERTIES LABELS model)
    endforeach()
endfunction()
