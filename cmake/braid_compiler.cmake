# The oldest compilers that Braid is known to compile with: library and samples were tried with
# these. Older ones lack <source_location> (g++) or aggregates made by parentheses (clang), which
# shows in a hundred errors far from the cause. Also a script:
#   cmake -DCMAKE_CXX_COMPILER_ID=Clang -DCMAKE_CXX_COMPILER_VERSION=15.0.6 -P braid_compiler.cmake
set(least_Clang 16)
set(least_GNU 11)
set(name_Clang clang++)
set(name_GNU g++)
set(id ${CMAKE_CXX_COMPILER_ID})
set(least ${least_${id}})  # empty: a compiler that nobody has tried
if(least AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS "${least}")
    message(FATAL_ERROR "Braid needs ${name_${id}} ${least} or newer, and this is "
        "${CMAKE_CXX_COMPILER_VERSION}: choose another with -DCMAKE_CXX_COMPILER=.")
endif()
