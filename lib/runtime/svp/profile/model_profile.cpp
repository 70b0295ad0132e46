#include "runtime/svp/profile/model_profile.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include "runtime/engine/files.hpp"
#include "runtime/svp/profile/machine_model.hpp"

namespace msprof::runtime {
namespace {

// A host has one device, and its models have one net.
constexpr const char* kDevice = "0";
constexpr const char* kNet = "0";
// File names have at most 255 bytes. The longest is that of a temporary `.done` file; this limit
// leaves room for its other parts.
constexpr std::size_t kMaxNameBytes = 128;

// Cached, because the system call costs more than the rest of a record.
thread_local long cached_thread_number = 0;

bool control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Makes `text` safe as one field of a line: replaces tabs, line ends and other control characters.
std::string field(std::string text) {
  std::replace_if(text.begin(), text.end(), control, '_');
  return text;
}

std::string net_info(const Model& model, uint32_t model_id) {
  return "#msprof-net 1\nmodel_name:" + field(model.name()) +
         "\nmodel_id:" + std::to_string(model_id) + "\nnet_id:" + kNet +
         "\nnet_type:CNN\nbatch_num:" + std::to_string(model.batch()) +
         "\nlayer_num:" + std::to_string(model.layers().size()) + "\n";
}

std::string layer_info(const Model& model) {
  std::string text = "#msprof-layers 1\n";
  for (std::size_t i = 0; i < model.layers().size(); ++i) {
    const Layer& layer = model.layers()[i];
    text += std::to_string(i) + "\t" + kNet + "\t" + field(layer.type) + "\t" +
            (layer.is_on_cpu ? "AA_CPU" : "AA_CORE") + "\t" + field(layer.name) + "\t";
    for (std::size_t name = 0; name < layer.original.size(); ++name) {
      text += (name == 0 ? "" : "+") + field(layer.original[name]);
    }
    text += "\n";
  }
  return text;
}

bool has_any_layer(const Model& model, bool on_cpu) {
  return std::any_of(model.layers().begin(), model.layers().end(),
                     [on_cpu](const Layer& layer) { return layer.is_on_cpu == on_cpu; });
}

}  // namespace

long thread_number() {
  if (cached_thread_number == 0) cached_thread_number = syscall(SYS_gettid);
  return cached_thread_number;
}

void forget_thread_number() {
  cached_thread_number = 0;
}

std::string file_name_part(const std::string& model_name) {
  std::string name = field(model_name);
  std::replace(name.begin(), name.end(), '/', '_');
  if (name.size() <= kMaxNameBytes) return name;
  std::array<char, 32> hash;
  snprintf(hash.data(), hash.size(), "~%016zx", std::hash<std::string>()(model_name));
  std::size_t cut = kMaxNameBytes - strlen(hash.data());
  // Do not cut inside a UTF-8 character: its continuation bytes are 10xxxxxx.
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xc0U) == 0x80U) --cut;
  return name.substr(0, cut) + hash.data();
}

void RecordFiles::finish(bool at_exit) {
  const std::string lines = "input_pic_num:" + std::to_string(pictures.load()) + "\n";
  if (core) core->finish(lines, at_exit);
  if (cpu) cpu->finish(lines, at_exit);
}

ModelProfile::ModelProfile(std::string data_folder, const ProfileConfig& config,
                           WriteHealth& health, uint32_t model_id, const Model& model)
    : data_folder_(std::move(data_folder)),
      stem_(file_name_part(model.name()) + "." + std::to_string(model_id)),
      interval_(config.interval),
      wants_core_(config.aicore && has_any_layer(model, false)),
      wants_cpu_(config.aicpu && has_any_layer(model, true)),
      loader_thread_(thread_number()),
      health_(health) {
  const std::string base = data_folder_ + "/" + stem_;
  for (const auto& [path, text] : {std::pair(base + ".net.info", net_info(model, model_id)),
                                   std::pair(base + ".layer.info", layer_info(model))}) {
    if (!write_whole_file(path, text)) {
      health_.lost(0, path, std::string("cannot be written (") + strerror(errno) + ")");
    }
  }
  if (config.acl_api) {
    calls_ = std::make_unique<RecordFile>(data_folder_ + "/acl_api." + kDevice + "." + stem_,
                                          RecordKind::kAclApi, health_);
  }
}

