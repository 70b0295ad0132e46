// A PROF folder with files of system counters, imported and exported in the test's own process.
// Moments are nanoseconds after the begin of the collection, which is also when the device started.
// For the tests of counters.
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
  // Bytes behind the others of a stem without device and slice: "hbm.data"; for the host as it is.
  // Without any the file is there, and empty.
  void device(std::string_view stem, std::string_view bytes, int number = 0);
  void host(std::string_view stem, std::string_view bytes);
  template <typename Record>
  void record(std::string_view stem, const Record& record, int number = 0) {
    device(stem, {reinterpret_cast<const char*>(&record), sizeof(record)}, number);
  }

  // Writes what was built, imports it, and makes tables, timeline and database. Again after more.
  void process();

  // "PARTIAL hbm: not in the expected form x2", in the order in which they came; of what a kind of
  // another name says nothing, where one is given.
  Lines findings(std::string_view kind = {}) const;
  const ImportReport& report() const { return report_; }
  // The rows of a table, all its cells as "a|b", and its header; of one that was not written
  // nothing.
  Lines table(std::string_view name) const;
  std::string header(std::string_view name) const;
  // The rows of a table that `show` has.
  Lines shown(std::string_view name) const;
  // "name|ts|args" of the counter events of a process, and of its slices "name|tid|ts|dur".
  Lines events(const std::string& process) const;
  TimelineFile timeline() const;
  // Rows of the store, and of the unified database: "a|b|NULL".
  Lines store(const std::string& sql) const;
  Lines unified(const std::string& sql) const;
  // "device|subject|counter|unit|begin|time|value" of a kind, in the order of reading: times after
  // the begin, the value as it is stored.
  Lines samples(std::string_view kind) const;

 private:
  TempFolder temp_;
  std::unique_ptr<prof::ProfFolder> prof_;
  std::filesystem::path made_;
  std::vector<std::filesystem::path> empty_files_;  // which the builder of folders leaves away
  ImportReport report_;
};

// What events() has for a counter with one value.
std::string counter_event(std::string_view name, std::int64_t ns, std::string_view key,
                          std::string_view value);

// 1'234 ns as "1700000000000001.234": as products print the moment.
std::string at(std::int64_t ns);

}  // namespace msprof::test
