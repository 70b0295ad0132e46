# What the Debian package has elsewhere than `cmake --install`: Debian's zsh looks for what packages bring in
# a folder of its own. CPack runs this over the files before it packs them.
set(zsh ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/zsh)
file(RENAME ${zsh}/site-functions ${zsh}/vendor-completions)
