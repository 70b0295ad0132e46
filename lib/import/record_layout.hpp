// RecordLayout: offsets and types of the fields of a fixed-size record. One decoder reads both our
// reference layout and layouts that a user describes with `import --layout FILE`.
//
// JSON: {"aicore": {"header_size": 0, "record_size": 128, "fields": {"start": {"offset": 8, "type":
// "u64", "scale": 1}}}, "acl_api": {..., "api_names": {"3": {"name": "svp_acl_mdl_execute", "type":
// "model"}}}}. Types: u8 u16 u32 u64 i32 i64, little-endian. `scale` multiplies (1000 for a start
// in microseconds), `divisor` divides, `base` is subtracted first, `wraps` is a u32 clock that
// wraps around. `select` keeps only records of one type. `executions`: each has a header.
// `layer_ids`: ids by the numbers in records. `cycle_mhz` is the clock of cycle counts, if it
// differs from that of info.json. "origin": "inferred" means that `msprof layout` found the layout.
// "match" lists the captures that a layout of the user's folder applies to (layout_choice.hpp). A
// field that is absent or has a null offset gives N/A. Source: svp_job.md 8.
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
  std::int64_t base = 0;  // subtracted first
  bool wraps = false;     // a u32 that wraps around while records are read
};

struct RecordSelect {
  std::size_t offset_bytes = 0;
  FieldType type = FieldType::u32;
  std::int64_t value = 0;
};

// Headers before the records of each execution, which are `records`, or as many as the header says.
struct ExecutionHeaders {
  std::uint64_t header_bytes = 0;
  std::uint64_t records = 0;
  std::size_t count_offset_bytes = 0;
  std::optional<FieldType> count_type;
};

// Records of the begins and ends of layers. The begins are looked up by layer and core.
struct RecordPairs {
  std::size_t offset_bytes = 0;  // of a u8
  std::int64_t begin = 0, end = 0;
  std::optional<std::size_t> core_offset_bytes;  // of a u8
};

// What decode() keeps between records.
struct DecodeState {
  std::optional<std::int64_t> last;  // time, if times wrap around
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> begins;  // starts by layer and core
};

// second_begin: it replaces a begin that had no end.
enum class DecodedRecord { row, half_row, second_begin, impossible };

struct ApiName {
  std::string name;
  std::string type;
};

struct RecordLayout {
  std::uint64_t header_bytes = 0;
  std::uint64_t record_bytes = 0;
  std::vector<FieldLayout> fields;
  std::optional<RecordSelect> select;
  std::optional<ExecutionHeaders> executions;
  std::optional<RecordPairs> pairs;  // for aicore only
  std::map<std::int64_t, std::int64_t>
      layer_ids;                              // by the numbers in records; empty: these are ids
  std::optional<std::int64_t> cycle_hz;       // for aicore only
  std::map<std::int64_t, ApiName> api_names;  // for acl_api only

  // Returns false for records that `select` excludes.
  bool selects(std::span<const std::byte> record) const;
  // Fills `slots`, one per field name. A record is impossible if a value does not fit an int64, or
  // an end has no begin. A begin is half a row.
  DecodedRecord decode(std::span<const std::byte> record, std::span<std::int64_t> slots,
                       DecodeState& state) const;
  bool decode(std::span<const std::byte> record, std::span<std::int64_t> slots) const {
    DecodeState none;
    return decode(record, slots, none) == DecodedRecord::row;
  }
  // Number of records in an execution with this header.
  std::uint64_t records_after(std::span<const std::byte> header) const;
  // Returns true if a file of this size has nothing after its last record.
  bool has_whole_records(std::uint64_t file_bytes) const;

 private:
  DecodedRecord pair_up(std::span<const std::byte> record, std::span<std::int64_t> slots,
                        DecodeState& state) const;
};

// Field names allowed in a layout file.
inline constexpr std::array<std::string_view, 16> kAicoreFields = {
    "layer_id",  "start",     "total_cycles", "mac_busy", "mac_ppen", "vec_busy",
    "vec_ppen",  "dstr",      "dtrans",       "dld",      "wld",      "ddr_read",
    "ddr_write", "execution", "end",          "duration"};
inline constexpr std::array<std::string_view, 6> kAicpuFields = {
    "layer_id", "thread_id", "start", "end", "execution", "duration"};
inline constexpr std::array<std::string_view, 5> kAclApiFields = {"api_id", "thread_id", "start",
                                                                  "end", "duration"};

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
