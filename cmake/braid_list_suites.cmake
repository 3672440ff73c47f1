# What braid_add_suites() has CTest read: adds a test for each suite of `program`, with `properties`.
# `list` keeps them until the program or the properties are newer.
if(NOT EXISTS ${program})
    cmake_path(GET program FILENAME name)
    add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)
    return()
endif()
if(NOT EXISTS ${list} OR ${program} IS_NEWER_THAN ${list}
        OR ${CMAKE_PARENT_LIST_FILE} IS_NEWER_THAN ${list}
        OR ${CMAKE_CURRENT_LIST_FILE} IS_NEWER_THAN ${list})
    execute_process(COMMAND ${program} --gtest_list_tests
        OUTPUT_VARIABLE said ERROR_VARIABLE said_wrong RESULT_VARIABLE code TIMEOUT 60)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "${program} does not list its tests (${code}):\n${said}${said_wrong}")
    endif()
    string(REGEX MATCHALL "\n[^ \n][^ \n]*\\.(  #[^\n]*)?\n" suites "\n${said}")
    set(text)
    foreach(suite IN LISTS suites)
        string(REGEX REPLACE "^\n([^ \n]*\\.).*" "\\1*" name "${suite}")
        string(APPEND text "add_test([==[${name}]==] [==[${program}]==] [==[--gtest_filter=${name}]==])\n")
        string(APPEND text "set_tests_properties([==[${name}]==] PROPERTIES ${properties})\n")
    endforeach()
    if(NOT text)
        message(FATAL_ERROR "${program} has no tests.")
    endif()
    file(WRITE ${list} "${text}")
endif()
include(${list})
