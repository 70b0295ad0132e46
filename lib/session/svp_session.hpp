// SvpSession: the JOB folder of an SVP board: its files with their names read, `.done` files with
// their data, captures numbered. For import/svp.
#pragma once

#include <map>
#include <vector>

#include "session/session.hpp"
#include "session/svp_names.hpp"

namespace msprof {

class SvpSession : public Session {
 public:
  // By content: `data/` with svp names or info.json.N, and nothing that only other dialects have.
  static bool recognises(const std::filesystem::path& folder);
  // An info.json.N of Ascend 310/910 gives the frequency of the task scheduler.
  static bool has_classic_info(const std::filesystem::path& folder);

  explicit SvpSession(const std::filesystem::path& folder);

  std::string stem_of(const RawFile& file) const override;
  // What the name of a file of raw_files() says.
  const svp::FileName& name_of(const RawFile& file) const { return names_.at(file.name); }

 private:
  void add_info_json();
  void add_data_folder();
  void pair_short_names(std::map<std::string, DoneFile>& orphans);
  void report_orphans(const std::map<std::string, DoneFile>& orphans);

  std::map<std::string, svp::FileName> names_;  // by RawFile::name
};

}  // namespace msprof
