// DeviceStreamKind: a kind of device records that tasks are made of: its files only join a stream,
// which join_devices() reads. For the makers of such kinds.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "import/cann/cann_import.hpp"
#include "import/raw_kind.hpp"

namespace msprof::cann {

struct DeviceStream {
  std::string_view stem;  // as in FileName
  std::optional<RecordStream> DeviceInputs::*stream = nullptr;
  RecordFormat format;
};

struct DeviceStreamKind {
  std::string_view name;
  std::vector<DeviceStream> streams;
  // Counters of the cores: sampled over time (not task by task) they say nothing about tasks.
  bool is_counters = false;
};

// The streams of a chip; none: its records are not read.
using StreamsOfChip = DeviceStreamKind (*)(const Chip& chip);
std::unique_ptr<RawKind> make_device_stream_kind(CannImport& import, StreamsOfChip of_chip,
                                                 std::vector<std::string_view> stems);

}  // namespace msprof::cann
