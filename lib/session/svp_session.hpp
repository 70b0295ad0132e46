// SvpSession represents a capture of an SVP board (a JOB folder). Source: svp_job.md 1, 2.1 to 2.3.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "session/session.hpp"
#include "session/svp_file_names.hpp"

namespace msprof {

// The JOB folder of an SVP board: parsed file names, and `.done` files paired with data files.
class SvpSession : public Session {
 public:
  // True if the folder has `data/` and either info.json.N or svp file names in `data/`. Only for
  // folders that no other dialect recognises.
  static bool recognises(const std::filesystem::path& folder, CaptureFolders& folders);
  // True if an info.json.N has the task scheduler's frequency, which only Ascend 310/910 write.
  static bool has_classic_info(const std::filesystem::path& folder, CaptureFolders& folders);

  explicit SvpSession(const std::filesystem::path& folder, CaptureFolders folders = {});

  std::string file_stem(const RawFile& file) const override;
  // Parsed name of one of raw_files().
  const svp::SvpFileName& parsed_name(const RawFile& file) const { return names_.at(file.name); }

 private:
  void add_info_json();
  void add_data_folder();
  void pair_short_names(std::map<std::string, DoneFile>& orphans);
  void report_orphans(const std::map<std::string, DoneFile>& orphans);

  std::map<std::string, svp::SvpFileName> names_;  // keyed by RawFile::name
};

}  // namespace msprof
