# braid_add_suites(TARGET properties...): each suite of a GoogleTest program is one CTest test, named as
# the filter that selects it ("Workers/Scope.*"). Thousands of processes of 20 ms each take CTest ten
# times as long as their tests take. Suites are found when CTest runs, so that building needs no running
# program.
function(braid_add_suites target)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
    file(GENERATE OUTPUT ${file} CONTENT
"set(program [==[$<TARGET_FILE:${target}>]==])
set(list [==[${CMAKE_CURRENT_BINARY_DIR}/${target}_suites_found.cmake]==])
set(properties [==[${ARGN}]==])
include([==[${PROJECT_SOURCE_DIR}/cmake/braid_list_suites.cmake]==])
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()
