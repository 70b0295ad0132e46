#include "import/record_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/json_levels.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "store/cells.hpp"

namespace msprof {

namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxRecordBytes = 1 << 16;
constexpr std::array<std::pair<std::string_view, FieldType>, 6> kTypes = {
    {{"u8", FieldType::u8},
     {"u16", FieldType::u16},
     {"u32", FieldType::u32},
     {"u64", FieldType::u64},
     {"i32", FieldType::i32},
     {"i64", FieldType::i64}}};
constexpr std::array<std::string_view, 3> kKinds = {"aicore", "aicpu", "acl_api"};

std::size_t width_bytes(FieldType type) {
  switch (type) {
    case FieldType::u8:
      return 1;
    case FieldType::u16:
      return 2;
    case FieldType::u32:
    case FieldType::i32:
      return 4;
    case FieldType::u64:
    case FieldType::i64:
      break;
  }
  return 8;
}

// Layout of the records written by lib/runtime, as a layout file: 112 bytes per layer execution, 32
// bytes per CPU operator and per call (svp_job.md 7.2 to 7.4).
constexpr std::string_view kReference = R"({
"aicore": {"header_size": 16, "record_size": 112, "fields": {
  "layer_id": {"offset": 0, "type": "u32"}, "start": {"offset": 8, "type": "u64"},
  "total_cycles": {"offset": 16, "type": "u64"}, "mac_busy": {"offset": 24, "type": "u64"},
  "mac_ppen": {"offset": 32, "type": "u64"}, "vec_busy": {"offset": 40, "type": "u64"},
  "vec_ppen": {"offset": 48, "type": "u64"}, "dstr": {"offset": 56, "type": "u64"},
  "dtrans": {"offset": 64, "type": "u64"}, "dld": {"offset": 72, "type": "u64"},
  "wld": {"offset": 80, "type": "u64"}, "ddr_read": {"offset": 88, "type": "u64"},
  "ddr_write": {"offset": 96, "type": "u64"}, "execution": {"offset": 104, "type": "u64"}}},
"aicpu": {"header_size": 16, "record_size": 32, "fields": {
  "layer_id": {"offset": 0, "type": "u32"}, "thread_id": {"offset": 4, "type": "u32"},
  "start": {"offset": 8, "type": "u64"}, "end": {"offset": 16, "type": "u64"},
  "execution": {"offset": 24, "type": "u64"}}},
"acl_api": {"header_size": 16, "record_size": 32, "fields": {
  "api_id": {"offset": 0, "type": "u32"}, "thread_id": {"offset": 4, "type": "u32"},
  "start": {"offset": 8, "type": "u64"}, "end": {"offset": 16, "type": "u64"}},
  "api_names": {
  "1": {"name": "svp_acl_mdl_load_from_mem", "type": "model"},
  "2": {"name": "svp_acl_mdl_load_with_config", "type": "model"},
  "3": {"name": "svp_acl_mdl_execute", "type": "model"},
  "4": {"name": "svp_acl_mdl_execute_async", "type": "model"},
  "5": {"name": "svp_acl_mdl_unload", "type": "model"},
  "6": {"name": "svp_acl_mdl_get_desc", "type": "model"},
  "7": {"name": "svp_acl_mdl_create_dataset", "type": "model"},
  "8": {"name": "svp_acl_mdl_destroy_dataset", "type": "model"},
  "256": {"name": "svp_acl_rt_set_device", "type": "runtime"},
  "257": {"name": "svp_acl_rt_reset_device", "type": "runtime"},
  "258": {"name": "svp_acl_rt_create_stream", "type": "runtime"},
  "259": {"name": "svp_acl_rt_destroy_stream", "type": "runtime"},
  "260": {"name": "svp_acl_rt_synchronize_stream", "type": "runtime"},
  "261": {"name": "svp_acl_rt_malloc", "type": "runtime"},
  "262": {"name": "svp_acl_rt_free", "type": "runtime"},
  "263": {"name": "svp_acl_rt_create_context", "type": "runtime"},
  "264": {"name": "svp_acl_rt_destroy_context", "type": "runtime"},
  "512": {"name": "svp_acl_init", "type": "others"},
  "513": {"name": "svp_acl_finalize", "type": "others"}}}})";

