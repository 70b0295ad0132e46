// Raw kind prof_collect.info: the collector's list of data that it lost. The collector writes the
// file only if it lost data. Source: cann_new_kinds.md 7.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_levels.hpp"
#include "base/text.hpp"
#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

constexpr std::uint64_t kMaxNoteBytes = 8 << 20;

// Returns the text of a string or a number; empty for other types.
std::string note_text(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) return {};
  if (at->is_string()) return printable(at->get_ref<const std::string&>());
  return at->is_number() ? at->dump() : std::string();
}

class CollectionLossKind : public RawKind {
 public:
  std::string_view name() const override { return "prof_collect.info"; }
  bool owns(const RawFile& file) const override {
    return file.path.filename() == std::string(name());
  }

  void import(const ImportContext& context, const RawFile& file) override {
    std::string text = read_text_file(file.path, kMaxNoteBytes);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    nlohmann::json note;
    if (!is_nested_deeper(text)) note = nlohmann::json::parse(valid_utf8(text), nullptr, false);
    std::uint64_t losses = 0;
    if (note.is_object() && note.contains("data_loss") && note["data_loss"].is_array()) {
      for (const auto& loss : note["data_loss"]) {
        if (!loss.is_object()) continue;
        report(context, file, loss);
        ++losses;
      }
    }
    context.report.count_file(name(), losses);
    // The existence of the file means that data is missing.
    if (losses == 0)
      context.report.add(FindingId::collector_loss, name(), file.name, "data lost",
                         "the file does not describe the loss");
  }

 private:
  void report(const ImportContext& context, const RawFile& file, const nlohmann::json& loss) {
    const std::string module = note_text(loss, "module");
    std::string detail;
    for (const char* key : {"reason", "detail", "ret_code", "device_id", "channel_id"}) {
      const std::string value = note_text(loss, key);
      if (value.empty()) continue;
      if (!detail.empty()) detail += "; ";
      const std::string_view said(key);
      detail += said == "reason" || said == "detail" ? value : fmt::format("{} {}", key, value);
    }
    context.report.add(FindingId::collector_loss, name(), file.name,
                       module.empty() ? "data lost" : fmt::format("data of {} lost", module),
                       detail);
  }
};

}  // namespace

std::unique_ptr<RawKind> make_collection_loss_kind(CannImport&) {
  return std::make_unique<CollectionLossKind>();
}

}  // namespace msprof::cann
