# Toolchain: builds for 64-bit ARM on another machine and runs what it built under qemu.
#   EUREKA_SYSROOT   the libraries for that processor, fetched by scripts/aarch64-sysroot
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(CMAKE_SYSROOT ${EUREKA_SYSROOT})
# CMake reads this file again for each of its compiler checks.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EUREKA_SYSROOT)
# Programs are run here; everything else belongs to the other processor.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${CMAKE_SYSROOT})
