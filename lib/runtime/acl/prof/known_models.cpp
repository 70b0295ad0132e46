#include "runtime/acl/prof/known_models.hpp"

#include <map>
#include <mutex>
#include <new>
#include <string>

#include "runtime/acl/prof/thread_number.hpp"
#include "runtime/acl/prof/type_names.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::acl {

namespace {

// Limits the memory used by applications that load a model for every request.
constexpr std::size_t kMaxModels = 4096;

struct Models {
  std::mutex mutex;
  std::map<std::uint32_t, std::string> names;
};

// Never destroyed: threads keep running while the process exits.
Models& models() {
  alignas(Models) static std::byte place[sizeof(Models)];
  static Models* const only = new (place) Models;
  return *only;
}

}  // namespace

void know_model(std::uint32_t model, std::string_view name) {
  Models& known = models();
  const std::lock_guard lock(known.mutex);
  if (known.names.size() >= kMaxModels) known.names.erase(known.names.begin());
  known.names.insert_or_assign(model, std::string(name));
}

void record_model_name(Recording& recording, std::uint32_t model, std::string_view name,
                       std::uint64_t at_ns) {
  GraphIdMapWire record = {};
  record.head = {
      kRecordMagic,    static_cast<std::uint16_t>(CallLevel::model), record_type::kGraphIdMap,
      thread_number(), sizeof(record) - sizeof(record.head),         at_ns};
  record.model_name = recording.intern(name);
  record.graph_id = model;
  record.model_id = model;
  recording.append(HostFile::graph_id_map, &record);
}

void record_known_models(Recording& recording) {
  if ((recording.options().bits & prof_bits::kTaskDetails) == 0) return;
  Models& known = models();
  const std::lock_guard lock(known.mutex);
  for (const auto& [model, name] : known.names)
    record_model_name(recording, model, name, recording.begin_ns());
}

void reset_known_models() {
  new (&models().mutex) std::mutex;
}

}  // namespace msprof::acl
