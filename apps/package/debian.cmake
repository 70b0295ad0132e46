# Moves files that the Debian package keeps elsewhere than `cmake --install`: Debian's zsh reads
# package completions from vendor-completions, and /usr must not contain a folder tools. CPack runs
# this before packing.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
file(RENAME ${usr}/tools ${usr}/lib/msprof/tools)
file(REMOVE ${usr}/bin/msprof)
file(CREATE_LINK ../lib/msprof/tools/profiler/bin/msprof ${usr}/bin/msprof SYMBOLIC)
