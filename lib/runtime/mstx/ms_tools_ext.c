/* libms_tools_ext.so: the mstx client as a library, for programs that link or load it. */
#define MSTX_DECLSPEC __attribute__((visibility("default")))
#include <mstx/ms_tools_ext.h>
