// A PROF folder whose files a test damages, imported and exported in the test process, and the rows
// that its products lose. For the CANN damage tests.
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

// The identifying cells of each product's rows; for api_statistic, one text per call.
using ProductKeys = std::map<std::string, std::multiset<std::string>>;

struct DamageOutcome {
  ImportReport report;
  ProductKeys keys;

  // Total count of the partial-data findings about `file`, relative to the capture.
  std::int64_t count_damage(const std::string& file) const;
};

class DamagedCapture {
 public:
  // A run of 240 tasks with data of every kind, imported once undamaged.
  explicit DamagedCapture(const prof::ProfSetup& setup = {});

  const std::filesystem::path& folder() const { return folder_; }
  const DamageOutcome& whole() const { return whole_; }
  // The bytes of a file; `file` is relative to the capture.
  std::string bytes(const std::string& file) const { return read_file(folder_ / file); }

  // Imports and exports the current files.
  DamageOutcome import() const;
  // Imports with `file` temporarily replaced by `bytes`.
  DamageOutcome import_with(const std::string& file, const std::string& bytes) const;
  DamageOutcome import_without(const std::string& file) const;

  // The number of rows of a product in the undamaged capture that are missing in `outcome`.
  std::size_t lost(const DamageOutcome& outcome, const std::string& product) const;
  // The greatest loss among all products, and the greatest number of additional rows.
  std::size_t worst_loss(const DamageOutcome& outcome) const;
  std::size_t worst_surplus(const DamageOutcome& outcome) const;
  // "task_time lost 3, …" for messages.
  std::string losses(const DamageOutcome& outcome) const;

 private:
  TempFolder temp_;
  std::filesystem::path folder_;
  DamageOutcome whole_;
};

// A file of fixed-size records: its first slice and the offsets of the fields.
struct RecordFile {
  std::string file;
  std::size_t size = 0;
  std::vector<std::size_t> fields;
  bool has_magic = true;
};
// The record files of a 910B run; if not `is_stars`, the device files of a 910A or 310P run, whose
// host files are the same.
std::vector<RecordFile> record_files(bool is_stars);

// Returns `bytes` with `count` bytes removed at `at`, or with one byte inserted there.
std::string without(std::string bytes, std::size_t at, std::size_t count);
std::string with_extra(std::string bytes, std::size_t at);
// Returns `bytes` with `patch` written over them at `at`.
std::string overwritten(std::string bytes, std::size_t at, std::string_view patch);

}  // namespace msprof::test
