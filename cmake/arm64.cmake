# Toolchain of the `arm64` preset: Debian's cross compiler; CTest runs what it made under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
find_program(braid_cross_c NAMES aarch64-linux-gnu-gcc REQUIRED)
find_program(braid_cross_cxx NAMES aarch64-linux-gnu-g++ REQUIRED)
find_program(braid_emulator NAMES qemu-aarch64 REQUIRED)
set(CMAKE_C_COMPILER ${braid_cross_c})  # GoogleTest's build asks for one
set(CMAKE_CXX_COMPILER ${braid_cross_cxx})

# Where that compiler's own libraries lie. What is installed for the machine that builds would be
# found, and not link.
set(braid_cross_root /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${braid_cross_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR ${braid_emulator} -L ${braid_cross_root})

# Unit tests that it leaves out, with reasons.
set(BRAID_LEFT_OUT ${CMAKE_CURRENT_LIST_DIR}/../tests/left_out/arm64.txt)