// Indexes of kAicoreFields.
constexpr std::size_t kAicoreStart = 1, kAicoreEnd = 14;
static_assert(kAicoreFields[kAicoreStart] == "start" && kAicoreFields[kAicoreEnd] == "end");

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  throw Error(Exit::usage, fmt::format("layout {}: {}", file, message));
}

std::uint64_t number(const json& object, const char* key, std::uint64_t most,
                     const std::string& file, const std::string& place) {
  const auto at = object.find(key);
  if (at == object.end()) fail(file, fmt::format("{} has no '{}'", place, key));
  if (!at->is_number_unsigned() || at->get<std::uint64_t>() > most) {
    fail(file, fmt::format("'{}' of {} must be a whole number from 0 to {}", key, place, most));
  }
  return at->get<std::uint64_t>();
}

// Rejects unknown keys: ignoring a misspelled one would silently give wrong values. Keys that start
// with '_' are remarks.
void check_keys(const json& object, std::initializer_list<std::string_view> valid,
                const std::string& file, const std::string& place) {
  for (const auto& [key, value] : object.items()) {
    if (key.starts_with('_') || std::find(valid.begin(), valid.end(), key) != valid.end()) continue;
    fail(file, fmt::format("unknown '{}' in {}; valid: {}", key, place, fmt::join(valid, ", ")));
  }
}

FieldType field_type(const json& field, const std::string& file, const std::string& place) {
  const std::string word = field.contains("type") && field["type"].is_string() ? field["type"] : "";
  for (const auto& [name, type] : kTypes) {
    if (word == name) return type;
  }
  fail(file, fmt::format("the type of {} must be one of u8, u16, u32, u64, i32, i64", place));
}

