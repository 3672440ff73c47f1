# braid_add_suites(TARGET properties...): each suite of a GoogleTest program is one CTest test, named as
# the filter that selects it ("Workers/Scope.*"). Thousands of processes of 20 ms each take CTest ten
# times as long as their tests take. Suites are found when CTest runs, so that building needs no running
# program. The cases that tests/labels.txt names are tests of their own, with the label that stands there.
function(braid_add_suites target)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
    file(GENERATE OUTPUT ${file} CONTENT
"set(program [==[$<TARGET_FILE:${target}>]==])
set(list [==[${CMAKE_CURRENT_BINARY_DIR}/${target}_suites_found.cmake]==])
set(properties [==[${ARGN}]==])
set(labels [==[${PROJECT_SOURCE_DIR}/tests/labels.txt]==])
include([==[${PROJECT_SOURCE_DIR}/cmake/braid_list_suites.cmake]==])
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

# braid_label_test(NAME): what tests/labels.txt says of a test that is no GoogleTest program.
function(braid_label_test name)
    set(labels ${PROJECT_SOURCE_DIR}/tests/labels.txt)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${labels})
    file(STRINGS ${labels} rows REGEX "^[a-z]+ +- +${name} ")
    if(rows)
        string(REGEX MATCH "^[a-z]+" label "${rows}")
        set_tests_properties(${name} PROPERTIES LABELS ${label})
    endif()
endfunction()
