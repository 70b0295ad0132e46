// Parses the file names of a capture of an SVP board (a JOB folder), in all spellings of three
// board generations. Numbers are parsed from the right because a model name may contain dots and
// end in
// ".5". Source: svp_job.md 2.1 to 2.3.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace msprof::svp {

enum class SvpFileKind {
  info_json,
  net_info,
  layer_info,
  aicore,
  aicpu,
  acl_api,
  cont,
  short_data,
  other
};

// Returns the name used in reports: "aicore", "net.info".
std::string_view kind_name(SvpFileKind kind);

struct SvpFileName {
  SvpFileKind kind = SvpFileKind::other;
  SvpFileKind data_kind = SvpFileKind::other;  // in a short name: aicore or aicpu
  std::int64_t device = 0;
  std::string model;
  std::int64_t model_id = 0;
  std::optional<std::int64_t> net;  // segment; only in names of the oldest generation
  std::int64_t batch_num = 0;
  std::int64_t input_pic_num = 0;
  std::int64_t current_pic_count = 0;
  bool is_ambiguous = false;  // can be read with or without `net`; unknown which is right
  std::pair<std::int64_t, std::int64_t> short_numbers{0, 0};  // the two numbers of a short name

  // Keys of files: equal for files of one model; equal for files of one capture of a model.
  auto model_key() const { return std::tie(device, model, model_id); }
  auto capture_key() const {
    return std::tie(device, model, model_id, current_pic_count, batch_num, input_pic_num);
  }
};

// Models that have a "<model>.<model_id>.net.info" file.
using KnownModels = std::set<std::pair<std::string, std::int64_t>>;

// Parses a name in `data/`, without ".done".
SvpFileName parse_data_name(std::string_view name, const KnownModels& known);

// Parses "<model>.<model_id>" in the name of a net.info or layer.info file.
std::optional<SvpFileName> parse_info_name(std::string_view name);

// Parses N of "info.json.N".
std::optional<std::int64_t> parse_info_json_name(std::string_view name);

// True if a data file with a short name can belong to a `.done` file with a long name.
bool short_name_fits(const SvpFileName& short_name, const SvpFileName& long_name);

}  // namespace msprof::svp
