// A PROF folder whose files a test damages, imported and exported in this process, and what is
// missing from its products then. For the CANN damage tests.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/import_report.hpp"
#include "support/files.hpp"
#include "support/prof/prof_run.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

inline const std::string kHost = "host/data/", kDevice = "device_0/data/";

// The rows of each product by what tells them apart; of api_statistic a text for each call.
using ProductKeys = std::map<std::string, std::multiset<std::string>>;

struct DamageOutcome {
  ImportReport report;
  ProductKeys keys;

  // Findings of partial data about `file`, relative to the capture; their counts added.
  std::int64_t damage_of(const std::string& file) const;
};

class DamagedCapture {
 public:
  // A run of 240 tasks with everything in it, imported once undamaged.
  explicit DamagedCapture(const prof::ProfSetup& setup = {});

  const std::filesystem::path& folder() const { return folder_; }
  const DamageOutcome& whole() const { return whole_; }
  // The bytes of a file, named from the capture.
  std::string bytes(const std::string& file) const { return read_file(folder_ / file); }

  // Imports and exports what is there now.
  DamageOutcome import() const;
  // With `file` replaced by `bytes` for that while.
  DamageOutcome import_with(const std::string& file, const std::string& bytes) const;
  // Without `file`.
  DamageOutcome import_without(const std::string& file) const;

  // How many rows of a product that the whole capture has are missing in `outcome`.
  std::size_t lost(const DamageOutcome& outcome, const std::string& product) const;
  // The greatest loss of all products, and how many rows there are that were not there before.
  std::size_t worst_loss(const DamageOutcome& outcome) const;
  std::size_t worst_surplus(const DamageOutcome& outcome) const;
  // "task_time lost 3, …" for messages.
  std::string losses(const DamageOutcome& outcome) const;

 private:
  TempFolder temp_;
  std::filesystem::path folder_;
  DamageOutcome whole_;
};

// A kind of fixed-size records: its first slice and where its fields begin.
struct RecordFile {
  std::string file;
  std::size_t size = 0;
  std::vector<std::size_t> fields;
  bool has_magic = true;
};
// Those of a run on a 910B; of one on a 910A or 310P those of the device, for the host's are alike.
std::vector<RecordFile> record_files(bool is_stars);

// `bytes` without `count` bytes at `at`, and with one more there.
std::string without(std::string bytes, std::size_t at, std::size_t count);
std::string with_extra(std::string bytes, std::size_t at);
// `bytes` with `patch` written over them at `at`.
std::string overwritten(std::string bytes, std::size_t at, std::string_view patch);

}  // namespace msprof::test
