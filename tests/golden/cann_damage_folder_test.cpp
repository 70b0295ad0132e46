// PROF folders with missing, duplicate, misplaced and unusual files.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "golden/cann_damage.hpp"
#include "golden/csv_table.hpp"
#include "support/eventually.hpp"
#include "support/lines.hpp"
#include "support/run_program.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Splits a slice into three, numbered 2, 10 and 9 in the order of their records, so that the
// records are out of order when slices are read by number.
void cut_into_slices(const fs::path& slice, std::size_t record) {
  const std::string bytes = read_file(slice);
  const std::size_t third = bytes.size() / record / 3 * record;
  const std::string stem = slice.string().substr(0, slice.string().size() - 1);
  write_file(stem + "2", bytes.substr(0, third));
  write_file(stem + "10", bytes.substr(third, third));
  write_file(stem + "9", bytes.substr(2 * third));
  for (const char* number : {"2", "10", "9"}) write_file(stem + number + ".done", "");
  fs::remove(slice);
  fs::remove(slice.string() + ".done");
}

}  // namespace

TEST_CASE("records out of order across slices, and slice 10 listed before slice 2, are sorted") {
  for (const bool is_stars : {true, false}) {
    const DamagedCapture capture(is_stars ? prof::ProfSetup() : prof::setup_910a());
    for (const RecordFile& file : record_files(is_stars)) {
      if (capture.bytes(file.file).size() / file.size < 3) continue;
      // The order matters for records without a time, and for records identified by their order.
      if (contains(file.file, "aicore") || contains(file.file, "task_memory")) continue;
      cut_into_slices(capture.folder() / file.file, file.size);
    }
    const auto outcome = capture.import();
    INFO(capture.losses(outcome));
    CHECK_FALSE(outcome.report.is_partial());
    CHECK(capture.worst_loss(outcome) == 0);
    CHECK(capture.worst_surplus(outcome) == 0);
  }
}

TEST_CASE("a record that spans two slices is one record") {
  const DamagedCapture capture;
  for (const RecordFile& file : record_files(true)) {
    const std::string bytes = capture.bytes(file.file);
    if (bytes.size() < 2 * file.size) continue;
    const fs::path slice = capture.folder() / file.file;
    const std::string next = slice.string().substr(0, slice.string().size() - 1) + "1";
    const std::size_t cut = bytes.size() / file.size / 2 * file.size + file.size / 2 + 3;
    write_file(slice, bytes.substr(0, cut));
    write_file(next, bytes.substr(cut));
    write_file(next + ".done", "");
  }
  const auto outcome = capture.import();
  INFO(capture.losses(outcome));
  CHECK(capture.worst_loss(outcome) == 0);
  CHECK(capture.worst_surplus(outcome) == 0);
}

TEST_CASE("a partial record at the start of an overwritten ring is skipped") {
  const DamagedCapture capture;
  for (const RecordFile& file : record_files(true)) {
    if (file.file.find("unaging") != std::string::npos) continue;
    const std::string bytes = capture.bytes(file.file);
    INFO(file.file);
    const auto outcome = capture.import_with(file.file, bytes.substr(file.size / 2 + 1));
    INFO(capture.losses(outcome));
    CHECK(capture.worst_loss(outcome) <= 1);
    CHECK(capture.worst_surplus(outcome) <= 1);
  }
}

TEST_CASE("a duplicate slice loses nothing") {
  const DamagedCapture capture;
  for (const RecordFile& file : record_files(true)) {
    const fs::path slice = capture.folder() / file.file;
    const std::string copy = slice.string().substr(0, slice.string().size() - 1) + "1";
    INFO(file.file);
    fs::copy_file(slice, copy);
    const auto outcome = capture.import();
    fs::remove(copy);
    // Tasks with equal ids are indistinguishable; the device's logs still provide task_time.
    INFO(capture.losses(outcome));
    CHECK(capture.lost(outcome, "api_statistic") == 0);
    CHECK(capture.lost(outcome, "msprof_tx") == 0);
    CHECK(capture.lost(outcome, "memory_record") == 0);
    if (!contains(file.file, "stars_soc")) CHECK(capture.lost(outcome, "task_time") == 0);
  }
}

TEST_CASE("companion files are never data: .done, .complete and a .zip next to its slice") {
  const DamagedCapture capture;
  for (const RecordFile& file : record_files(true)) {
    const fs::path slice = capture.folder() / file.file;
    fs::copy_file(slice, slice.string() + ".zip");
    write_file(slice.string() + ".complete", "");
  }
  write_file(capture.folder() / kHost / "all_file.complete", "");
  const auto outcome = capture.import();
  INFO(capture.losses(outcome));
  CHECK_FALSE(outcome.report.is_partial());
  CHECK(capture.worst_loss(outcome) == 0);
  CHECK(capture.worst_surplus(outcome) == 0);
}

