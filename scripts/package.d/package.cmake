# CPack makes a .tar.gz and, on systems with Debian's tools, a .deb from all files that `cmake --install` installs.
set(CPACK_GENERATOR TGZ)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_FILE_NAME ${PROJECT_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_CONTACT "gpuaes-stream maintainers <maintainers@users.noreply.a-seed-8e2454c5.example>")
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/finish.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # finds no CUDA driver, because the CUDA runtime loads it with dlopen()
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"gpuaes-stream encrypts and decrypts files and pipes. It reads and writes
age files and a format of its own, on all cores or on NVIDIA GPUs; it also
works without a GPU. Decryption outputs only authentic data and detects any
modification or truncation.
.
gpuaes-keygen makes keys, and gpuaes-parts divides a file among several
processes or hosts. gpuage and gpuage-keygen have the command lines of age
and age-keygen, for programs that call those.")

include(CPack)
