// RecordLayout: positions of the fields of a fixed-size record, as a table. One decoder serves our
// own reference layout and any that a user describes with `import --layout FILE`. For the svp
// kinds.
//
// JSON: {"aicore": {"header_size": 0, "record_size": 128, "fields": {"start": {"offset": 8,
// "type": "u64", "scale": 1}}}, "acl_api": {..., "api_names": {"3": {"name": "svp_acl_mdl_execute",
// "type": "model"}}}}. Types u8 u16 u32 u64 i32 i64, little-endian; `scale` multiplies (1000 for a
// start in microseconds), `divisor` divides. `select` takes records of one type of several,
// `cycle_mhz` is the clock of the cycles where it is not that of info.json. "origin": "inferred"
// says that `msprof layout` found it; "match" says which captures a layout of the user's folder is
// for (layout_choice.hpp). An absent field, or one whose offset is null, gives N/A.
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

// The fields of a kind, in slot order; a decoded record is one int64 a slot, kNull where absent.
using FieldNames = std::span<const std::string_view>;

enum class FieldType : std::uint8_t { u8, u16, u32, u64, i32, i64 };

struct FieldLayout {
  std::size_t slot = 0;
  std::size_t offset_bytes = 0;
  FieldType type = FieldType::u64;
  std::int64_t scale = 1;
  std::int64_t divisor = 1;
};

// Records whose number at `offset_bytes` is another one are of another type.
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
  std::optional<std::int64_t> cycle_hz;       // of aicore
  std::map<std::int64_t, ApiName> api_names;  // of acl_api

  // False for a record of a type that the layout is not about.
  bool selects(std::span<const std::byte> record) const;
  // Fills `slots` (one a field name); false when a value does not fit an int64.
  bool decode(std::span<const std::byte> record, std::span<std::int64_t> slots) const;
};

// The names that a layout file can use.
inline constexpr std::array<std::string_view, 15> kAicoreFields = {
    "layer_id", "start", "total_cycles", "mac_busy", "mac_ppen",  "vec_busy",  "vec_ppen", "dstr",
    "dtrans",   "dld",   "wld",          "ddr_read", "ddr_write", "execution", "end"};
inline constexpr std::array<std::string_view, 5> kAicpuFields = {"layer_id", "thread_id", "start",
                                                                 "end", "execution"};
inline constexpr std::array<std::string_view, 4> kAclApiFields = {"api_id", "thread_id", "start",
                                                                  "end"};

// Field names of "aicore", "aicpu" or "acl_api".
FieldNames field_names(std::string_view kind);

// Captures that a layout is for: patterns with '*' and '?', in any case; an empty list fits all.
struct LayoutMatch {
  std::vector<std::string> products;
  std::vector<std::string> socs;
  std::vector<std::string> stems;  // of its data files: "aacore"
};

class LayoutSet {
 public:
  // The built-in reference layouts (files that begin with "MSVP").
  static const LayoutSet& reference();

  // Throws Error(usage) naming what is wrong and the valid words.
  static LayoutSet parse(std::string_view json, const std::string& file_name);

  const RecordLayout* find(std::string_view kind) const;
  const std::map<std::string, RecordLayout, std::less<>>& all() const { return layouts_; }
  // Of its key "match"; empty: it has none.
  const std::optional<LayoutMatch>& match() const { return match_; }
  // Found by `msprof layout`, not described by somebody who knows.
  bool is_inferred() const { return is_inferred_; }

 private:
  bool is_inferred_ = false;
  std::map<std::string, RecordLayout, std::less<>> layouts_;
  std::optional<LayoutMatch> match_;
};

// The skeleton that `import --layout-template FILE` writes. For the import verb.
// JSON to be filled in and given back with --layout: one object a kind, every field with a null
// offset, the files found under "_files".
std::string layout_template(const std::vector<UnknownLayout>& files);

}  // namespace msprof
