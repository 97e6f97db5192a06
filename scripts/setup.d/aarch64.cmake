# For CMAKE_TOOLCHAIN_FILE: builds programs for ARM on another machine, with Debian's cross compiler and the libraries that
# scripts/setup.d/aarch64 unpacks. The build runs them, for the completions, with qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

file(REAL_PATH ../../build/tools/aarch64 libraries BASE_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${libraries})
set(CMAKE_FIND_ROOT_PATH ${OPENSSL_ROOT_DIR} ${libraries})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# After all others, so that the headers of OPENSSL_ROOT_DIR are found first.
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${libraries}/usr/include ${libraries}/usr/include/aarch64-linux-gnu)
set(CMAKE_SKIP_RPATH ON) # the path of this folder would be in the programs
