# Toolchain of the `windows` preset: Debian's MinGW-w64; CTest runs what it made under Wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
# The one whose threads are those of winpthreads: std::mutex and std::thread are there.
find_program(braid_cross_c NAMES x86_64-w64-mingw32-gcc-posix REQUIRED)
find_program(braid_cross_cxx NAMES x86_64-w64-mingw32-g++-posix REQUIRED)
find_program(braid_cross_rc NAMES x86_64-w64-mingw32-windres REQUIRED)
find_program(braid_emulator NAMES wine64 wine64-stable PATHS /usr/lib/wine REQUIRED)
set(CMAKE_C_COMPILER ${braid_cross_c})  # GoogleTest's build asks for one
set(CMAKE_CXX_COMPILER ${braid_cross_cxx})
set(CMAKE_RC_COMPILER ${braid_cross_rc})

# What is installed for the machine that builds would be found, and not link.
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR ${braid_emulator})

# Windows 10, whose WaitOnAddress() and thread descriptions are used. Programs carry the compiler's
# libraries, so that they run where they are copied to.
add_compile_definitions(_WIN32_WINNT=0x0A00)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")

# Unit tests that it leaves out, with reasons.
set(BRAID_LEFT_OUT ${CMAKE_CURRENT_LIST_DIR}/../tests/left_out/windows.txt)
