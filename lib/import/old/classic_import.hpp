// ClassicData: contents of the files of a capture of 2019 to 2021. Filled by the kinds of
// classic_kinds.def; join() associates and empties it. Source: cann5_classic.md 5 to 9.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/cann/cann_import.hpp"
#include "import/old/old_ops.hpp"

namespace msprof::old {

using cann::CannImport;

// A task in a line of task_desc_info.
struct TaskLine {
  std::int64_t name_id = kNull;
  std::int64_t model = kNull;         // model number, if the line has one
  std::int64_t type_name_id = kNull;  // set in the generation that has type and tensors in the same
                                      // line
  TensorIds tensors{kNull, kNull, kNull, kNull, kNull, kNull};
  bool is_whole = false;      // type and tensors are from this line
  std::int64_t kind = kNull;  // 0 AI core, 1 AI CPU, if known
  std::uint32_t blocks = 0;
  std::uint32_t task = 0;
  std::uint32_t stream = 0;
};

// An operator in a line of graph_desc_info.
struct GraphLine {
  std::int64_t name_id = kNull;
  std::int64_t type_name_id = kNull;
  TensorIds tensors{kNull, kNull, kNull, kNull, kNull, kNull};
};

struct DeviceData {
  std::vector<TaskLine> tasks;
  std::vector<GraphLine> graph;
};

struct ClassicData {
  std::map<std::int64_t, DeviceData> devices;
  std::map<std::int64_t, std::int64_t> model_names;  // by model number; values are text ids
  std::int64_t launches = 0;
  std::int64_t nodes = 0;
  std::int64_t threads = 0;
};

#define KIND(name) std::unique_ptr<RawKind> make_##name##_kind(CannImport& import);
#include "import/old/classic_kinds.def"
#undef KIND

// Base of kinds of text files. Collects the slices of each device and stem and reads them after the
// last one has arrived.
class TextFiles : public RawKind {
 public:
  TextFiles(CannImport& import, std::string_view kind) : import_(import), kind_(kind) {}

  std::string_view name() const override { return kind_; }
  bool owns(const RawFile& file) const override {
    return owns_stem(import_.session.parsed_name(file).stem);
  }
  void import(const ImportContext& context, const RawFile& file) override;

 protected:
  using Slices = std::vector<const RawFile*>;
  virtual bool owns_stem(std::string_view stem) const = 0;
  virtual void read(const ImportContext& context, std::int64_t device, const std::string& stem,
                    const Slices& slices) = 0;
  ClassicData& data() { return *import_.classic; }
  DeviceData& device_data(std::int64_t device) { return data().devices[device]; }

  CannImport& import_;

 private:
  std::string_view kind_;
  std::map<std::pair<std::int64_t, std::string>, Slices> gathered_;
  cann::OwnedFiles files_;
};

}  // namespace msprof::old