std::unique_ptr<RecordFile> ModelProfile::open(const char* type, RecordKind kind, uint64_t batch,
                                               uint64_t pictures) {
  // type.device.model.model_id.net.batch.pictures of one execution.pictures before this capture
  const std::string path = data_folder_ + "/" + type + "." + kDevice + "." + stem_ + "." + kNet +
                           "." + std::to_string(batch) + "." + std::to_string(batch) + "." +
                           std::to_string(pictures);
  return std::make_unique<RecordFile>(path, kind, health_);
}

std::shared_ptr<RecordFiles> ModelProfile::capture(uint64_t execution, uint64_t batch) {
  if (!wants_core_ && !wants_cpu_) return nullptr;
  if (interval_ != 0 && execution % interval_ != 0) return nullptr;
  const std::lock_guard lock(mutex_);
  if (are_captures_finished_) return nullptr;
  if (run_capture_) {
    run_capture_->pictures += batch;
    return run_capture_;
  }
  auto made = std::make_shared<RecordFiles>();
  made->pictures = batch;
  const uint64_t pictures = interval_ == 0 ? 0 : execution * batch;
  if (wants_core_) made->core = open("aicore", RecordKind::kAicore, batch, pictures);
  if (wants_cpu_) made->cpu = open("aicpu", RecordKind::kAicpu, batch, pictures);
  if (interval_ == 0) run_capture_ = made;
  return made;
}

void ModelProfile::record_call(const AclApiRecord& record) {
  if (record.api_id == static_cast<uint32_t>(ApiId::kExecute)) is_execute_recorded_ = true;
  if (calls_) calls_->append(&record, record.start_ns, record.end_ns);
}

void ModelProfile::finish_captures(bool at_exit) {
  const std::unique_lock lock = lock_for(mutex_, at_exit);
  if (!lock.owns_lock()) return;
  are_captures_finished_ = true;
  if (run_capture_) run_capture_->finish(at_exit);
}

void ModelProfile::finish_calls(bool at_exit) {
  if (!calls_) return;
  calls_->finish(
      "pid:" + std::to_string(getpid()) + "\ntid:" + std::to_string(loader_thread_) + "\n",
      at_exit);
}

void ModelProfile::discard(bool at_exit) {
  if (calls_) calls_->discard(at_exit);
  for (const char* const info : {".net.info", ".layer.info"})
    unlink((data_folder_ + "/" + stem_ + info).c_str());
}

ExecutionRecorder::ExecutionRecorder(ModelProfile& profile, const Model& model, uint64_t execution,
                                     uint64_t batch)
    : model_(model),
      execution_(execution),
      batch_(batch),
      has_own_capture_(!profile.makes_one_capture()),
      capture_(profile.capture(execution, batch)) {}

ExecutionRecorder::~ExecutionRecorder() {
  try {
    if (has_own_capture_ && capture_) capture_->finish(false);
  } catch (const std::bad_alloc&) {
    // Out of memory: no `.done` is written, so readers treat the capture as partial. The
    // application continues.
  }
}

void ExecutionRecorder::layer_done(std::size_t layer, uint64_t start_ns, uint64_t end_ns) {
  const auto layer_id = static_cast<uint32_t>(layer);
  if (model_.layers()[layer].is_on_cpu) {
    if (!capture_->cpu) return;
    const AicpuRecord record = {layer_id, static_cast<uint32_t>(thread_number()), start_ns, end_ns,
                                execution_};
    capture_->cpu->append(&record, start_ns, end_ns);
  } else if (capture_->core) {
    SvpAicoreRecord record;
    record.layer_id = layer_id;
    record.start_ns = start_ns;
    record.total_cycles = end_ns - start_ns;
    record.execution = execution_;
    model_units(model_.layers()[layer].operation->work, batch_, record);
    capture_->core->append(&record, start_ns, end_ns);
  }
}

}  // namespace msprof::runtime
