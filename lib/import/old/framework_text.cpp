// Raw kinds Framework.*: operators and their tasks, in three generations of text lines or as JSON
// objects. The content determines the format. Source: cann5_classic.md 6, 6.1.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_levels.hpp"
#include "base/text.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/join/host_rows.hpp"
#include "import/old/classic_import.hpp"
#include "import/old/old_import.hpp"
#include "import/old/text_entries.hpp"

namespace msprof::old {

namespace {

using nlohmann::json;

// Returns the name of a MindSpore type number.
std::string mind_spore_type(std::uint64_t number) {
  constexpr std::uint64_t kFirst = 27;
  constexpr std::string_view kNames[] = {"BOOL",   "INT",   "INT8",    "INT16",   "INT32",
                                         "INT64",  "UINT",  "UINT8",   "UINT16",  "UINT32",
                                         "UINT64", "FLOAT", "FLOAT16", "FLOAT32", "FLOAT64"};
  if (number < kFirst || number - kFirst >= std::size(kNames)) return std::to_string(number);
  return fmt::format("NUMBER_TYPE_{}", kNames[number - kFirst]);
}

// Returns the name of a type number of the graph engine.
std::string graph_engine_type(std::uint64_t number) {
  if (number > UINT32_MAX) return std::to_string(number);
  std::string name = cann::data_type_name(static_cast<std::uint32_t>(number));
  const bool is_name = name.find_first_not_of("0123456789") != std::string::npos;
  return is_name && !name.starts_with("DT_") ? "DT_" + name : name;
}

struct Tensors {
  std::array<std::string, 6> texts;

  void add(bool is_output, std::string_view shape, std::string_view type, std::string_view format) {
    std::string* side = &texts[is_output ? 3 : 0];
    const bool goes_on = !side[1].empty();
    const std::string_view parts[] = {shape, type, format};
    for (std::size_t i = 0; i < 3; ++i) {
      if (goes_on) side[i] += ';';
      side[i] += parts[i];
    }
  }

  TensorIds ids(TraceDbWriter& store) const {
    TensorIds ids;
    ids.fill(kNull);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!texts[i / 3 * 3 + 1].empty()) ids[i] = store.name_id(texts[i]);
    }
    return ids;
  }
};

class FrameworkTextKind : public TextFiles {
 public:
  explicit FrameworkTextKind(CannImport& import) : TextFiles(import, "framework") {}

  // In late captures, files whose names do not contain "host" are binary files of CANN 5, which
  // start with "ZZ".
  bool owns(const RawFile& file) const override {
    if (!TextFiles::owns(file)) return false;
    const auto bytes = first_bytes({&file}, 2);
    return bytes != "ZZ";
  }

 protected:
  bool owns_stem(std::string_view stem) const override {
    return stem.starts_with("Framework.") &&
           (stem.ends_with("task_desc_info") || stem.ends_with("graph_desc_info") ||
            stem.ends_with(".point"));
  }

  void read(const ImportContext& context, std::int64_t device, const std::string& stem,
            const Slices& slices) override {
    context_ = &context;
    DeviceData& out = device_data(device);
    const std::string first = first_bytes(slices, 64);
    if (trim(first).starts_with('{')) {
      read_entries(context, name(), slices, EntryForm::json,
                   [&](std::string_view text) { return take_json(text, out); });
    } else if (stem.ends_with("task_desc_info")) {
      read_entries(context, name(), slices, EntryForm::lines,
                   [&](std::string_view line) { return take_task(line, out); });
    } else if (stem.ends_with("graph_desc_info")) {
      read_entries(context, name(), slices, EntryForm::lines,
                   [&](std::string_view line) { return take_graph(line, out); });
    } else {
      StepMarks& marks = import_.cann5->devices[device].step_marks;
      read_entries(context, name(), slices, EntryForm::lines,
                   [&](std::string_view line) { return take_point(line, marks); });
    }
  }

 private:
  // Parses name, blocks, task and stream. A model may precede them; model number, shape, iteration
  // and task kind may follow.
  std::string_view take_task(std::string_view line, DeviceData& out) {
    const cann::LineWords words(line);
    const std::size_t count = words.size();
    if (count != 4 && count != 5 && count != 9) return "damaged line";
    const std::size_t at = count == 4 ? 0 : 1;
    std::uint64_t blocks = 0;
    std::uint64_t task = 0;
    std::uint64_t stream = 0;
    if (!words.number(at + 1, blocks) || !words.number(at + 2, task) ||
        !words.number(at + 3, stream) || blocks > UINT32_MAX || task > UINT32_MAX ||
        stream > UINT32_MAX)
      return "damaged line";
    TaskLine row;
    row.name_id = context_->store.name_id(words[at]);
    row.blocks = static_cast<std::uint32_t>(blocks);
    row.task = static_cast<std::uint32_t>(task);
    row.stream = static_cast<std::uint32_t>(stream);
    std::uint64_t number = 0;
    if (count == 9 && words.number(5, number) && number < UINT32_MAX) {
      row.model = static_cast<std::int64_t>(number);
      data().model_names.try_emplace(row.model, context_->store.name_id(words[0]));
    }
    if (count == 9 && words.number(8, number) && number < UINT32_MAX)
      row.kind = static_cast<std::int64_t>(number);
    if (count == 5) data().model_names.try_emplace(0, context_->store.name_id(words[0]));
    if (count == 5) row.model = 0;
    out.tasks.push_back(row);
    return {};
  }

