// User SQL: it can only read, within limits, and errors are reported as messages.
#include <catch2/catch.hpp>

#include "query/query_db.hpp"
#include "store/trace_db_writer.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/lines.hpp"
#include "support/temp_folder.hpp"

namespace msprof {
using msprof::test::contains;

namespace {

struct Asked {
  test::TempFolder folder;
  std::filesystem::path path = folder.path() / "msprof.db";
  std::unique_ptr<QueryDb> db;

  Asked() {
    {
      TraceDbWriter store(path);
      store.name_id("conv1");
      store.name_id("relu");
      store.publish();
    }
    db = std::make_unique<QueryDb>(*TraceDb::open(path));
  }

  // All rows of `sql`, with cells joined by '|' and rows by newlines.
  std::string rows(const std::string& sql) const {
    std::string text;
    for (Statement read = db->ask(sql); read.step();) {
      for (int i = 0; i < read.column_count(); ++i) {
        text += (i > 0 ? "|" : "") + std::string(read.text(i));
      }
      text += '\n';
    }
    return text;
  }

  // Returns the error message for `sql`.
  std::string refusal(const std::string& sql) const {
    try {
      rows(sql);
    } catch (const Error& error) {
      CHECK(error.code() == Exit::usage);
      return error.what();
    }
    FAIL("was taken: " << sql);
    return {};
  }
};

TEST_CASE("User SQL can read tables, views, recursive queries and function results") {
  const Asked asked;
  CHECK(asked.rows("SELECT id, text FROM name ORDER BY id;  -- all") == "1|conv1\n2|relu\n");
  CHECK(asked.rows("SELECT count(*) FROM v_ops") == "0\n");
  CHECK(asked.rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3)"
                   " SELECT total(i), upper('a') FROM n") == "6.0|A\n");
  CHECK(asked.rows("WITH x AS (SELECT 1) SELECT count(*) FROM x") == "1\n");
  CHECK(asked.rows("SELECT value FROM json_each('[5,6]')") == "5\n6\n");
  CHECK(contains(asked.rows("EXPLAIN QUERY PLAN SELECT * FROM name"), "SCAN name"));
}

TEST_CASE("User SQL cannot write, access other files or change the connection") {
  const Asked asked;
  const std::string before = test::read_file(asked.path);
  const std::string other = (asked.folder.path() / "other.db").string();
  for (const std::string& sql : {std::string("DELETE FROM name"),
                                 std::string("INSERT INTO name VALUES(9, 'x')"),
                                 std::string("UPDATE name SET text = 'x' RETURNING *"),
                                 std::string("DROP TABLE name"),
                                 std::string("CREATE TABLE t(x)"),
                                 std::string("CREATE TEMP TABLE t(x)"),
                                 std::string("CREATE TEMP VIEW w AS SELECT 1"),
                                 std::string("DROP VIEW v_ops"),
                                 std::string("CREATE VIRTUAL TABLE temp.f USING fts5(x)"),
                                 std::string("BEGIN"),
                                 std::string("SAVEPOINT s"),
                                 std::string("COMMIT"),
                                 std::string("VACUUM"),
                                 "VACUUM INTO '" + other + "'",
                                 "ATTACH '" + other + "' AS other",
                                 std::string("DETACH temp"),
                                 std::string("PRAGMA trusted_schema = ON"),
                                 std::string("PRAGMA writable_schema"),
                                 std::string("SELECT * FROM pragma_database_list"),
                                 std::string("SELECT * FROM pragma_table_info('name')"),
                                 std::string("REINDEX"),
                                 std::string("ANALYZE"),
                                 std::string("SELECT load_extension('x')"),
                                 std::string("SELECT fts3_tokenizer('simple')"),
                                 std::string("SELECT readfile('x')"),
                                 std::string("SELECT rtreecheck('name')"),
                                 std::string("SELECT * FROM dbstat"),
                                 std::string("WITH x AS (SELECT 1) DELETE FROM name"),
                                 std::string("ALTER TABLE name RENAME TO n")}) {
    INFO(sql);
    CHECK_FALSE(asked.refusal(sql).empty());
  }
  CHECK(test::read_file(asked.path) == before);
  CHECK_FALSE(std::filesystem::exists(other));
  CHECK(asked.rows("SELECT count(*) FROM name") == "2\n");
}

