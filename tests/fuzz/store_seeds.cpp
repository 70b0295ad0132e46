#include <string>

#include "seeds.hpp"
#include "store/trace_db.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

namespace msprof::fuzz {

// Tables with one level, with two, and with a row that continues on overflow pages. Omits the other
// tables of a store, which would be empty, and uses small pages.
std::vector<std::string> stores() {
  const test::TempFolder folder;
  std::vector<std::string> bytes;
  for (const int rows : {3, 120, 600}) {
    const auto path = folder / std::to_string(rows);
    Database::create(path, 512).execute(
        create_statement(make_table<DeviceRow>()) + ";" +
        create_statement(make_table<MemcpyTaskRow>()) +
        ";WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
        std::to_string(rows) +
        ") INSERT INTO device(id, chip_name_id, frequency_hz) SELECT i, i * i * i, nullif(i % 7, "
        "0) FROM n;" +
        "INSERT INTO memcpy_task VALUES(-5, hex(zeroblob(600)), 1.5), (7, NULL, 1), (8, 1, -1)");
    bytes.push_back(test::read_file(path));
  }
  return bytes;
}

}  // namespace msprof::fuzz