void parse_field(RecordLayout& layout, const json& field, const std::string& kind,
                 const std::string& name, const std::string& file) {
  const FieldNames names = field_names(kind);
  const std::string place = fmt::format("field '{}' of {}", name, kind);
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) {
    fail(file, fmt::format("unknown {}; valid: {}", place, fmt::join(names, ", ")));
  }
  if (!field.is_object()) fail(file, fmt::format("{} must be an object", place));
  check_keys(field, {"offset", "type", "scale", "divisor", "base", "wraps", "certainty"}, file,
             place);
  // unfilled entry of a template
  if (field.contains("offset") && field["offset"].is_null()) return;
  FieldLayout result;
  result.slot = static_cast<std::size_t>(at - names.begin());
  result.type = field_type(field, file, place);
  result.offset_bytes = number(field, "offset", kMaxRecordBytes, file, place);
  if (result.offset_bytes + width_bytes(result.type) > layout.record_bytes) {
    fail(file, fmt::format("{} ends beyond the record of {} bytes", place, layout.record_bytes));
  }
  if (field.contains("scale")) {
    result.scale = static_cast<std::int64_t>(number(field, "scale", 1'000'000'000, file, place));
  }
  if (field.contains("divisor")) {
    result.divisor =
        static_cast<std::int64_t>(number(field, "divisor", 1'000'000'000'000, file, place));
    if (result.divisor == 0) fail(file, fmt::format("the divisor of {} is 0", place));
  }
  if (field.contains("base"))
    result.base = static_cast<std::int64_t>(number(field, "base", INT64_MAX, file, place));
  if (field.contains("wraps")) {
    if (!field["wraps"].is_boolean() || result.type != FieldType::u32)
      fail(file, fmt::format("'wraps' of {} must be true or false, and its type u32", place));
    result.wraps = field["wraps"].get<bool>();
  }
  layout.fields.push_back(result);
}

RecordSelect parse_select(const json& object, std::uint64_t record_bytes, const std::string& kind,
                          const std::string& file) {
  const std::string place = fmt::format("'select' of {}", kind);
  if (!object.is_object()) fail(file, fmt::format("{} must be an object", place));
  check_keys(object, {"offset", "type", "value"}, file, place);
  RecordSelect select;
  select.type = field_type(object, file, place);
  select.offset_bytes = number(object, "offset", kMaxRecordBytes, file, place);
  select.value = static_cast<std::int64_t>(number(object, "value", INT64_MAX, file, place));
  if (select.offset_bytes + width_bytes(select.type) > record_bytes) {
    fail(file, fmt::format("{} ends beyond the record of {} bytes", place, record_bytes));
  }
  return select;
}

RecordPairs parse_pairs(const json& object, std::uint64_t record_bytes, const std::string& kind,
                        const std::string& file) {
  const std::string place = fmt::format("'pairs' of {}", kind);
  if (!object.is_object() || kind != "aicore")
    fail(file, fmt::format("{} must be an object, in aicore", place));
  check_keys(object, {"offset", "begin", "end", "core_offset"}, file, place);
  RecordPairs pairs;
  pairs.offset_bytes = number(object, "offset", record_bytes - 1, file, place);
  pairs.begin = static_cast<std::int64_t>(number(object, "begin", UINT8_MAX, file, place));
  pairs.end = static_cast<std::int64_t>(number(object, "end", UINT8_MAX, file, place));
  if (object.contains("core_offset"))
    pairs.core_offset_bytes = number(object, "core_offset", record_bytes - 1, file, place);
  return pairs;
}

ExecutionHeaders parse_executions(const json& object, const std::string& kind,
                                  const std::string& file) {
  const std::string place = fmt::format("'executions' of {}", kind);
  if (!object.is_object()) fail(file, fmt::format("{} must be an object", place));
  check_keys(object, {"header_size", "records"}, file, place);
  ExecutionHeaders executions;
  executions.header_bytes = number(object, "header_size", kMaxRecordBytes, file, place);
  if (executions.header_bytes == 0) fail(file, fmt::format("the header_size of {} is 0", place));
  if (!object.contains("records") || !object["records"].is_object()) {
    executions.records = number(object, "records", INT64_MAX, file, place);
    if (executions.records == 0) fail(file, fmt::format("the records of {} are 0", place));
    return executions;
  }
  const json& count = object["records"];
  check_keys(count, {"offset", "type"}, file, place);
  executions.count_type = field_type(count, file, place);
  executions.count_offset_bytes = number(count, "offset", kMaxRecordBytes, file, place);
  if (executions.count_offset_bytes + width_bytes(*executions.count_type) > executions.header_bytes)
    fail(file, fmt::format("'records' of {} ends beyond the header", place));
  return executions;
}

std::map<std::int64_t, std::int64_t> parse_layer_ids(const json& object, const std::string& file) {
  if (!object.is_object()) fail(file, "'layer_ids' must be an object");
  std::map<std::int64_t, std::int64_t> ids;
  for (const auto& [text, id] : object.items()) {
    const auto key = parse_i64(text);
    if (!key || *key < 0 || !id.is_number_unsigned() ||
        id.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
      fail(file, fmt::format("layer_ids: '{}' must be a number with a layer id", text));
    }
    ids[*key] = id.get<std::int64_t>();
  }
  return ids;
}

std::int64_t parse_cycle_hz(const json& object, const std::string& kind, const std::string& file) {
  constexpr double kMaxMhz = 1e5;
  const json& value = object["cycle_mhz"];
  const double mhz = value.is_number() ? value.get<double>() : 0;
  if (kind != "aicore" || !(mhz >= 0.001 && mhz <= kMaxMhz)) {
    fail(file, "'cycle_mhz' must be a number from 0.001 to 100000, in aicore");
  }
  return std::llround(mhz * 1e6);
}

void parse_api_names(RecordLayout& layout, const json& names, const std::string& file) {
  for (const auto& [id, entry] : names.items()) {
    const auto number = parse_i64(id);
    if (!number || !entry.is_object()) {
      fail(file, fmt::format(
                     "api_names: '{}' must be a number whose value is {{\"name\", \"type\"}}", id));
    }
    layout.api_names[*number] = {entry.value("name", "api_" + id), entry.value("type", "N/A")};
  }
}

RecordLayout parse_layout(const json& object, const std::string& kind, const std::string& file) {
  if (!object.is_object()) fail(file, fmt::format("'{}' must be an object", kind));
  // candidate_record_sizes is informational; templates contain it.
  check_keys(object,
             {"header_size", "record_size", "fields", "api_names", "candidate_record_sizes",
              "select", "cycle_mhz", "executions", "layer_ids", "pairs"},
             file, kind);
  RecordLayout layout;
  layout.header_bytes = number(object, "header_size", 1 << 20, file, kind);
  layout.record_bytes = number(object, "record_size", kMaxRecordBytes, file, kind);
  if (layout.record_bytes == 0) fail(file, fmt::format("the record_size of {} is 0", kind));
  if (!object.contains("fields") || !object["fields"].is_object()) {
    fail(file, fmt::format("{} has no 'fields'", kind));
  }
  for (const auto& [name, field] : object["fields"].items())
    parse_field(layout, field, kind, name, file);
  if (layout.fields.empty()) fail(file, fmt::format("no field of {} has an offset", kind));
  if (object.contains("api_names")) parse_api_names(layout, object["api_names"], file);
  if (object.contains("select")) {
    layout.select = parse_select(object["select"], layout.record_bytes, kind, file);
  }
  if (object.contains("executions"))
    layout.executions = parse_executions(object["executions"], kind, file);
  if (object.contains("pairs"))
    layout.pairs = parse_pairs(object["pairs"], layout.record_bytes, kind, file);
  if (object.contains("layer_ids")) layout.layer_ids = parse_layer_ids(object["layer_ids"], file);
  if (object.contains("cycle_mhz")) layout.cycle_hz = parse_cycle_hz(object, kind, file);
  return layout;
}

std::vector<std::string> parse_patterns(const json& match, const char* key,
                                        const std::string& file) {
  std::vector<std::string> patterns;
  const auto at = match.find(key);
  if (at == match.end()) return patterns;
  const json list = at->is_array() ? *at : json::array({*at});
  for (const json& pattern : list) {
    if (!pattern.is_string())
      fail(file, fmt::format("'{}' of 'match' must be a text or a list of texts", key));
    patterns.push_back(pattern.get<std::string>());
  }
  return patterns;
}

LayoutMatch parse_match(const json& match, const std::string& file) {
  if (!match.is_object()) fail(file, "'match' must be an object");
  check_keys(match, {"product", "soc", "stem"}, file, "match");
  return {parse_patterns(match, "product", file), parse_patterns(match, "soc", file),
          parse_patterns(match, "stem", file)};
}

bool decode_unsigned(std::uint64_t raw, const FieldLayout& field, std::int64_t& value) {
  if (field.divisor == 1) {
    return !__builtin_mul_overflow(raw, field.scale, &value) && value >= 0;
  }
  uint128 product = 0;
  if (__builtin_mul_overflow(uint128{raw}, static_cast<uint128>(field.scale), &product))
    return false;
  product /= static_cast<uint128>(field.divisor);
  if (product > static_cast<uint128>(INT64_MAX)) return false;
  value = static_cast<std::int64_t>(product);
  return true;
}

// Returns signed values as unsigned. A negative value becomes too large for an int64, so decode()
// rejects it: no field may be negative.
std::uint64_t raw_value(ByteCursor& cursor, FieldType type, std::size_t offset) {
  switch (type) {
    case FieldType::u8:
      return cursor.at<std::uint8_t>(offset);
    case FieldType::u16:
      return cursor.at<std::uint16_t>(offset);
    case FieldType::u32:
      return cursor.at<std::uint32_t>(offset);
    case FieldType::i32:
      return static_cast<std::uint64_t>(cursor.at<std::int32_t>(offset));
    case FieldType::i64:
      return static_cast<std::uint64_t>(cursor.at<std::int64_t>(offset));
    case FieldType::u64:
      break;
  }
  return cursor.at<std::uint64_t>(offset);
}

}  // namespace