TEST_CASE("Mistakes in user SQL are reported with their position and similar names") {
  const Asked asked;
  CHECK(contains(asked.refusal("SELECT * FORM name"), "at 'FORM name' (character 10)"));
  CHECK(contains(asked.refusal("SELECT * FROM v_opps"), "did you mean v_ops?"));
  CHECK(contains(asked.refusal("SELECT * FROM ops"), "v_ops"));
  CHECK(contains(asked.refusal("SELECT naem FROM v_ops"), "did you mean name"));
  CHECK(contains(asked.refusal("SELECT o.totalus FROM v_ops o"), "did you mean total_us?"));
  CHECK(contains(asked.refusal("SELECT * FROM name WHERE text = \"conv1\""),
                 "strings need single quotes"));
  CHECK(contains(asked.refusal("SELECT 1; SELECT 2"), "only one statement is allowed"));
  CHECK(contains(asked.refusal("SELECT 1;; DELETE FROM name"), "only read"));
  CHECK(contains(asked.refusal("  -- nothing"), "no SQL"));
  CHECK(contains(asked.refusal(""), "no SQL"));
  CHECK(contains(asked.refusal(std::string("SELECT 1\0", 9)), "zero byte"));
  CHECK(contains(asked.refusal("SELECT sum(9223372036854775807) FROM name"), "total()"));
}

TEST_CASE("User SQL without end or with unbounded memory stops with an error message") {
  Asked asked;
  // A long grace period: msprof ends the process after it, and a busy machine may pause for
  // seconds.
  asked.db->limit_time(0.2, "--timeout", test::kAmpleSeconds);
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
  CHECK(contains(asked.refusal(endless + "count(*) FROM n"),
                 "longer than 0.2 s; raise the limit with --timeout"));
  CHECK(contains(asked.refusal(endless + "i FROM n"), "longer than 0.2 s"));
  // The following queries are limited only by size.
  asked.db->limit_time(0, "");
  const std::string rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n";
  for (const std::string& sql :
       {std::string("SELECT randomblob(1000000000)"), std::string("SELECT zeroblob(1000000000)"),
        std::string("SELECT replace(hex(zeroblob(4000000)), '00', 'abcdefgh')"),
        rows + " WHERE i < 300) SELECT group_concat(hex(zeroblob(50000))) FROM n"}) {
    INFO(sql);
    CHECK(contains(asked.refusal(sql), "larger than"));
  }
  std::string many = "SELECT zeroblob(16000000) || ''";
  for (int i = 0; i < 60; ++i) many += ", zeroblob(16000000) || ''";
  CHECK(contains(asked.refusal(many), "memory"));
  std::string deep = "SELECT 1";
  for (int i = 0; i < 300; ++i) deep += " + 1";
  CHECK(contains(asked.refusal(deep), "too large"));
  CHECK(contains(asked.refusal("SELECT '" + std::string(200'000, 'x') + "'"), "longer than"));
  // The connection is still usable.
  CHECK(asked.rows("SELECT count(*) FROM name") == "2\n");
}

TEST_CASE("Our own SQL has no time limit, but the same restrictions") {
  Asked asked;
  asked.db->limit_time(0.001, "");
  Statement slow = asked.db->prepare(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
      " SELECT count(*) FROM n");
  REQUIRE(slow.step());
  CHECK(slow.integer(0) == 200000);
  CHECK_THROWS_AS(asked.db->prepare("DELETE FROM name"), Error);
}

}  // namespace
}  // namespace msprof
