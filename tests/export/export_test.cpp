// The writers of the products, and the choice of the step to show.
#include <csignal>

#include <atomic>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analyze/overview.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/json_text.hpp"
#include "base/vendor_real.hpp"
#include "export/exporter.hpp"
#include "export/table/table_writers.hpp"
#include "export/trace/trace_json_writer.hpp"
#include "import/import_report.hpp"
#include "support/cann_store.hpp"
#include "support/files.hpp"
#include "support/signals_as_before.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

const std::vector<std::string> kColumns = {"Name", "Time(us)"};

template <typename Writer>
std::string written(const std::function<void(Writer&)>& fill) {
  const TempFolder folder;
  AtomicFile file(folder / "out");
  Writer writer(file);
  fill(writer);
  file.commit();
  return read_file(folder / "out");
}

std::string written_trace(const std::function<void(TraceJsonWriter&)>& fill) {
  const TempFolder folder;
  AtomicFile file(folder / "out");
  PlainSink sink(file);
  TraceJsonWriter writer(sink);
  fill(writer);
  file.commit();
  return read_file(folder / "out");
}

void fill_table(RowSink& out, const std::vector<std::string>& names) {
  out.begin(kColumns);
  RowBuilder row(out);
  for (const auto& name : names) {
    row.text(name);
    row.number(std::string_view("1.500"));
    row.end_row();
  }
  out.end();
}

StepInfo make_step(std::optional<std::int64_t> busy_ns, std::optional<std::int64_t> executions) {
  StepInfo step;
  step.busy_ns = busy_ns;
  step.execution_count = executions;
  return step;
}

}  // namespace

TEST_CASE("CSV cells are quoted only if necessary") {
  const auto csv = [](const std::vector<std::string>& names) {
    return written<CsvWriter>([&](CsvWriter& out) { fill_table(out, names); });
  };
  CHECK(csv({}) == "Name,Time(us)\n");
  CHECK(csv({"plain", "a,b", "say \"x\"", "two\nlines", "cr\r", " blank ", ""}) ==
        "Name,Time(us)\nplain,1.500\n\"a,b\",1.500\n\"say \"\"x\"\"\",1.500\n\"two\nlines\",1.500\n"
        "\"cr\r\",1.500\n blank ,1.500\n,1.500\n");
}

