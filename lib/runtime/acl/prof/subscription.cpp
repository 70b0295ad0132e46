#include "runtime/acl/prof/subscription.hpp"

#include "runtime/acl/prof/op_record.hpp"

namespace msprof::acl {
namespace {

// Name and type in the record of a model execution. CANN writes such a record for the time between
// two key points.
constexpr const char* kKeyPoints = "keypoint_op";
constexpr const char* kKeyPointsType = "na";

void observe_while_subscribed(bool any) {
  observe_tasks(any ? &send_to_subscriber : nullptr);
}

}  // namespace

void send_to_subscriber(const RanTask& task) {
  const bool is_op = task.kind == TaskKind::op && task.op != nullptr;
  if ((!is_op && task.kind != TaskKind::step) || !is_subscribed(task.model)) return;
  OpNameIds& names = OpNameIds::instance();
  const std::uint64_t op = is_op ? names.find_or_add(task.op->name, task.op->type)
                                 : names.find_or_add(kKeyPoints, kKeyPointsType);
  runtime::send_record(make_op_record(task, op));
}

int subscribe(std::uint32_t model, std::uint16_t device, const SubscribeOrder& order) {
  runtime::watch_subscriptions(&observe_while_subscribed);
  return runtime::add_subscription(model, device, order);
}

int unsubscribe(std::uint32_t model) {
  return runtime::end_subscription(model);
}

}  // namespace msprof::acl