TEST_CASE("a dictionary with a line of a megabyte, zeros and invalid lines keeps its other lines") {
  for (const std::string name : {"hash_dic", "type_info_dic"}) {
    const DamagedCapture capture;
    const std::string file = kHost + "unaging.additional." + name + ".slice_0";
    const std::string good = capture.bytes(file);
    for (const std::string& bad :
         {std::string(1 << 20, 'x') + "\n", "77:" + std::string(1 << 20, 'y') + "\n",
          std::string(5000, '\0') + "\n", std::string("no colon\n:\n::\n-5:a\n1e9:b\n\n"),
          std::string("99999999999999999999999:too great\n"), std::string("12:\xff\xfe\n")}) {
      INFO(name << " with " << bad.substr(0, 20));
      for (const std::string& bytes : {bad + good, good + bad}) {
        const auto outcome = capture.import_with(file, bytes);
        INFO(capture.losses(outcome));
        CHECK(capture.worst_loss(outcome) == 0);
        CHECK(capture.worst_surplus(outcome) == 0);
      }
    }
  }
}

TEST_CASE("without dictionaries, names are shown as numbers, with a message") {
  const DamagedCapture capture;
  const auto hashes = capture.import_without(kHost + "unaging.additional.hash_dic.slice_0");
  INFO(capture.losses(hashes));
  CHECK(hashes.report.is_partial());
  CHECK(capture.lost(hashes, "task_time") == 0);
  CHECK(capture.lost(hashes, "op_summary") == 0);
  CHECK(capture.lost(hashes, "counters") == 0);
  const auto types = capture.import_without(kHost + "unaging.additional.type_info_dic.slice_0");
  INFO(capture.losses(types));
  CHECK(types.report.is_partial());
  CHECK(capture.lost(types, "task_time") == 0);
  CHECK(capture.lost(types, "msprof_tx") == 0);
  CHECK(capture.lost(types, "memory_record") == 0);
}

TEST_CASE("each info file that is missing, empty or invalid loses only its own data") {
  const DamagedCapture capture;
  for (const std::string file :
       {"host/info.json", "host/sample.json", "host/start_info", "host/end_info",
        "host/host_start.log", "device_0/info.json.0", "device_0/sample.json",
        "device_0/start_info.0", "device_0/end_info.0", "device_0/host_start.log.0",
        "device_0/dev_start.log.0"}) {
    const bool is_end = contains(file, "end_info");
    for (const char* text : {"", "{", "[]", "\xff\xff\xff\xff", "{\"a\": 1}", "null"}) {
      INFO(file << " is: " << text);
      const auto outcome = capture.import_with(file, text);
      INFO(capture.losses(outcome));
      if (!is_end && std::string(text) != "{\"a\": 1}") CHECK(outcome.report.is_partial());
    }
    INFO(file << " is missing");
    const auto outcome = capture.import_without(file);
    INFO(capture.losses(outcome));
    if (is_end) CHECK(capture.worst_loss(outcome) == 0);
    if (!is_end && !contains(file, "sample")) CHECK(outcome.report.is_partial());
    // Host times do not depend on the device's files.
    if (contains(file, "device_0")) {
      CHECK(capture.lost(outcome, "api_statistic") == 0);
      CHECK(capture.lost(outcome, "memory_record") == 0);
    }
    if (contains(file, "sample")) CHECK(capture.lost(outcome, "task_time") == 0);
  }
}

TEST_CASE("info files with line breaks, blanks, two numbers or additional keys are read") {
  const DamagedCapture capture;
  std::string lines = capture.bytes("host/info.json");
  for (std::size_t at = 0; (at = lines.find(", ", at)) != std::string::npos; ++at) {
    lines.replace(at, 2, ",\r\n\t");
  }
  const auto outcome = capture.import_with("host/info.json", "\xEF\xBB\xBF\n" + lines + "\n\n");
  INFO(capture.losses(outcome));
  CHECK_FALSE(outcome.report.is_partial());
  CHECK(capture.worst_loss(outcome) == 0);
}

TEST_CASE("one of two info.json files is used, with a message") {
  const DamagedCapture capture;
  fs::copy_file(capture.folder() / "device_0/info.json.0",
                capture.folder() / "device_0/info.json.1");
  const auto outcome = capture.import();
  INFO(capture.losses(outcome));
  CHECK(capture.worst_loss(outcome) == 0);
  CHECK(contains(outcome.report.text(), "info.json"));
}

