// The recorder's side of the contract between a client of mstx and who records it.
#pragma once

#define MSTX_NO_IMPL
#include "runtime/mstx/include/mstx/ms_tools_ext.h"
#include "runtime/mstx/tx_recorder.hpp"

namespace msprof::mstx {

// Stores functions in the tables of a client; their calls go to `recorder`, which must never be
// destroyed. Any number of clients of a process may come, all with one recorder. MSTX_FAIL for a
// client without the first module.
int fill_tables(mstxGetModuleFuncTableFunc get_table, TxRecorder& recorder);

}  // namespace msprof::mstx
