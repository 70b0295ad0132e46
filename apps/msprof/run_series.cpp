#include "msprof/run_series.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/folder_listing.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "msprof/pipeline.hpp"
#include "msprof/run_table.hpp"

namespace msprof {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr int kMaxSeriesFolders = 10'000;

fs::path series_path(const SeriesPlan& plan, int number) {
  return plan.output / (plan.name + ".runs" + name_suffix(number));
}

// The folder created for this series, earlier ones, and the name of the next one.
struct SeriesFolders {
  fs::path own;
  std::vector<fs::path> before;
  fs::path next;
};

SeriesFolders make_series_folder(const SeriesPlan& plan) {
  create_output_folder(plan.output);
  SeriesFolders folders;
  for (int number = 1; number < kMaxSeriesFolders; ++number) {
    folders.own = series_path(plan, number);
    if (::mkdir(folders.own.c_str(), 0777) == 0) {
      std::error_code error;
      do {
        folders.next = series_path(plan, ++number);
      } while (fs::exists(folders.next, error));
      return folders;
    }
    if (errno != EEXIST) break;
    folders.before.push_back(folders.own);
  }
  throw_cannot_write(folders.own, errno);
}

std::vector<SeriesRun> plan_runs(const SeriesPlan& plan, const SeriesFolders& folders) {
  std::vector<SeriesRun> runs;
  const auto add = [&](int count, bool is_warm_up) {
    for (int number = 1; number <= count; ++number) {
      SeriesRun run;
      run.repeat = {number, count, is_warm_up};
      run.series_folders = folders.before;
      run.series_folders.push_back(folders.own);
      run.folder = is_warm_up ? folders.own / "warm-up" : folders.own;
      run.name_suffix = fmt::format("_{}{}", is_warm_up ? "warm" : "run", number);
      runs.push_back(std::move(run));
    }
  };
  add(plan.warm_ups, true);
  add(plan.runs, false);
  runs.back().is_last = true;
  return runs;
}

bool was_interrupted(const ordered_json& document, Exit exit) {
  if (exit == Exit::interrupted) return true;
  const auto application = document.find("application");
  return application != document.end() && application->value("interrupted", false);
}

bool has_captures(const fs::path& folder) {
  const FolderListing listing = list_folder(folder);
  return std::any_of(listing.entries.begin(), listing.entries.end(),
                     [](const FolderEntry& entry) { return is_named_as_capture(entry.name); });
}

void suggest_next_command(const SeriesFolders& folders) {
  if (!has_captures(folders.own)) return;
  const std::string own = shell_word(folders.own.string());
  if (!folders.before.empty() && has_captures(folders.before.back())) {
    log::info("next: msprof compare {} {}", shell_word(folders.before.back().string()), own);
  } else {
    log::info("next: change something, repeat the command, then msprof compare {} {}", own,
              shell_word(folders.next.string()));
  }
}

}  // namespace

Exit run_series(const SeriesPlan& plan, const MakeRun& make, ordered_json& document) {
  const SeriesFolders folders = make_series_folder(plan);
  document["folder"] = valid_utf8(folders.own.string());
  document["warm_ups"] = plan.warm_ups;
  document["runs"] = ordered_json::array();
  std::vector<RunRow> rows;
  Exit code = Exit::ok;
  const auto conclude = [&] {
    print_runs("Run", rows);
    std::error_code ignored;
    fs::remove(folders.own / "warm-up", ignored);  // only if it is empty
    if (fs::remove(folders.own, ignored)) document.erase("folder");
  };
  for (const SeriesRun& run : plan_runs(plan, folders)) {
    log::info("{}", run.repeat.text());
    interrupt::heed_hangup();
    ordered_json one = {
        {"repeat",
         {{"run", run.repeat.run}, {"of", run.repeat.of}, {"warm_up", run.repeat.is_warm_up}}}};
    const auto note = [&](Exit exit) {
      one["exit_code"] = static_cast<int>(exit);
      rows.push_back(make_run_row(run.repeat.text(), one));
      document["runs"].push_back(one);
    };
    try {
      interrupt::check();
      const Exit exit = make(run, one);
      code = gravest(code, exit);
      note(exit);
      if (was_interrupted(one, exit)) break;
    } catch (const Error& error) {
      one["error"] = valid_utf8(error.what());
      note(error.code());
      conclude();
      if (gravest(code, error.code()) == error.code()) throw;
      throw Error(code, error.what());
    }
  }
  conclude();
  if (plan.names_next) suggest_next_command(folders);
  return code;
}

}  // namespace msprof
