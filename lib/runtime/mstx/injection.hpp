// The recorder's part of the contract between an mstx client and its recorder.
#pragma once

#define MSTX_NO_IMPL
#include "runtime/mstx/include/mstx/ms_tools_ext.h"
#include "runtime/mstx/tx_recorder.hpp"

namespace msprof::mstx {

// Stores functions in a client's tables. They call `recorder`, which must never be destroyed. May
// be called for any number of clients in a process, always with the same recorder. MSTX_FAIL if the
// client does not have the core module.
int fill_tables(mstxGetModuleFuncTableFunc get_table, TxRecorder& recorder);

}  // namespace msprof::mstx
