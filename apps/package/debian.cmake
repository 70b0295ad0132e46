# What the Debian package has elsewhere than `cmake --install`: Debian's zsh looks for what packages bring in
# a folder of its own, and /usr has no folder tools. CPack runs this over the files before it packs them.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
file(RENAME ${usr}/tools ${usr}/lib/msprof/tools)
file(REMOVE ${usr}/bin/msprof)
file(CREATE_LINK ../lib/msprof/tools/profiler/bin/msprof ${usr}/bin/msprof SYMBOLIC)
