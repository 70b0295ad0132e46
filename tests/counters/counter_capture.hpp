// A PROF folder with system-counter files, imported and exported in the test process. Moments are
// in nanoseconds after the start of the collection, which is also when the device started.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "golden/cann_fixture.hpp"
#include "golden/timeline_file.hpp"
#include "import/import_report.hpp"
#include "support/prof/prof_folder.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

class CounterCapture {
 public:
  explicit CounterCapture(const prof::ProfSetup& setup = {});

  prof::ProfFolder& prof() { return *prof_; }
  const prof::ProfSetup& setup() const { return prof_->setup(); }
  // Appends bytes to a file. A device's file is given by its stem without device and slice
  // ("hbm.data"), the host's by its name. Empty bytes make an empty file.
  void device(std::string_view stem, std::string_view bytes, int number = 0);
  void host(std::string_view stem, std::string_view bytes);
  template <typename Record>
  void record(std::string_view stem, const Record& record, int number = 0) {
    device(stem, {reinterpret_cast<const char*>(&record), sizeof(record)}, number);
  }

  // Writes the files, imports them, and makes tables, timeline and database. Can be repeated after
  // adding more.
  void process();

  // "PARTIAL hbm: not in the expected format x2", in order of occurrence; only findings of `kind`
  // if it is given.
  Lines findings(std::string_view kind = {}) const;
  const ImportReport& report() const { return report_; }
  // The rows of a table as "a|b", and its header; empty if the table was not written.
  Lines table(std::string_view name) const;
  std::string header(std::string_view name) const;
  // The rows of a table as printed by `show`.
  Lines shown(std::string_view name) const;
  // Counter events of a process as "name|ts|args", its slices as "name|tid|ts|dur".
  Lines events(const std::string& process) const;
  TimelineFile timeline() const;
  // Rows of the store, and of the unified database: "a|b|NULL".
  Lines store(const std::string& sql) const;
  Lines unified(const std::string& sql) const;
  // Samples of a kind as "device|subject|counter|unit|begin|time|value", in the order read; times
  // are relative to the start, values are as stored.
  Lines samples(std::string_view kind) const;

 private:
  TempFolder temp_;
  std::unique_ptr<prof::ProfFolder> prof_;
  std::filesystem::path made_;
  std::vector<std::filesystem::path> empty_files_;  // not written by ProfFolder
  ImportReport report_;
};

// The event for a counter with one value, in the form of events().
std::string counter_event(std::string_view name, std::int64_t ns, std::string_view key,
                          std::string_view value);

// The moment as printed in products: 1'234 ns is "1700000000000001.234".
std::string at(std::int64_t ns);

}  // namespace msprof::test
