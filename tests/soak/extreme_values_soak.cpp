// Puts extreme integers into the raw files of small captures of every kind, and into their stores,
// and runs the real program: every verb must end with a documented exit code, never with a signal
// or a sanitizer report. Impossible times in raw files must not reach the store: their records are
// skipped, and the verdict reports them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/cann_seeds.hpp"
#include "fuzz/fuzz_cann.hpp"
#include "fuzz/seeds.hpp"
#include "soak/soak.hpp"
#include "support/eventually.hpp"
#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

constexpr std::array<std::uint64_t, 11> kExtremes = {0,
                                                     1,
                                                     INT32_MAX,
                                                     std::uint64_t{1} << 31,
                                                     UINT32_MAX,
                                                     std::uint64_t{1} << 62,
                                                     INT64_MAX - 1,
                                                     INT64_MAX,
                                                     std::uint64_t{1} << 63,
                                                     UINT64_MAX - 1,
                                                     UINT64_MAX};

struct Template {
  std::string name;
  Files files;
};

std::vector<Template> templates() {
  std::vector<Template> all;
  {
    const TempFolder temp;
    JobBuilder job(temp.path(), "JOBA");
    add_face(job);
    all.push_back({"JOBA", files_below(job.folder())});
  }
  for (const fuzz::CannChip chip : fuzz::kCannChips) {
    Template one{"PROF_1", {}};
    for (auto& [name, bytes] : fuzz::cann_files(chip)) one.files[name] = bytes;
    all.push_back(std::move(one));
  }
  for (const std::string& packed : fuzz::old_folders()) {
    const TempFolder temp;
    const std::string name = packed.front() == '\0' ? "PROF_1" : "JOBA";
    fs::create_directories(temp / name);
    fuzz::Pieces input(std::string_view(packed).substr(1));
    fuzz::unpack_files(input, temp / name);
    all.push_back({name, files_below(temp / name)});
  }
  return all;
}

// Excludes start logs and info files: an extreme clock value would change every time.
bool is_raw(const std::string& name) {
  if (name.ends_with(".done")) return false;
  const std::string own = fs::path(name).filename().string();
  for (const char* info : {"info", "start", "sample.json", "end_info"}) {
    if (own.find(info) != std::string::npos && own.find(".slice_") == std::string::npos)
      return false;
  }
  return true;
}

bool is_text(const std::string& bytes) {
  return std::none_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0 || byte > 0x7e;
  });
}

std::size_t below(SoakRandom& random, std::size_t limit) {
  return static_cast<std::size_t>(random() % std::max<std::size_t>(limit, 1));
}

// Replaces a number in a text by an extreme one; the number may have a decimal point.
void put_in_text(std::string& bytes, std::uint64_t value, std::size_t from) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  auto begin =
      std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end(), is_digit);
  if (begin == bytes.end()) begin = std::find_if(bytes.begin(), bytes.end(), is_digit);
  const auto end = std::find_if_not(begin, bytes.end(), is_digit);
  bytes.replace(begin, end, std::to_string(value));
}

// Makes a number in a file extreme; describes the change in `story`.
void put_extreme(Files& files, SoakRandom& random, std::string& story) {
  if (files.empty()) return;
  auto file = files.begin();
  std::advance(file, static_cast<std::ptrdiff_t>(below(random, files.size())));
  std::string& bytes = file->second;
  const std::uint64_t value = kExtremes[below(random, kExtremes.size())];
  const std::size_t at = below(random, bytes.size());
  if (is_text(bytes)) {
    put_in_text(bytes, value, at);
    story += fmt::format(" {}: {} behind {};", file->first, value, at);
    return;
  }
  constexpr std::array<std::size_t, 4> kWidths = {8, 8, 4, 2};
  const std::size_t width = std::min(kWidths[below(random, kWidths.size())], bytes.size() - at);
  std::memcpy(bytes.data() + at, &value, width);
  story += fmt::format(" {}: {} in {} bytes at {};", file->first, value, width, at);
}

RunResult run_within_limit(const std::vector<std::string>& arguments) {
  RunningProgram program(msprof_path(), arguments);
  if (!eventually([&] { return program.has_ended(); })) program.send(9);
  return program.wait();
}

