// HostData: host records of a CANN 5 capture. Filled by the kinds of kinds.def; join()
// associates them with the tasks of the devices and empties them. Source: cann5_classic.md 6, 7, 9.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/cann/cann_import.hpp"
#include "import/old/old_ops.hpp"
#include "import/old/steps.hpp"
#include "wire/old/host_wire.hpp"

namespace msprof::old {

using cann::CannImport;

// A task of a collective. The row's id and the start of the collective are not set.
struct OldCommTask {
  CommCallRow call;
  std::int64_t start_ns = kNull;
  std::int64_t duration_ns = 0;  // estimated: no record has a measured duration
  std::uint32_t stream = 0;
  std::uint32_t task = 0;
};

// Host records about one device.
struct DeviceHostData {
  std::vector<OldCommTask> comm_tasks;
  std::vector<TaskDesc> descriptions;
  TensorTable tensors;
  // Kind of a task, for example "KERNEL_AICORE", by stream and number.
  std::unordered_map<std::uint64_t, std::int64_t> task_kinds;
  StepMarks step_marks;
};

struct HostData {
  std::map<std::int64_t, DeviceHostData> devices;
  std::map<std::int64_t, std::int64_t> model_names;  // by model number; values are text ids
  // Calls in any order, without ids. details[i] belongs to calls[i]; it may have no value.
  std::vector<ApiCallRow> calls;
  std::vector<CallDetailRow> details;
  std::int64_t fusion_rows = 0;
  std::int64_t ranges = 0;

  void add(const ApiCallRow& call, const CallDetailRow& detail = {}) {
    calls.push_back(call);
    details.push_back(detail);
  }
};

#define KIND(name) std::unique_ptr<RawKind> make_##name##_kind(CannImport& import);
#include "import/old/kinds.def"
#undef KIND

// Writes calls, models and operators, and reads the tasks of every device. `import` has both
// HostData and ClassicData.
void join(CannImport& import, const ImportContext& context);

// Returns the id of the text, or of the dictionary's text for the hash. The hash of an empty text
// is shown as "0".
template <std::size_t kRoom>
std::int64_t text_id(CannImport& import, TraceDbWriter& store, const MixText<kRoom>& mix) {
  if (mix.is_text != 0) return store.name_id(cann::fixed_text(&mix.bytes[0], kRoom));
  std::uint64_t hash = 0;
  std::memcpy(&hash, &mix.bytes[0], sizeof(hash));
  return import.dictionaries.hash_name_id(store, hash);
}

// Returns true if a record starts with the magic and `kTag`.
template <std::uint16_t kTag>
bool has_tag(std::span<const std::byte> record) {
  const auto head = cann::decode<RecordHead>(record);
  return head.magic == kRecordMagic && head.tag == kTag;
}

// Base of kinds whose records have one size and tag. Owns files with stem `stem`; with
// `has_numbers` also those whose stem continues with "_".
class OldKind : public cann::SliceKind {
 public:
  OldKind(CannImport& import, std::string_view stem, const cann::RecordFormat& format,
          bool has_numbers = false)
      : SliceKind(import, stem, format), old_stem_(stem), has_numbers_(has_numbers) {}

  bool owns(const RawFile& file) const override {
    const std::string_view stem = import_.session.parsed_name(file).stem;
    if (stem == old_stem_) return true;
    return has_numbers_ && stem.size() > old_stem_.size() && stem.starts_with(old_stem_) &&
           stem[old_stem_.size()] == '_';
  }

 protected:
  static std::int64_t device_or_zero(const CannPart& part) { return part.device.value_or(0); }
  HostData& data() { return *import_.cann5; }
  // Returns false if any of these is not a possible host time.
  bool are_possible(std::initializer_list<std::uint64_t> monotonic_ns) const {
    return std::all_of(monotonic_ns.begin(), monotonic_ns.end(), [this](std::uint64_t ns) {
      return import_.session.host_clock()->is_possible(ns);
    });
  }
  // Converts a host time to wall-clock ns.
  std::int64_t wall_ns(std::uint64_t monotonic_ns) const {
    return import_.session.host_clock()->ns(monotonic_ns);
  }

 private:
  std::string_view old_stem_;
  bool has_numbers_;
};

}  // namespace msprof::old
