# Rejects a prefix in which frameworks would not find CANN's tools: torch_npu and MindSpore cut the
# real path of msprof at its first "tools". Runs before anything is installed.
get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" REALPATH)
# CPack's staging folder is not the install location.
if(prefix MATCHES "tools" AND NOT prefix MATCHES "/_CPack_Packages/")
  message(FATAL_ERROR "The prefix ${prefix} contains \"tools\": torch_npu and MindSpore cut the path of msprof at the first "
                      "\"tools\" and would not find msprof.py. Choose another prefix.")
endif()
