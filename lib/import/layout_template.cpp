#include "import/layout_template.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "import/record_layout.hpp"

namespace msprof {

std::string layout_template(const std::vector<UnknownLayout>& files) {
  using nlohmann::ordered_json;
  ordered_json document = {{"_how_to",
                            "Set header_size, record_size and the offset of every field that is "
                            "known; a field with a null "
                            "offset gives N/A. Types: u8 u16 u32 u64 i32 i64, little-endian. Times "
                            "are ns: \"scale\": 1000 "
                            "for a field in us. Then: msprof import -dir DIR --layout FILE"}};
  ordered_json seen = ordered_json::array();
  for (const UnknownLayout& file : files) {
    seen.push_back({{"kind", file.kind},
                    {"file", valid_utf8(file.file)},
                    {"size", file.size_bytes},
                    {"candidate_record_sizes", file.candidate_record_sizes}});
    if (document.contains(file.kind)) continue;
    const auto& sizes = file.candidate_record_sizes;
    ordered_json fields = ordered_json::object();
    for (const auto name : field_names(file.kind)) {
      const bool is_id = name.ends_with("_id");
      fields[std::string(name)] = {{"offset", nullptr}, {"type", is_id ? "u32" : "u64"}};
    }
    ordered_json kind = {{"header_size", 0},
                         {"record_size", 0},
                         {"candidate_record_sizes", sizes},
                         {"fields", fields}};
    if (file.kind == "acl_api")
      kind["api_names"] = {{"3", {{"name", "svp_acl_mdl_execute"}, {"type", "model"}}}};
    document[file.kind] = std::move(kind);
  }
  document["_files"] = std::move(seen);
  return document.dump(2) + "\n";
}

}  // namespace msprof
