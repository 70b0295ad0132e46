// A hand-filled CANN store, and its tables as bytes. For the tests of the CANN exports.
#pragma once

#include <map>
#include <string>

#include "derive/passes.hpp"
#include "derive/task_sums.hpp"
#include "export/exporter.hpp"
#include "store/trace_db.hpp"
#include "store/trace_db_writer.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

// The collection starts at 1 s.
class CannStore {
 public:
  static constexpr std::int64_t kBeginNs = 1'000'000'000;

  CannStore() : writer_(folder_ / "msprof.db") {
    writer_.set_meta("dialect", "cann");
    writer_.set_meta("time_stamp", "20240515160507");
    writer_.set_meta("window.begin_ns", std::to_string(kBeginNs));
  }

  std::int64_t name(std::string_view text) { return writer_.name_id(text); }
  template <typename Row>
  void add(const Row& row) {
    writer_.add(row);
  }
  void set_meta(std::string_view key, std::string_view value) { writer_.set_meta(key, value); }

  // Derives the marks of the rows, as import does; timelines need them. Call before db().
  void add_marks() {
    OpTimes op_times;
    derive_marks(writer_, sum_tasks(writer_, op_times));
  }
  bool is_filled() const { return db_.has_value(); }

  // Finishes filling; nothing can be added afterwards.
  const TraceDb& db() {
    if (!db_) {
      writer_.publish();
      db_ = TraceDb::open(folder_ / "msprof.db");
    }
    return *db_;
  }

  // Contents of all files of the named tables, by file name.
  std::map<std::string, std::string> files(const std::vector<std::string>& names,
                                           SummaryFormat format = SummaryFormat::csv) {
    std::map<std::string, std::string> files;
    for (const ExportedFile& file :
         export_summaries(db(), folder_ / "out", {.format = format, .names = names})) {
      files[file.path.filename().string()] = read_file(file.path);
    }
    return files;
  }

  // Content of the table's only file without its header; empty if there is no file.
  std::string rows(const std::string& table) {
    const auto all = files({table});
    if (all.empty()) return "";
    const std::string& bytes = all.at(table + "_20240515160507.csv");
    return bytes.substr(bytes.find('\n') + 1);
  }
  std::string header(const std::string& table) {
    const std::string bytes = files({table}).at(table + "_20240515160507.csv");
    return bytes.substr(0, bytes.find('\n'));
  }

  const TempFolder& folder() const { return folder_; }
  std::filesystem::path products() const { return folder_ / "out" / "mindstudio_profiler_output"; }

 private:
  TempFolder folder_;
  TraceDbWriter writer_;
  std::optional<TraceDb> db_;
};

inline constexpr std::int64_t kSecond = CannStore::kBeginNs;

}  // namespace msprof::test
