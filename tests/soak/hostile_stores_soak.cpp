// Runs every reading verb on stores and rank summaries whose pages refer to each other in random
// ways: each must end with a documented exit code within 20 s, within the memory that msprof allows
// itself for a small store, and without a signal.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cluster/part_files.hpp"
#include "fuzz/page_graph.hpp"
#include "soak/soak.hpp"
#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/page_editor.hpp"
#include "support/prof/prof_run.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace msprof::test;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kLimit{20};
#ifdef __SANITIZE_ADDRESS__
constexpr long kMaxKilobytes = 4096 << 10;  // ASan itself needs memory
#else
constexpr long kMaxKilobytes = 256 << 10;
#endif

struct Template {
  TempFolder temp;
  fs::path folder;  // argument of -dir
  fs::path file;    // its store or rank summary
  bool is_part = false;
};

void make_ready(const Words& words) {
  const RunResult result = run_msprof(words);
  if (result.exit_code != 0) throw std::runtime_error(words.front() + ": " + result.err);
}

std::vector<Template> make_templates() {
  std::vector<Template> all(3);
  JobBuilder job(all[0].temp.path(), "JOBA");
  add_face(job);
  all[0].folder = job.folder();
  prof::RunShape shape;
  shape.tasks = 120;
  all[1].folder = prof::make_run(all[1].temp.path(), {}, shape).folder;
  for (Template& one : {std::ref(all[0]), std::ref(all[1])}) {
    make_ready({"import", "-q", "-dir", one.folder.string()});
    one.file = one.folder / "sqlite" / "msprof.db";
  }
  all[2].folder = all[2].temp / "job";
  all[2].file = all[2].folder / "cluster.db";
  all[2].is_part = true;
  fs::create_directories(all[2].folder);
  make_ready({"rank", "--output", all[2].file.string(), "-dir", all[1].folder.string()});
  return all;
}

Words verb(const Template& one, std::uint64_t number, const fs::path& scratch) {
  const std::string dir = one.folder.string();
  const std::vector<Words> common = {{"show", "-q", "-dir", dir},
                                     {"query", "-q", "-dir", dir},
                                     {"advise", "-dir", dir},
                                     {"export", "all", "-q", "-dir", dir},
                                     {"list", one.temp.path().string()},
                                     {"report", "-dir", dir},
                                     {"compare", dir, dir},
                                     {"doctor", "--dir", dir}};
  const std::vector<Words> of_store = {
      {"query", "-q", "-dir", dir, "SELECT count(*), sum(length(text)) FROM name"},
      {"query", "-q", "-dir", dir, "SELECT * FROM v_ops, v_tasks ORDER BY 1, 2, 3 LIMIT 9"},
      {"query", "-q", "-dir", dir, "SELECT * FROM op_summary LIMIT 9"},
      {"rank", "--output", (scratch / "a.part").string(), "-dir", dir},
      {"cluster", "--output", (scratch / "job").string(), dir}};
  const std::vector<Words> of_part = {
      {"query", "-q", "-dir", dir, "SELECT count(*), sum(length(text)) FROM name"},
      {"query", "-q", "-dir", dir, "SELECT * FROM v_cluster_ops ORDER BY 1, 2 LIMIT 9"},
      {"query", "-q", "-dir", dir, "SELECT * FROM v_collectives, v_slow_ranks LIMIT 9"},
      {"merge", "--output", (scratch / "b.part").string(), one.file.string()}};
  const auto& own = one.is_part ? of_part : of_store;
  const std::size_t place = number % (common.size() + own.size());
  return place < common.size() ? common[place] : own[place - common.size()];
}

void damage(const Template& one, const std::string& good, SoakRandom& random, std::string& story) {
  std::string bytes = good;
  constexpr std::size_t kRoom = 1 << 18;
  const std::uint64_t edits = random() % 4;
  for (std::uint64_t i = 0; i < edits; ++i) {
    const auto seed = static_cast<unsigned>(random());
    const std::size_t size = bytes.size();
    bytes.resize(size + kRoom);
    bytes.resize(msprof::fuzz::edit_pages(reinterpret_cast<std::uint8_t*>(bytes.data()), size,
                                          bytes.size(), seed));
    story += fmt::format(" edit {}", seed);
  }
  write_file(one.file, edits == 0 ? good : bytes);
  if (edits == 0) {
    const auto tables = query(one.file, "SELECT name FROM sqlite_schema ORDER BY name");
    const std::string table = tables[random() % tables.size()];
    PageEditor pages(one.file);
    pages.make_bomb(pages.find_root(table));
    pages.save();
    story += " bomb " + table;
  }
  if (one.is_part) write_file(one.file, sealed(read_file(one.file)));
}

void try_one(const std::vector<Template>& templates, const std::vector<std::string>& good,
             SoakRandom& random, SoakReport& report, std::uint64_t number) {
  const std::size_t chosen = number % templates.size();
  const Template& one = templates[chosen];
  std::string story = one.file.filename().string() + ":";
  damage(one, good[chosen], random, story);
  const TempFolder scratch;
  const Words words = verb(one, number / templates.size(), scratch.path());
  const auto begin = std::chrono::steady_clock::now();
  RunningProgram program(msprof_path(), words);
  while (!program.has_ended() && std::chrono::steady_clock::now() - begin < kLimit)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const bool hangs = !program.has_ended();
  if (hangs) program.send(9);
  const RunResult result = program.wait();
  rusage children = {};
  ::getrusage(RUSAGE_CHILDREN, &children);
  story = fmt::format("{}; {}", fmt::join(words, " "), story);
  if (hangs) return report.fail(number, "no end in 20 s: " + story);
  if (children.ru_maxrss > kMaxKilobytes)
    return report.fail(number, fmt::format("{} kB: {}", children.ru_maxrss, story));
  const std::string expected = "0 2 3 4 5 8";
  report.count(fmt::format("{} ended with {}", words.front(), result.exit_code));
  if (result.signal != 0 || expected.find(std::to_string(result.exit_code)) == std::string::npos ||
      result.err.find("internal error") != std::string::npos) {
    report.fail(number, fmt::format("exit code {}, signal {}: {}: {}", result.exit_code,
                                    result.signal, story, result.err.substr(0, 500)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Template> templates = make_templates();
  std::vector<std::string> good;
  for (const Template& one : templates) good.push_back(read_file(one.file));
  return run_soak(argc, argv, "hostile_stores", 20'000,
                  [&](std::uint64_t number, SoakRandom& random, SoakReport& report) {
                    try_one(templates, good, random, report, number);
                  });
}