TEST_CASE("an unknown chip and version are reported, and all possible products are written") {
  for (const std::string platform : {"99", "-1", "abc", ""}) {
    prof::ProfSetup setup;
    setup.platform = platform;
    const TempFolder folder;
    const auto run = prof::make_run(folder.path(), setup, {});
    const std::string out = (folder / "out").string();
    const RunResult result =
        run_msprof({"export", "summary", "-dir", run.folder.string(), "--output", out});
    INFO("platform_version " << platform << ": " << result.err);
    CHECK(result.exit_code == 3);
    const fs::path products = fs::path(out) / "mindstudio_profiler_output";
    CHECK(read_product(products, "msprof_tx").rows.size() == run.facts.marks);
    CHECK_FALSE(products_named(products, "api_statistic").empty());
  }
}

TEST_CASE("a link to a device folder is followed, and an unrelated folder is not a device") {
  const DamagedCapture capture;
  const fs::path elsewhere = capture.folder().parent_path() / "elsewhere";
  fs::rename(capture.folder() / "device_0", elsewhere);
  fs::create_directory_symlink(elsewhere, capture.folder() / "device_0");
  write_file(capture.folder() / "notes" / "data" / "todo.txt", "nothing");
  write_file(capture.folder() / "device_x" / "readme", "nothing");
  write_file(capture.folder() / "timeline.txt", "nothing");
  const auto outcome = capture.import();
  INFO(capture.losses(outcome));
  CHECK(capture.worst_loss(outcome) == 0);
  CHECK(capture.worst_surplus(outcome) == 0);
}

TEST_CASE("a file of a kind that is not read is named in the verdict") {
  const DamagedCapture capture;
  write_file(capture.folder() / kDevice / "nts_pmu.data.0.slice_0", std::string(240, 'h'));
  write_file(capture.folder() / kHost / "aging.additional.brand_new.slice_0", "new");
  const auto outcome = capture.import();
  for (const char* name : {"nts_pmu", "brand_new"}) {
    CHECK(std::any_of(outcome.report.findings().begin(), outcome.report.findings().end(),
                      [&](const Finding& finding) {
                        return contains(finding.file, name) && finding.id == FindingId::unread_kind;
                      }));
  }
  CHECK(capture.worst_loss(outcome) == 0);
}

TEST_CASE("a killed import leaves no files, and the next one is complete") {
  prof::RunShape shape;
  shape.tasks = 60'000;
  const TempFolder folder;
  const auto run = prof::make_run(folder.path(), {}, shape);
  const auto work = folder / "out";
  const auto store = work / "sqlite" / "msprof.db";
  int killed = 0;
  for (const int after_ms : {0, 60, 150}) {
    RunningProgram program(
        msprof_path(), {"import", "-q", "-dir", run.folder.string(), "--output", work.string()});
    // Waits until the import writes its store.
    eventually([&] { return !names_in(work / "sqlite").empty() || program.has_ended(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
    program.send(SIGKILL);
    killed += program.wait().signal == SIGKILL;
    // A fast machine may finish before the kill; then the store is complete.
    if (fs::exists(store)) {
      CHECK(query(store, "PRAGMA integrity_check") == std::vector<std::string>{"ok"});
    }
    fs::remove(store);
  }
  CHECK(killed > 0);
  const RunResult result = run_msprof(
      {"export", "summary", "-q", "-dir", run.folder.string(), "--output", work.string()});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(names_in(work / "sqlite") == std::vector<std::string>{"msprof.db"});
  CHECK(read_product(work / "mindstudio_profiler_output", "task_time").rows.size() ==
        run.facts.tasks);
}

TEST_CASE("the verdict on standard error has the kind, the reason and the number") {
  const DamagedCapture capture;
  const fs::path slice = capture.folder() / kHost / "aging.compact.task_track.slice_0";
  std::string bytes = read_file(slice);
  for (const std::size_t record : {1u, 3u, 4u}) bytes = overwritten(bytes, 64 * record, "zz");
  write_file(slice, bytes);
  const RunResult result = run_msprof({"import", "-q", "-dir", capture.folder().string()});
  INFO(result.err);
  CHECK(result.exit_code == 3);
  CHECK(contains(result.err, "task_track"));
  CHECK(contains(result.err, "bad magic"));
  CHECK(contains(result.err, "3 skipped"));
  CHECK(contains(result.err, "PARTIAL DATA"));
}
