// Converts an executed task to a subscriber's record.
#pragma once

#include "runtime/acl/prof/recorder.hpp"
#include "runtime/prof/op_record.hpp"

namespace msprof::acl {

using runtime::OpNameIds;
using runtime::OpRecord;

// `op` is the operator's number in OpNameIds.
OpRecord make_op_record(const RanTask& task, std::uint64_t op);

}  // namespace msprof::acl
