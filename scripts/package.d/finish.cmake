# CPack runs this script on the files to pack. It puts the documents and completions of a .deb where Debian requires them,
# compresses the manual pages, and sets access and times that do not depend on who built the package, and when.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})

if(CPACK_GENERATOR STREQUAL DEB)
  set(documents ${root}/usr/share/doc/${CPACK_PACKAGE_NAME})
  file(REMOVE ${documents}/LICENSE) # the file copyright refers to the copy in Debian
  file(RENAME ${documents}/CHANGELOG.md ${documents}/changelog)
  file(RENAME ${root}/usr/share/zsh/site-functions ${root}/usr/share/zsh/vendor-completions) # where Debian's zsh looks
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${documents}/changelog.Debian
"${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Package version ${CPACK_PACKAGE_VERSION}. changelog.gz lists its changes.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
endif()

file(GLOB to_compress ${root}/usr/share/man/man*/* ${root}/share/man/man*/* ${root}/usr/share/doc/*/changelog*)
execute_process(COMMAND gzip -9n ${to_compress} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND chmod -R u=rwX,go=rX ${root} COMMAND_ERROR_IS_FATAL ANY)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${root} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} + COMMAND_ERROR_IS_FATAL ANY)
endif()
