// Captures of CANN 5 and of 2019 to 2021, imported and exported in the test process; products are
// compared cell by cell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "golden/csv_table.hpp"
#include "import/import_report.hpp"
#include "old/old_records.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

// A capture that the constructor imports into a temporary folder.
class OldCapture {
 public:
  explicit OldCapture(const std::filesystem::path& folder);

  const ImportReport& report() const { return report_; }
  std::filesystem::path store() const;
  // The table of the whole capture, or of an iteration, in the style of CANN 5 or earlier. Throws
  // if there is none.
  CsvTable table(const std::string& name, std::optional<std::int64_t> model = {},
                 std::optional<std::int64_t> iteration = {}) const;
  std::vector<std::string> rows(const std::string& sql) const { return query(store(), sql); }
  // Findings of partial data: "kind: reason, …".
  std::string damage() const;

 private:
  TempFolder temp_;
  ImportReport report_;
};

// "equal", or the first cells that differ. Numbers may differ by up to 0.001, waiting times by
// 0.02.
std::string differences(const CsvTable& expected, const CsvTable& actual);

}  // namespace msprof::test
