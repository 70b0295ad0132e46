#include "acl/recording_scene.hpp"

#include <algorithm>
#include <stdexcept>

#include "session/cann_session.hpp"
#include "support/files.hpp"

namespace msprof::test {

acl::OpInfo make_op(const std::string& name, const std::string& type, std::uint32_t task_type) {
  acl::OpInfo op;
  op.name = name;
  op.type = type;
  op.task_type = task_type;
  op.attributes = "{\"groups\":1}";
  op.tensors = {{0, 0, 0, {1, 3, 8, 8}}, {1, 0, 0, {1, 16, 8, 8}}};
  op.work.macs = op.work.padded_macs = 240;
  op.work.vector_ops = op.work.padded_vector_ops = 320;
  op.work.input_bytes = op.work.output_bytes = op.work.weight_bytes = 640;
  acl::describe(op);
  return op;
}

RunningRecording::RunningRecording(const acl::RecordingOptions& options) {
  std::string why;
  recording_ = acl::Recording::start(options, why);
  if (recording_ == nullptr) throw std::runtime_error(why);
  acl::ActiveRecordings::instance().add(recording_);
}

RunningRecording::~RunningRecording() {
  finish();
}

void RunningRecording::finish() {
  if (std::exchange(is_finished_, true)) return;
  acl::ActiveRecordings::instance().remove(recording_);
  recording_->finish();
}

void run_op(const acl::OpInfo& op, const acl::TaskIds& ids, std::uint64_t at_ns) {
  acl::Launch launch;
  launch.ids = ids;
  launch.begin_ns = at_ns;
  launch.end_ns = at_ns + kLaunchNs;
  acl::record_op_launch(launch, op, 1);
  acl::RanTask task;
  task.ids = ids;
  task.op = &op;
  task.begin_ns = at_ns + kDelayNs;
  task.end_ns = task.begin_ns + kTaskNs;
  acl::record_task(task);
}

Imported::Imported(const std::filesystem::path& folder) {
  const CannSession session(folder);
  report_ = import_session(session, store(), {});
}

std::vector<std::string> Imported::rows(const std::string& columns, const std::string& rest) const {
  return query(store(), "SELECT " + columns + " FROM " + rest);
}

std::string Imported::value(const std::string& columns, const std::string& rest) const {
  const auto all = rows(columns, rest);
  return all.empty() ? "" : all.front();
}

bool Imported::found(FindingId id) const {
  return std::any_of(report_.findings().begin(), report_.findings().end(),
                     [&](const Finding& finding) { return finding.id == id; });
}

}  // namespace msprof::test
