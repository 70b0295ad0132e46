# Refuses a prefix in which frameworks would not find CANN's tools: torch_npu and MindSpore cut the real path of msprof at
# its first "tools". Runs before anything is installed.
get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" REALPATH)
# Where CPack puts a package together is not where it is installed.
if(prefix MATCHES "tools" AND NOT prefix MATCHES "/_CPack_Packages/")
  message(FATAL_ERROR "The prefix ${prefix} contains \"tools\": torch_npu and MindSpore cut the path of msprof at the first "
                      "\"tools\" and would not find msprof.py. Choose another prefix.")
endif()
