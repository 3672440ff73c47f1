# Helpers for tests/CMakeLists.txt.

# braid_add_unit_tests(folder LABELS ...): every tests/<folder>/*_test.cpp goes into one executable
# <folder>_tests. Each test is found when CTest runs, so that building needs no running program.
function(braid_add_unit_tests folder)
    cmake_parse_arguments(arg "" "" "LABELS" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cpp)
    if(NOT sources)
        return()
    endif()
    add_executable(${folder}_tests ${sources})
    target_link_libraries(${folder}_tests PRIVATE
        braid_internal braid_warnings GTest::gtest GTest::gtest_main)
    target_include_directories(${folder}_tests PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
    # Stress tests take as long as they are told to; the limit comes from the preset or ctest.
    set(limit TIMEOUT 120)
    if(folder STREQUAL "stress")
        set(limit)
    endif()
    gtest_discover_tests(${folder}_tests
        DISCOVERY_MODE PRE_TEST
        DISCOVERY_TIMEOUT 60
        # Each test starts threads of its own, so it counts for two processors.
        PROPERTIES ${limit} PROCESSORS 2 LABELS "${arg_LABELS}")
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
        string(REGEX REPLACE "_model$" "" short ${name})
        add_test(NAME model.${short} COMMAND ${name})
        set_tests_properties(model.${short} PROPERTIES LABELS model)
    endforeach()
endfunction()
