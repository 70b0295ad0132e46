// RecordLayout: offsets and types of the fields of a fixed-size record. One decoder reads both our
// reference layout and layouts that a user describes with `import --layout FILE`.
//
// JSON: {"aicore": {"header_size": 0, "record_size": 128, "fields": {"start": {"offset": 8, "type":
// "u64", "scale": 1}}}, "acl_api": {..., "api_names": {"3": {"name": "svp_acl_mdl_execute", "type":
// "model"}}}}. Types: u8 u16 u32 u64 i32 i64, little-endian. `scale` multiplies (1000 for a start
// in microseconds), `divisor` divides. `select` keeps only records of one type. `cycle_mhz` is the
// clock of cycle counts, if it differs from that of info.json. "origin": "inferred" means that
// `msprof layout` found the layout. "match" lists the captures that a layout of the user's folder
// applies to (layout_choice.hpp). A field that is absent or has a null offset gives N/A.
// Source: svp_job.md 8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/import_report.hpp"

namespace msprof {

// Field names of a kind, in slot order. A decoded record has one int64 per slot, kNull if absent.
using FieldNames = std::span<const std::string_view>;

enum class FieldType : std::uint8_t { u8, u16, u32, u64, i32, i64 };

struct FieldLayout {
  std::size_t slot = 0;
  std::size_t offset_bytes = 0;
  FieldType type = FieldType::u64;
  std::int64_t scale = 1;
  std::int64_t divisor = 1;
};

struct RecordSelect {
  std::size_t offset_bytes = 0;
  FieldType type = FieldType::u32;
  std::int64_t value = 0;
};

struct ApiName {
  std::string name;
  std::string type;
};

struct RecordLayout {
  std::uint64_t header_bytes = 0;
  std::uint64_t record_bytes = 0;
  std::vector<FieldLayout> fields;
  std::optional<RecordSelect> select;
  std::optional<std::int64_t> cycle_hz;       // for aicore only
  std::map<std::int64_t, ApiName> api_names;  // for acl_api only

  // Returns false for records that `select` excludes.
  bool selects(std::span<const std::byte> record) const;
  // Fills `slots`, one per field name. Returns false if a value does not fit an int64.
  bool decode(std::span<const std::byte> record, std::span<std::int64_t> slots) const;
};

// Field names allowed in a layout file.
inline constexpr std::array<std::string_view, 15> kAicoreFields = {
    "layer_id", "start", "total_cycles", "mac_busy", "mac_ppen",  "vec_busy",  "vec_ppen", "dstr",
    "dtrans",   "dld",   "wld",          "ddr_read", "ddr_write", "execution", "end"};
inline constexpr std::array<std::string_view, 5> kAicpuFields = {"layer_id", "thread_id", "start",
                                                                 "end", "execution"};
inline constexpr std::array<std::string_view, 4> kAclApiFields = {"api_id", "thread_id", "start",
                                                                  "end"};

FieldNames field_names(std::string_view kind);

// Captures that a layout applies to: case-insensitive patterns with '*' and '?'. An empty list
// matches everything.
struct LayoutMatch {
  std::vector<std::string> products;
  std::vector<std::string> socs;
  std::vector<std::string> stems;  // stems of data files, for example "aacore"
};

class LayoutSet {
 public:
  // Built-in layouts of files that start with "MSVP".
  static const LayoutSet& reference();

  // Throws Error(usage) that names the fault and the valid values.
  static LayoutSet parse(std::string_view json, const std::string& file_name);

  const RecordLayout* find(std::string_view kind) const;
  const std::map<std::string, RecordLayout, std::less<>>& all() const { return layouts_; }
  // Returns the value of key "match"; nullopt if absent.
  const std::optional<LayoutMatch>& match() const { return match_; }
  // True if found by `msprof layout`, false if described by a person.
  bool is_inferred() const { return is_inferred_; }

 private:
  bool is_inferred_ = false;
  std::map<std::string, RecordLayout, std::less<>> layouts_;
  std::optional<LayoutMatch> match_;
};

// Returns the template that `import --layout-template FILE` writes: JSON to be completed and passed
// to --layout. It has one object per kind, with a null offset for every field, and lists the files
// found under "_files".
std::string layout_template(const std::vector<UnknownLayout>& files);

}  // namespace msprof
