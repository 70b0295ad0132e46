// Capture of an SVP board: SvpSession, its JOB folder, and the fields of the file names in it, of
// three board generations and in all spellings. For import/svp. The numbers are read from the right
// because a model name may hold dots and end in ".5". Source: svp_job.md 1, 2.1 to 2.3.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "session/session.hpp"

namespace msprof::svp {

enum class FileKind {
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

// The words used in reports: "aicore", "net.info".
std::string_view kind_name(FileKind kind);

struct FileName {
  FileKind kind = FileKind::other;
  FileKind data_kind = FileKind::other;  // of a short name: aicore or aicpu
  std::int64_t device = 0;
  std::string model;
  std::int64_t model_id = 0;
  std::optional<std::int64_t> net;  // segment; only the oldest generation writes it
  std::int64_t batch_num = 0;
  std::int64_t input_pic_num = 0;
  std::int64_t current_pic_count = 0;
  bool ambiguous = false;                                     // two readings, nothing decided
  std::pair<std::int64_t, std::int64_t> short_numbers{0, 0};  // of a short name

  // Files of one model; files of one capture of a model.
  auto model_key() const { return std::tie(device, model, model_id); }
  auto capture_key() const {
    return std::tie(device, model, model_id, current_pic_count, batch_num, input_pic_num);
  }
};

// Models known from "<model>.<model_id>.net.info" files.
using KnownModels = std::set<std::pair<std::string, std::int64_t>>;

// Reads a name in `data/`, without ".done".
FileName parse_data_name(std::string_view name, const KnownModels& known);

// "<model>.<model_id>" of a net.info or layer.info name.
std::optional<FileName> parse_info_name(std::string_view name);

// N of "info.json.N".
std::optional<std::int64_t> parse_info_json_name(std::string_view name);

// True if a short data name can belong to the long name of a `.done`.
bool short_name_fits(const FileName& short_name, const FileName& long_name);

}  // namespace msprof::svp

namespace msprof {

// The JOB folder of an SVP board: its files with their names read, `.done` files with their data,
// captures numbered.
class SvpSession : public Session {
 public:
  // Recognizes it by content: `data/` with svp names or info.json.N, in a folder that is of no
  // other dialect.
  static bool recognises(const std::filesystem::path& folder, CaptureFolders& folders);
  // An info.json.N of Ascend 310/910 gives the frequency of the task scheduler.
  static bool has_classic_info(const std::filesystem::path& folder, CaptureFolders& folders);

  explicit SvpSession(const std::filesystem::path& folder, CaptureFolders folders = {});

  std::string stem_of(const RawFile& file) const override;
  // Fields in the name of a file of raw_files().
  const svp::FileName& name_of(const RawFile& file) const { return names_.at(file.name); }

 private:
  void add_info_json();
  void add_data_folder();
  void pair_short_names(std::map<std::string, DoneFile>& orphans);
  void report_orphans(const std::map<std::string, DoneFile>& orphans);

  std::map<std::string, svp::FileName> names_;  // by RawFile::name
};

}  // namespace msprof
