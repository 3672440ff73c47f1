# Toolchain of the `clang` preset: the newest clang++ that Debian may have installed. Whether that is
# new enough, braid_compiler.cmake says.
find_program(braid_clang NAMES clang++-19 clang++-18 clang++-17 clang++-16 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER ${braid_clang})
