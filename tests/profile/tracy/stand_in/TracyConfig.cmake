# A stand-in for Tracy's package: it has the target and the functions that braid_tracy uses, and does
# nothing but write down who called them. It is no part of Tracy.
if(NOT TARGET tracy_stand_in)
    add_library(tracy_stand_in STATIC ${CMAKE_CURRENT_LIST_DIR}/calls.cpp)
    target_compile_features(tracy_stand_in PUBLIC cxx_std_20)
    target_include_directories(tracy_stand_in SYSTEM PUBLIC ${CMAKE_CURRENT_LIST_DIR}/include)
    target_compile_definitions(tracy_stand_in PUBLIC TRACY_ENABLE)
    set_target_properties(tracy_stand_in PROPERTIES POSITION_INDEPENDENT_CODE ON)
endif()
if(NOT TARGET Tracy::TracyClient)
    add_library(Tracy::TracyClient INTERFACE IMPORTED)
    target_link_libraries(Tracy::TracyClient INTERFACE tracy_stand_in)
endif()
