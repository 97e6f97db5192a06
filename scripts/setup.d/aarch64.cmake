# For CMAKE_TOOLCHAIN_FILE: builds programs for ARM on another machine, with Debian's cross compiler and the libraries that
# scripts/setup.d/aarch64 unpacks. The build runs them, for the completions, with qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(libraries ${CMAKE_CURRENT_LIST_DIR}/../../build/tools/aarch64)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${libraries})
set(CMAKE_FIND_ROOT_PATH ${libraries})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CXX_FLAGS_INIT "-isystem ${libraries}/usr/include/aarch64-linux-gnu")
