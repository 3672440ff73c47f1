# The library, compiled once and linked twice:
#   braid           what users link, shared or static (alias braid::braid);
#   braid_internal  the same objects as an archive, for tests that reach into src/.
set(braid_sources)
foreach(module IN LISTS braid_modules)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${module}/*.cpp)
    list(APPEND braid_sources ${found})
endforeach()
# What reads captures is for programs beside the one that was recorded: tools/braid has it. Live views
# and Tracy are libraries of their own.
list(FILTER braid_sources EXCLUDE REGEX "/src/profile/(analysis|export|perfetto|chrome|stream|tracy)/")
list(FILTER braid_sources EXCLUDE REGEX "/src/device/vulkan/")
braid_leave_policies_out(braid_sources)
# Code for another operating system stays out of the build.
if(WIN32)
    list(FILTER braid_sources EXCLUDE REGEX "/platform/linux/")
else()
    list(FILTER braid_sources EXCLUDE REGEX "/platform/windows/")
endif()

# What every target made of these sources needs, and what reaches its users.
function(braid_configure target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target}
        PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
        PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${target} PUBLIC $<$<BOOL:${BRAID_CHECKED}>:BRAID_CHECKED=1>)
    target_link_libraries(${target} PUBLIC Threads::Threads)
    if(WIN32)
        target_link_libraries(${target} PUBLIC synchronization ws2_32)  # WaitOnAddress(), sockets
    endif()
    if(BRAID_HAS_HWLOC)
        target_link_libraries(${target} PRIVATE Hwloc::Hwloc)
    endif()
    if(BRAID_HAS_URING)
        target_link_libraries(${target} PRIVATE Uring::Uring)
    endif()
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
endfunction()

if(NOT braid_sources)
    set(placeholder ${CMAKE_CURRENT_BINARY_DIR}/placeholder.cpp)
    file(CONFIGURE OUTPUT ${placeholder} CONTENT "")
    set(braid_sources ${placeholder})
endif()

add_library(braid_objects OBJECT ${braid_sources})
braid_configure(braid_objects)
target_link_libraries(braid_objects PRIVATE $<BUILD_INTERFACE:braid_warnings>)
target_compile_definitions(braid_objects PRIVATE
    BRAID_BUILDING
    ${braid_policy_definitions}
    $<$<BOOL:${BRAID_HAS_HWLOC}>:BRAID_HAS_HWLOC=1>
    $<$<BOOL:${BRAID_HAS_URING}>:BRAID_HAS_URING=1>)
target_compile_options(braid_objects PRIVATE
    $<$<BOOL:${BRAID_NO_EXCEPTIONS}>:-fno-exceptions>
    $<$<BOOL:${BRAID_NO_RTTI}>:-fno-rtti>
    # Otherwise dlclose() never unloads the library.
    $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
if(BRAID_BUILD_TESTS AND NOT MSVC)
    # What scripts/gdb reads, so that its test runs in every preset. Changes no code.
    target_compile_options(braid_objects PRIVATE -g)
endif()
set_target_properties(braid_objects PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
if(NOT BUILD_SHARED_LIBS)
    target_compile_definitions(braid_objects PUBLIC BRAID_STATIC)
endif()

add_library(braid $<TARGET_OBJECTS:braid_objects>)
add_library(braid::braid ALIAS braid)
braid_configure(braid)
set_target_properties(braid PROPERTIES
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
if(NOT BUILD_SHARED_LIBS)
    target_compile_definitions(braid PUBLIC BRAID_STATIC)
endif()

add_library(braid_internal STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:braid_objects>)
braid_configure(braid_internal)
set_target_properties(braid_internal PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(braid_internal INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(braid_internal INTERFACE BRAID_STATIC ${braid_policy_definitions})

# A library beside braid for programs that want more: braid_NAME, alias braid::NAME. Who links it gets
# braid, too, in the order that archives need; but not where there are tests, which link it with an
# archive of their own.
function(braid_add_library_beside name)
    add_library(braid_${name} STATIC ${ARGN})
    add_library(braid::${name} ALIAS braid_${name})
    target_compile_features(braid_${name} PUBLIC cxx_std_20)
    target_include_directories(braid_${name}
        PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
        PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(braid_${name}
        PUBLIC Threads::Threads PRIVATE $<BUILD_INTERFACE:braid_warnings>
        INTERFACE $<INSTALL_INTERFACE:braid::braid>)
    if(NOT BRAID_BUILD_TESTS)
        target_link_libraries(braid_${name} INTERFACE $<BUILD_INTERFACE:braid::braid>)
    endif()
    set_target_properties(braid_${name} PROPERTIES
        EXPORT_NAME ${name} CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
endfunction()
