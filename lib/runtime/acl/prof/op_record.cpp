#include "runtime/acl/prof/op_record.hpp"

#include "runtime/acl/include/acl/acl_prof.h"

namespace msprof::acl {

static_assert(ACL_SUBSCRIBE_OP == 0, "the flag of every record");

OpRecord make_op_record(const RanTask& task, std::uint64_t op) {
  return runtime::make_record(task.model, task.ids.device, op, task.begin_ns, task.end_ns,
                              task.op == nullptr ? nullptr : &task.op->work, task.images);
}

}  // namespace msprof::acl
