# Toolchain of the `clang` preset: the newest clang++ that Debian may have installed.
find_program(braid_clang NAMES clang++-19 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER ${braid_clang})