FieldNames field_names(std::string_view kind) {
  if (kind == "aicore") return kAicoreFields;
  if (kind == "aicpu") return kAicpuFields;
  return kAclApiFields;
}

bool RecordLayout::selects(std::span<const std::byte> record) const {
  if (!select) return true;
  ByteCursor cursor(record);
  const std::uint64_t value = raw_value(cursor, select->type, select->offset_bytes);
  return !cursor.has_overrun() && value == static_cast<std::uint64_t>(select->value);
}

DecodedRecord RecordLayout::decode(std::span<const std::byte> record, std::span<std::int64_t> slots,
                                   DecodeState& state) const {
  ByteCursor cursor(record);
  std::fill(slots.begin(), slots.end(), kNull);
  for (const FieldLayout& field : fields) {
    std::uint64_t raw = raw_value(cursor, field.type, field.offset_bytes);
    if (field.base != 0) raw -= static_cast<std::uint64_t>(field.base);  // too large if negative
    if (field.wraps) {
      const auto now = static_cast<std::uint32_t>(raw);
      // The time nearest to the last one.
      state.last = state.last ? *state.last + static_cast<std::int32_t>(
                                                  now - static_cast<std::uint32_t>(*state.last))
                              : std::int64_t{now};
      raw = static_cast<std::uint64_t>(*state.last);
    }
    if (!decode_unsigned(raw, field, slots[field.slot])) return DecodedRecord::impossible;
  }
  if (!layer_ids.empty() && slots[0] != kNull) {
    const auto id = layer_ids.find(slots[0]);
    if (id == layer_ids.end()) return DecodedRecord::impossible;
    slots[0] = id->second;
  }
  if (cursor.has_overrun()) return DecodedRecord::impossible;
  return pairs ? pair_up(record, slots, state) : DecodedRecord::row;
}