// Describes what is wrong; empty if all is well.
std::string wrong_with(const RunResult& run, const std::string& verb) {
  const bool is_expected = run.exit_code == 0 || run.exit_code == 3 || run.exit_code == 4;
  if (is_expected && run.err.find("runtime error") == std::string::npos &&
      run.err.find("internal error") == std::string::npos)
    return "";
  return fmt::format("{} ends with {} (signal {}): {}", verb, run.exit_code, run.signal,
                     run.err.substr(0, 4000));
}

// Returns the first impossible time or duration in a store: beyond 73 years, that is after 2043.
std::string impossible_time(const fs::path& store) {
  for (const std::string& column :
       query(store,
             "SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c"
             " WHERE t.type = 'table' AND c.name GLOB '*_ns'")) {
    const std::size_t dot = column.find('.');
    const std::string table = column.substr(0, dot), cell = column.substr(dot + 1);
    const auto found = query(
        store, fmt::format("SELECT {0} FROM {1} WHERE {0} > 1 << 61 OR {0} < -(1 << 61) LIMIT 1",
                           cell, table));
    if (!found.empty()) return fmt::format("{} is {}", column, found.front());
  }
  return "";
}

// Makes cells of a new store extreme, except those that identify its capture.
void change_store(const fs::path& store, SoakRandom& random, std::string& story) {
  const auto columns =
      query(store,
            "SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c"
            " WHERE t.type = 'table' AND t.name NOT IN ('meta', 'raw_file') ORDER BY 1");
  for (std::size_t left = 1 + below(random, 6); left > 0; --left) {
    const std::string& column = columns[below(random, columns.size())];
    const std::size_t dot = column.find('.');
    const auto value = static_cast<std::int64_t>(kExtremes[below(random, kExtremes.size())]);
    const std::string change =
        fmt::format("UPDATE OR IGNORE {} SET {} = {} WHERE rowid % 3 >= {}", column.substr(0, dot),
                    column.substr(dot + 1), value, below(random, 3));
    query(store, change);
    story += " " + change + ";";
  }
}

enum class About { raw, info, store };

void try_one(const std::vector<Template>& all, std::uint64_t number, SoakRandom& random,
             SoakReport& report) {
  const Template& chosen = all[below(random, all.size())];
  constexpr std::array kAbout = {About::raw,   About::raw,   About::raw,   About::raw,
                                 About::store, About::store, About::store, About::info};
  const About about = kAbout[below(random, kAbout.size())];
  Files changed, others;
  for (const auto& [name, bytes] : chosen.files)
    (is_raw(name) == (about == About::raw) ? changed : others)[name] = bytes;
  std::string story = chosen.name + ":";
  if (about != About::store) {
    for (std::size_t left = 1 + below(random, 6); left > 0; --left)
      put_extreme(changed, random, story);
  }
  const TempFolder temp;
  const fs::path folder = temp / chosen.name;
  for (const Files* files : {&changed, &others})
    for (const auto& [name, bytes] : *files) write_file(folder / name, bytes);

  std::string wrong;
  const std::string dir = folder.string();
  const fs::path store = folder / "sqlite" / "msprof.db";
  const std::vector<std::vector<std::string>> verbs = {
      {"import", "--json", "-q", "-dir", dir},
      {"export", "all", "-q", "-dir", dir},
      {"export", "timeline", "-q", "--layers", "all", "--style", "current", "-dir", dir},
      {"show", "--json", "-q", "-dir", dir},
      {"query", "-q", "-dir", dir},
      {"query", "-q", "--format", "csv", "-dir", dir, "SELECT * FROM v_tasks"},
      {"compare", "-q", dir, dir},
      {"advise", "-q", "-dir", dir},
      {"report", "-q", "-dir", dir},
      {"rank", "-q", "-dir", dir, "--output", (temp / "part.db").string()}};
  for (const auto& words : verbs) {
    if (!wrong.empty()) break;
    const RunResult run = run_within_limit(words);
    wrong = wrong_with(run, words.front());
    report.count(fmt::format("{} ended with {}", words.front(), run.exit_code));
    if (words.front() != "import" || !wrong.empty() || !fs::exists(store)) continue;
    if (about == About::store) change_store(store, random, story);
    if (about == About::raw) wrong = impossible_time(store);
    if (!wrong.empty() && run.exit_code == 0) wrong += ", and the verdict is silent";
  }
  if (!wrong.empty()) report.fail(number, wrong + "; changes: " + story);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Template> all = templates();
  return run_soak(argc, argv, "extreme_values", 10'000,
                  [&](std::uint64_t number, SoakRandom& random, SoakReport& report) {
                    try_one(all, number, random, report);
                  });
}