  // Parses "key:value" pairs separated by blanks. The shape is the last key of a tensor.
  std::string_view take_graph(std::string_view line, DeviceData& out) {
    GraphLine row;
    Tensors tensors;
    std::string_view format;
    std::string_view type;
    for (const std::string_view word : split(line, ' ')) {
      const std::size_t colon = word.find(':');
      if (colon == std::string_view::npos) continue;
      const std::string_view key = word.substr(0, colon);
      std::string_view value = word.substr(colon + 1);
      if (key == "op_name") row.name_id = context_->store.name_id(value);
      if (key == "op_type") row.type_name_id = context_->store.name_id(value);
      if (key.ends_with("put_format")) format = value;
      if (key.ends_with("put_data_type")) type = value;
      if (!key.ends_with("put_shape")) continue;
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
        value = value.substr(1, value.size() - 2);
      add_tensor(tensors, key.starts_with("output"), value, type, format);
    }
    if (row.name_id == kNull) return "line without op_name";
    row.tensors = tensors.ids(context_->store);
    out.graph.push_back(row);
    return {};
  }

  // MindSpore writes formats as text and types as its own numbers; the graph engine writes both as
  // numbers.
  static void add_tensor(Tensors& tensors, bool is_output, std::string_view shape,
                         std::string_view type, std::string_view format) {
    std::uint64_t number = 0;
    std::uint64_t type_number = 0;
    const bool is_graph_engine = parse_u64(format, number) && number <= UINT32_MAX;
    std::string type_text(type);
    if (parse_u64(type, type_number))
      type_text = is_graph_engine ? graph_engine_type(type_number) : mind_spore_type(type_number);
    tensors.add(is_output, shape, type_text.empty() ? "N/A" : type_text,
                is_graph_engine ? cann::format_name(static_cast<std::uint32_t>(number))
                                : std::string(format));
  }

  static std::string_view take_point(std::string_view line, StepMarks& out) {
    const cann::LineWords words(line);
    std::uint64_t tag = 0;
    if (words.size() != 2 || !words.number(0, tag)) return "damaged line";
    out.points.insert_or_assign(tag, std::string(words[1]));
    return {};
  }

  // An object contains an operator, its task and its tensors.
  std::string_view take_json(std::string_view text, DeviceData& out) {
    if (is_nested_deeper(text)) return "damaged object";
    const json object = json::parse(valid_utf8(text), nullptr, false);
    if (!object.is_object()) return "damaged object";
    const auto find_text = [&](const json& from, const char* key) {
      const auto at = from.find(key);
      return at != from.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    const auto find_number = [&](const char* key) {
      const auto at = object.find(key);
      return at != object.end() && at->is_number_unsigned() && at->get<std::uint64_t>() < UINT32_MAX
                 ? static_cast<std::uint32_t>(at->get<std::uint64_t>())
                 : 0U;
    };
    const std::string name = find_text(object, "op_name");
    if (name.empty()) return object.contains("tag_id") ? "" : "object without op_name";
    TaskLine row;
    row.is_whole = true;
    row.name_id = context_->store.name_id(name);
    row.type_name_id = context_->store.name_id(find_text(object, "op_type"));
    row.blocks = find_number("block_dims");
    row.task = find_number("task_id");
    row.stream = find_number("stream_id");
    row.model = find_number("model_id");
    row.kind = find_text(object, "task_type") == "AI_CPU" ? 1 : 0;
    const std::string model = find_text(object, "model_name");
    if (!model.empty()) data().model_names.try_emplace(row.model, context_->store.name_id(model));
    Tensors tensors;
    for (const bool is_output : {false, true}) {
      const auto list = object.find(is_output ? "output" : "input");
      if (list == object.end() || !list->is_array()) continue;
      for (const json& tensor : *list) {
        if (!tensor.is_object()) continue;
        std::string shape;
        const auto dims = tensor.find("shape");
        if (dims != tensor.end() && dims->is_array()) {
          for (const json& dim : *dims) shape += (shape.empty() ? "" : ",") + dim.dump();
        }
        tensors.add(is_output, shape, find_text(tensor, "data_type"), find_text(tensor, "format"));
      }
    }
    row.tensors = tensors.ids(context_->store);
    out.graph.push_back({row.name_id, row.type_name_id, row.tensors});
    out.tasks.push_back(row);
    return {};
  }

  const ImportContext* context_ = nullptr;
};

}  // namespace

void TextFiles::import(const ImportContext& context, const RawFile& file) {
  const std::int64_t device = import_.session.find_part(file).device.value_or(0);
  gathered_[{device, import_.session.parsed_name(file).stem}].push_back(&file);
  if (!files_.is_last(context, *this)) return;
  for (const auto& [key, slices] : gathered_) read(context, key.first, key.second, slices);
  gathered_.clear();
}

std::unique_ptr<RawKind> make_framework_text_kind(CannImport& import) {
  return std::make_unique<FrameworkTextKind>(import);
}

}  // namespace msprof::old
