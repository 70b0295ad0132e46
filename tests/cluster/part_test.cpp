// Rank summaries as files: rows are read back as written, and incomplete files are rejected.
#include "cluster/part.hpp"

#include <catch2/catch.hpp>

#include <bit>

#include "cluster/part_files.hpp"
#include "store/row_cursor.hpp"
#include "support/ranks/rank_part_file.hpp"
#include "support/temp_folder.hpp"

namespace msprof::cluster {

namespace {

namespace fs = std::filesystem;
using test::TempFolder;

const std::vector<std::string> kPartNames = {"a", "b", "op"};

// A row whose cells are all different, except the id.
template <typename Row>
Row counted_row(std::int64_t from) {
  std::array<std::int64_t, Row::kColumns.size()> cells;
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = from + static_cast<std::int64_t>(i);
  return std::bit_cast<Row>(cells);
}

template <typename Row>
bool same_cells(const Row& a, const Row& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <typename... Row>
void add_two_of_each(PartWriter& part, std::tuple<Row...>*) {
  const auto add = [&part](auto first, auto second) {
    part.add(first);
    part.add(second);
  };
  (add(counted_row<Row>(-3), counted_row<Row>(INT64_MAX - 100)), ...);
}

template <typename Row>
bool has_both(const Database& db) {
  RowCursor<Row> rows(db);
  Row first = counted_row<Row>(-3);
  Row second = counted_row<Row>(INT64_MAX - 100);
  first.id = 1;
  second.id = 2;
  return rows.next() && same_cells(*rows, first) && rows.next() && same_cells(*rows, second) &&
         !rows.next();
}

template <typename... Row>
bool has_two_of_each(const Database& db, std::tuple<Row...>*) {
  return (has_both<Row>(db) && ...);
}

OpTotal some_operator() {
  OpTotal total;
  total.name_id = 3;
  total.add(INT64_MAX, 2);
  total.add(7, 1);
  return total;
}

fs::path written_part(const fs::path& path, const PartFacts& facts = {}) {
  PartWriter part(path, kPartNames);
  add_two_of_each(part, static_cast<PartRows*>(nullptr));
  part.add(some_operator());
  part.publish(facts);
  return path;
}

// Returns the reason why a file is rejected as a rank summary; empty if it is accepted.
std::string read_refusal(const fs::path& path) {
  try {
    const Part part = Part::open(path);
    part.names();
    part.members();
    OpTotals totals(part);
    while (totals.next()) {
    }
    return {};
  } catch (const Error& error) {
    CHECK(error.code() == Exit::partial_data);
    return error.what();
  }
}

bool is_refused(const fs::path& path, const std::string& why) {
  const std::string refusal = read_refusal(path);
  INFO(refusal);
  CHECK(refusal.find(path.string()) == 0);
  return refusal.find(why) != std::string::npos;
}

}  // namespace

TEST_CASE("a part gives back every cell of every table") {
  const TempFolder folder;
  const Part part = Part::open(written_part(folder / "a.part", {false, "0-7"}));
  CHECK(has_two_of_each(part.db(), static_cast<PartRows*>(nullptr)));
  CHECK(part.names() == kPartNames);
  CHECK(part.members().size() == 2);
  CHECK_FALSE(part.facts().has_detail);
  CHECK(part.facts().expected_ranks == "0-7");
  OpTotals totals(part);
  REQUIRE(totals.next());
  CHECK(totals->name_id == 3);
  CHECK(totals->type_name_id == kNull);
  CHECK(totals->count == 2);
  CHECK(totals->duration_ns == INT64_MAX);  // adding 7 more would overflow
  CHECK(totals->square_sum == static_cast<uint128>(INT64_MAX) * INT64_MAX + 49);
  CHECK(std::pair(totals->shortest_ns, totals->shortest_member) == std::pair(7l, 1l));
  CHECK(std::pair(totals->longest_ns, totals->longest_member) == std::pair(INT64_MAX, 2l));
  CHECK(totals->histogram.bins() == some_operator().histogram.bins());
  CHECK_FALSE(totals.next());
}

TEST_CASE("texts of a part are found by index, and indices by text") {
  std::vector<std::string> texts;
  for (int count = 0; count < 70; ++count) {
    const PartTexts all = texts;
    REQUIRE(all.size() == texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CHECK(all[i] == texts[i]);
      CHECK(all.find_index(texts[i]) == i);
    }
    texts.push_back(std::string(static_cast<std::size_t>(count / 26), 'z') +
                    static_cast<char>('a' + count % 26));
  }
}

TEST_CASE("an empty part is valid and has all tables") {
  const TempFolder folder;
  PartWriter(folder / "empty.part", {}).publish({});
  const Part part = Part::open(folder / "empty.part");
  CHECK(part.names().size() == 0);
  CHECK(part.members().empty());
  CHECK(part.facts().has_detail);
  for (const std::string& table : test::part_table_names())
    CHECK_NOTHROW(part.db().prepare("SELECT * FROM " + table));
}

TEST_CASE("equal rows give equal bytes, and the checksum is the file's CRC-32") {
  const TempFolder folder;
  const std::string bytes = test::read_file(written_part(folder / "a.part"));
  CHECK(bytes == test::read_file(written_part(folder / "b.part")));
  CHECK(bytes != test::read_file(written_part(folder / "c.part", {true, "0-1"})));
  CHECK(test::seal_in(bytes) == test::compute_seal(bytes));
}

TEST_CASE("a cell holds an integer, a text or nothing: no part has a double") {
  const TempFolder folder;
  test::ranks::write_rank_part_file(folder / "a.part", test::ranks::ClusterRun({}), 3);
  for (const std::string& table : test::part_table_names()) {
    const auto columns =
        test::query(folder / "a.part", "SELECT name FROM pragma_table_info('" + table + "')");
    REQUIRE(!columns.empty());
    for (const std::string& column : columns) {
      INFO(table << "." << column);
      CHECK(test::query(folder / "a.part",
                        "SELECT count(*) FROM " + table + " WHERE typeof(" + column + ") = 'real'")
                .front() == "0");
    }
  }
}

TEST_CASE("a changed byte anywhere is detected before reading rows") {
  const TempFolder folder;
  const std::string bytes = test::read_file(written_part(folder / "good.part"));
  const fs::path path = folder / "damaged.part";
  // Tests every byte of the header, then every 61st byte.
  for (std::size_t at = 0; at < bytes.size(); at += at < 100 ? 1 : 61) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    test::write_file(path, damaged);
    INFO("byte " << at);
    const bool is_other_file = at < 16 || (at >= 68 && at < 72);
    CHECK(is_refused(path, is_other_file ? "is not a rank summary" : "checksum"));
  }
}

TEST_CASE("a truncated part is refused wherever it ends") {
  const TempFolder folder;
  const std::string bytes = test::read_file(written_part(folder / "good.part"));
  const fs::path path = folder / "cut.part";
  for (std::size_t size = 0; size < bytes.size(); size += size < 200 ? 50 : 4001) {
    test::write_file(path, std::string_view(bytes).substr(0, size));
    INFO(size << " bytes");
    CHECK(is_refused(path, size < 100 ? "is not a rank summary" : "checksum"));
    CHECK(is_part(path) == (size >= 100));
  }
  test::write_file(path, bytes + '\0');
  CHECK(is_refused(path, "checksum"));
}

TEST_CASE("other files are distinguished from parts") {
  const TempFolder folder;
  CHECK(is_refused(folder / "nowhere", "does not exist"));
  CHECK(is_refused(folder.path(), "is not a rank summary"));
  test::write_file(folder / "text", std::string(4096, 'x'));
  CHECK(is_refused(folder / "text", "is not a rank summary"));
  test::write_file(folder / "other.db", "");
  test::query(folder / "other.db", "CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT)");
  CHECK(is_refused(folder / "other.db", "is not a rank summary"));
  for (const char* name : {"nowhere", "", "text", "other.db"}) CHECK_FALSE(is_part(folder / name));
  CHECK(is_part(written_part(folder / "a.part")));
}

TEST_CASE("a part of another version is refused with a remedy") {
  const TempFolder folder;
  const fs::path path = written_part(folder / "a.part");
  test::change_part(path, "UPDATE meta SET value = '999' WHERE key = 'version'");
  CHECK(is_refused(path,
                   "is a rank summary of version 999, but this msprof reads version 1: create it "
                   "again with `msprof rank`"));
  test::change_part(path, "UPDATE meta SET value = char(27) || '[31m' WHERE key = 'version'");
  CHECK(read_refusal(path).find('\x1b') == std::string::npos);
  test::change_part(path, "DELETE FROM meta");
  CHECK(is_refused(path, "version unknown"));
  test::change_part(path, "DROP TABLE meta");
  CHECK(is_refused(path, "version unknown"));
}

TEST_CASE("a part with other tables is refused, whatever its checksum") {
  const TempFolder folder;
  for (const char* sql :
       {"DROP TABLE link", "CREATE TABLE more (id)", "ALTER TABLE link ADD COLUMN more",
        "DROP TABLE packet; CREATE VIEW packet AS SELECT * FROM link",
        "CREATE TRIGGER t AFTER INSERT ON link BEGIN DELETE FROM link; END"}) {
    const fs::path path = written_part(folder / "a.part");
    test::change_part(path, sql);
    INFO(sql);
    CHECK(is_refused(path, "does not have the tables of a rank summary"));
  }
}

TEST_CASE("a part whose rows contradict each other is damaged") {
  const TempFolder folder;
  const std::pair<const char*, const char*> changes[] = {
      {"UPDATE name SET text = 'zz' WHERE id = 1", "its texts are not in order"},
      {"UPDATE name SET text = 'a' WHERE id = 2", "its texts are not in order"},
      {"DELETE FROM name WHERE id = 2", "its texts are not in order"},
      {"UPDATE member SET id = 9 WHERE id = 1", "its ranks are not in order"},
      {"UPDATE op_total SET bins = x'80'", "the durations of an operator are invalid"},
      {"UPDATE op_total SET bins = 5.5", "the durations of an operator are invalid"}};
  for (const auto& [sql, why] : changes) {
    const fs::path path = written_part(folder / "a.part");
    test::change_part(path, sql);
    INFO(sql);
    CHECK(is_refused(path, why));
  }
}

TEST_CASE("an unpublished part leaves no file, and the previous one is kept") {
  const TempFolder folder;
  const std::string before = test::read_file(written_part(folder / "a.part"));
  {
    PartWriter part(folder / "a.part", kPartNames);
    part.add(MemberRow());
  }
  CHECK(test::names_in(folder.path()) == std::vector<std::string>{"a.part"});
  CHECK(test::read_file(folder / "a.part") == before);
  PartWriter(folder / "a.part", {}).publish({});
  CHECK(test::names_in(folder.path()) == std::vector<std::string>{"a.part"});
  CHECK(test::read_file(folder / "a.part") != before);
}

}  // namespace msprof::cluster