TEST_CASE("CSV texts have any length, valid or not") {
  for (const std::size_t size :
       std::vector<std::size_t>{0, 1, 1350, 1364, 1365, 2000, 4095, 4096, 70'000}) {
    const std::string plain(size, 'a'), quotes(size, '"'), invalid(size, '\xFF');
    std::string repaired;
    for (std::size_t i = 0; i < size; ++i) repaired += "\xEF\xBF\xBD";
    const std::string quoted = size == 0 ? "" : "\"" + quotes + quotes + "\"";
    const std::string csv = written<CsvWriter>([&](CsvWriter& out) {
      RowBuilder row(out);
      for (const std::string& text : {plain, quotes, invalid, "," + invalid}) row.text(text);
      row.end_row();
    });
    CHECK((csv == plain + "," + quoted + "," + repaired + ",\"," + repaired + "\"\n"));
  }
}

TEST_CASE("CSV numbers have any number of digits") {
  const std::string csv = written<CsvWriter>([](CsvWriter& out) {
    RowBuilder row(out);
    for (int i = 0; i < 20; ++i) row.real(-1e308, CellForm::fixed3);
    row.end_row();
  });
  std::string number;
  append_fixed3(number, -1e308);
  std::string expected = number;
  for (int i = 1; i < 20; ++i) expected += "," + number;
  CHECK(csv == expected + "\n");
}

TEST_CASE("a CSV with a byte order mark has one in each slice") {
  MemoryOutput first, second;
  CsvWriter out(first);
  out.write_for_excel();
  out.slice(1, [&]() -> TextOutput& { return second; });
  fill_table(out, {"a", "b"});
  CHECK(first.buffer() == "\xEF\xBB\xBFName,Time(us)\na,1.500\n");
  CHECK(second.buffer() == "\xEF\xBB\xBFName,Time(us)\nb,1.500\n");
}

TEST_CASE("a CSV for Excel has an apostrophe before texts that look like formulas") {
  const auto csv = [](bool excel) {
    return written<CsvWriter>([&](CsvWriter& out) {
      if (excel) out.write_for_excel();
      out.begin(std::vector<std::string>{"=h", "n"});
      RowBuilder row(out);
      for (const char* text :
           {"=1+1", "+a", "-b", "@c", "\td", "\re", "a=1", "'x", "-", "=\"q\",2"}) {
        row.text(text);
        row.number(std::int64_t{-5});
        row.end_row();
      }
      out.end();
    });
  };
  CHECK(csv(true) ==
        "\xEF\xBB\xBF'=h,n\n'=1+1,-5\n'+a,-5\n'-b,-5\n'@c,-5\n'\td,-5\n\"'\re\",-5\na=1,-5\n'x,-"
        "5\n-,-5\n"
        "\"'=\"\"q\"\",2\",-5\n");
  CHECK(csv(false).starts_with("=h,n\n=1+1,-5\n+a,-5\n"));
}

TEST_CASE("a second table in a CSV has no byte order mark") {
  MemoryOutput text;
  CsvWriter out(text);
  out.write_for_excel();
  fill_table(out, {"a"});
  fill_table(out, {"=b"});
  CHECK(text.buffer() == "\xEF\xBB\xBFName,Time(us)\na,1.500\nName,Time(us)\n'=b,1.500\n");
}

TEST_CASE("a JSON table is an array of objects, empty without rows") {
  const auto json = [](const std::vector<std::string>& names) {
    return written<JsonTableWriter>([&](JsonTableWriter& out) { fill_table(out, names); });
  };
  CHECK(json({}) == "[]\n");
  CHECK(json({"a"}) == "[\n{\"Name\":\"a\",\"Time(us)\":1.500}\n]\n");
  const auto odd = nlohmann::json::parse(json({"a", "\"\\\n\x01"}));
  REQUIRE(odd.size() == 2);
  CHECK(odd[1].at("Name") == "\"\\\n\x01");
}

TEST_CASE("text in JSON is escaped, and repaired if it is not UTF-8") {
  CHECK(json_string("a\"b\\c\n\t\r\x1f") == R"("a\"b\\c\n\t\r\u001f")");
  CHECK(json_string("卷积") == "\"卷积\"");
  CHECK(json_string("x\xff") == "\"x\xEF\xBF\xBD\"");
  CHECK(json_string("") == "\"\"");
}

TEST_CASE("slices shorter than the minimum duration are not drawn") {
  const std::string trace = written_trace([](TraceJsonWriter& out) {
    out.set_min_duration(100);
    CHECK_FALSE(out.draws(99));
    CHECK_FALSE(out.begin_svp_slice("short", {3, 1}, 0, 99));
    CHECK_FALSE(out.begin_slice("short", {3, 1}, 0, 99));
    REQUIRE(out.begin_slice("long", {3, 1}, 0, 100));
    out.end_event();
    out.finish();
    CHECK(out.slice_count() == 1);
  });
  CHECK(trace.find("short") == std::string::npos);
  CHECK(trace.find("long") != std::string::npos);
}

TEST_CASE("a trace is an empty array or has one event per line") {
  CHECK(written_trace([](TraceJsonWriter& out) { out.finish(); }) == "[]\n");
  const std::string trace = written_trace([](TraceJsonWriter& out) {
    out.process_name({3}, std::string_view("a \"board\""));
    REQUIRE(out.begin_svp_slice("conv", {3, 1}, 1'234'567, 89));
    out.argument("Stream Id", 0);
    out.argument("Mode", "model");
    out.end_event();
    out.finish();
    CHECK(out.event_count() == 1);  // metadata is not counted
  });
  CHECK(trace ==
        "[\n{\"name\":\"process_name\",\"pid\":3,\"tid\":0,\"args\":{\"name\":\"a \\\"board\\\"\"},"
        "\"ph\":\"M\"},\n{\"name\":\"conv\",\"pid\":3,\"tid\":1,\"ts\":1234.567,\"dur\":0.089,"
        "\"args\":{\"Stream Id\":0,\"Mode\":\"model\"},\"ph\":\"X\"}\n]\n");
}

TEST_CASE(
    "the slowest step is the one with the longest execution, not with the longest total time") {
  // 100, 150 and 120 ns per execution.
  CHECK(slowest({make_step(1000, 10), make_step(300, 2), make_step(120, 1)}) == 1);
  CHECK(slowest({make_step(std::nullopt, 1), make_step(5, 1)}) == 1);
  CHECK(slowest({make_step(std::nullopt, 1), make_step(std::nullopt, 1)}) == 0);
  CHECK(slowest({make_step(7, 1), make_step(7, 1)}) == 0);
}

TEST_CASE("findings of the same kind, file and reason are merged and keep the first offset") {
  ImportReport report;
  CHECK_FALSE(report.is_partial());
  report.skip_record("aicore", "data/a", "end before start", 16);
  report.skip_record("aicore", "data/a", "end before start", 128);
  report.skip_record("aicore", "data/a", "value out of range", 240);
  report.skip_record("aicore", "data/b", "end before start", 16);
  REQUIRE(report.findings().size() == 3);
  CHECK(report.findings()[0].count == 2);
  CHECK(report.findings()[0].first_offset == 16);
  CHECK(report.is_partial());
  CHECK(report.json().at("skipped") ==
        nlohmann::ordered_json::parse(R"({"end before start": 3, "value out of range": 1})"));
}

TEST_CASE("notes do not make a report partial") {
  ImportReport report;
  report.count_file("aicore", 5);
  report.count_file("aicore", 1234);
  report.add(FindingId::other_entry, "capture", "data/x", "present, not read");
  CHECK(report.files() == 2);
  CHECK(report.records() == 1239);
  CHECK_FALSE(report.is_partial());
  CHECK(report.text().find("verdict: complete (2 files, 1,239 records)\n") != std::string::npos);
  report.add(FindingId::missing_done, "aicore", "data/a", "missing .done");
  CHECK(report.is_partial());
  const std::string text = report.text();
  CHECK(text.find("verdict: PARTIAL DATA") != std::string::npos);
  // The partial finding comes first.
  CHECK(text.find("PARTIAL: aicore") < text.find("note: capture"));
}

TEST_CASE("a verdict lists what is missing, each item once") {
  ImportReport report;
  const auto unread = [&](const std::string& file, const std::string& lacks) {
    report.add({FindingId::unread_kind, "hbm.data", file, "present, not read", 1, kNull,
                "would contain " + lacks, lacks});
  };
  unread("data/a", "HBM bandwidth");
  unread("data/b", "HBM bandwidth");
  report.add(FindingId::half_task, "tasks", "device_0", "start without end");
  CHECK(report.verdict() == Severity::without);
  CHECK(report.lacking() ==
        std::vector<std::string>{"HBM bandwidth", "tasks whose start or end is missing"});
  const std::string text = report.text();
  CHECK(text.find("verdict: complete without HBM bandwidth, tasks whose start or end is missing (0 "
                  "files") != std::string::npos);
  CHECK(text.find("without: hbm.data: present, not read (2 files: data/a, data/b)") !=
        std::string::npos);
  CHECK(report.json().at("verdict") == "without");
  CHECK(report.json().at("without").size() == 2);
  CHECK(report.json().at("findings").at(0).at("id") == "unread_kind");
  report.add(FindingId::records_missing, "stars_soc", "device_0", "records missing", "", 2954);
  CHECK(report.json().at("verdict") == "partial");
  CHECK(report.text().find("verdict: PARTIAL DATA") != std::string::npos);
}

TEST_CASE("every finding about missing data states what is missing") {
  for (int i = 0; i < static_cast<int>(FindingId::count_); ++i) {
    const auto id = static_cast<FindingId>(i);
    if (finding_info(id).severity != Severity::without) continue;
    ImportReport report;
    report.add(id, "kind", "data/a", "why");
    INFO(finding_info(id).id);
    // For unread_kind the file's kind names the missing data.
    if (id != FindingId::unread_kind) CHECK_FALSE(report.lacking().front().empty());
  }
}

TEST_CASE("the verdict has one line per kind and reason, for any number of files") {
  ImportReport report;
  for (int i = 0; i < 50; ++i) {
    report.add(FindingId::missing_done, "aicore", "data/" + std::to_string(i), "missing .done");
  }
  const std::string text = report.text();
  CHECK(text.find("(data/0 and 49 more)") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  CHECK(report.json().at("missing_done").size() == 50);
}

TEST_CASE("a signal ends an export before its next file") {
  CannStore store;
  const TraceDb& db = store.db();
  const SignalsAsBefore restored;
  interrupt::install();
  const interrupt::DeferSecondSignal deferred;
  std::atomic<int> written = 0;
  std::vector<ExportJob> jobs(1000);
  for (ExportJob& job : jobs) {
    job.write = [&](const Database&) {
      if (++written == 1) ::raise(SIGINT);
      return std::vector<ExportedFile>();
    };
  }
  Exit code = Exit::ok;
  try {
    run_export_jobs(db, jobs);
  } catch (const Error& error) {
    code = error.code();
  }
  interrupt::acknowledge();
  CHECK(code == Exit::interrupted);
  CHECK(written < 1000);
}