DecodedRecord RecordLayout::pair_up(std::span<const std::byte> record,
                                    std::span<std::int64_t> slots, DecodeState& state) const {
  ByteCursor cursor(record);
  const auto tag = std::int64_t{cursor.at<std::uint8_t>(pairs->offset_bytes)};
  const std::pair key(slots[0],
                      pairs->core_offset_bytes
                          ? std::int64_t{cursor.at<std::uint8_t>(*pairs->core_offset_bytes)}
                          : 0);
  if (tag == pairs->begin) {
    const bool is_new = state.begins.insert_or_assign(key, slots[kAicoreStart]).second;
    return is_new ? DecodedRecord::half_row : DecodedRecord::second_begin;
  }
  if (tag != pairs->end) return DecodedRecord::half_row;
  const auto begin = state.begins.find(key);
  if (begin == state.begins.end()) return DecodedRecord::impossible;
  slots[kAicoreEnd] = slots[kAicoreStart];
  slots[kAicoreStart] = begin->second;
  state.begins.erase(begin);
  return DecodedRecord::row;
}

std::uint64_t RecordLayout::records_after(std::span<const std::byte> header) const {
  if (!executions->count_type) return executions->records;
  ByteCursor cursor(header);
  return raw_value(cursor, *executions->count_type, executions->count_offset_bytes);
}

bool RecordLayout::has_whole_records(std::uint64_t file_bytes) const {
  if (file_bytes <= header_bytes) return false;
  const std::uint64_t rest = file_bytes - header_bytes;
  if (!executions) return rest % record_bytes == 0;
  if (executions->count_type) return rest > executions->header_bytes;
  std::uint64_t all = 0;
  return !__builtin_mul_overflow(executions->records, record_bytes, &all) &&
         !__builtin_add_overflow(all, executions->header_bytes, &all) && rest % all == 0;
}

const LayoutSet& LayoutSet::reference() {
  static const LayoutSet set = parse(kReference, "built-in");
  return set;
}

LayoutSet LayoutSet::parse(std::string_view text, const std::string& file) {
  json document;
  if (is_nested_deeper(text)) fail(file, "nested too deep");
  try {
    document = json::parse(text, nullptr, true, true);
  } catch (const json::parse_error& error) {
    fail(file, fmt::format("not JSON at byte {}", error.byte));
  } catch (const json::exception&) {
    fail(file, "not JSON: a number is out of range");
  }
  if (!document.is_object()) fail(file, "must be an object with aicore, aicpu or acl_api");
  LayoutSet set;
  try {
    for (const auto& [kind, object] : document.items()) {
      if (kind == "match") {
        set.match_ = parse_match(object, file);
        continue;
      }
      if (kind == "origin") {
        set.is_inferred_ = object == "inferred";
        if (!set.is_inferred_ && object != "described") {
          fail(file, "'origin' must be inferred or described");
        }
        continue;
      }
      if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) {
        if (kind.starts_with('_')) continue;  // remarks, for example from a template
        fail(file, fmt::format("unknown kind '{}'; valid: {}", kind, fmt::join(kKinds, ", ")));
      }
      set.layouts_[kind] = parse_layout(object, kind, file);
    }
  } catch (const json::exception& error) {
    fail(file, error.what());
  }
  return set;
}

const RecordLayout* LayoutSet::find(std::string_view kind) const {
  const auto at = layouts_.find(kind);
  return at == layouts_.end() ? nullptr : &at->second;
}

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
