/* libms_tools_ext.so: the client of mstx as a library, for programs that link or open it. */
#define MSTX_DECLSPEC __attribute__((visibility("default")))
#include <mstx/ms_tools_ext.h>
