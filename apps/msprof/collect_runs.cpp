#include "msprof/collect_runs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/file_reader.hpp"
#include "base/side_by_side.hpp"
#include "cluster/run/local_run.hpp"
#include "msprof/board_group.hpp"
#include "msprof/run_series.hpp"

namespace msprof {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr long kMaxRepeats = 1000;
constexpr long kUsualWarmUps = 1;

// Unless stdin is a terminal, replaces it by empty input, the same for all runs.
void close_input() {
  if (::isatty(STDIN_FILENO) != 0) return;
  const FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing) ::dup2(nothing.get(), STDIN_FILENO);
}

// Collects on one board or on this machine, once or --repeat times.
Exit collect_at(const RunsRequest& request, const RunPlace& place, const CollectionPlan& plan,
                const CollectOnce& collect, ordered_json& document) {
  if (!request.repeat.runs) {
    document["schema"] = "msprof.collect/2";
    return collect(place, plan, document);
  }
  close_input();
  SeriesPlan series;
  series.runs = static_cast<int>(*request.repeat.runs);
  series.warm_ups = static_cast<int>(request.repeat.warm_ups.value_or(kUsualWarmUps));
  series.output = fs::weakly_canonical(place.options.output.value_or("."));
  series.name = fs::path(request.main.value_or("")).filename().string();
  series.names_next = plan.names_next;
  document["schema"] = "msprof.collect_runs/1";
  const auto make = [&](const SeriesRun& run, ordered_json& its_document) {
    RunPlace own = place;
    own.options.output = run.folder.string();
    own.options.name_suffix = run.name_suffix;
    // Separate, so that the folder contains only captures that can be compared.
    own.options.failed_folder = "failed";
    own.options.private_folders.insert(own.options.private_folders.end(),
                                       run.series_folders.begin(), run.series_folders.end());
    own.cleans_board = run.is_last;
    CollectionPlan its = plan;
    its.record.repeat = run.repeat;
    its.names_next = false;
    return collect(own, its, its_document);
  };
  return run_series(series, make, document);
}

Exit collect_at_several(const RunsRequest& request, const CollectionPlan& plan,
                        const CollectOnce& collect, ordered_json& document) {
  document["schema"] = "msprof.collect_boards/1";
  const std::vector<GroupBoard> boards = find_boards(request.board);
  const ProcessSlots slots(cluster::usable_cores());
  const fs::path output = fs::weakly_canonical(request.output.value_or("."));
  RunPlace shared;
  for (const GroupBoard& one : boards)
    shared.options.private_folders.push_back(output / one.folder);
  const auto collect_from = [&](std::size_t number, ordered_json& its_document) {
    const GroupBoard& one = boards[number];
    RunPlace own = shared;
    own.board = &one.board;
    own.options.output = (output / one.folder).string();
    CollectionPlan its = plan;
    its.names_next = false;
    for (auto& [name, value] : its.record.options) {
      if (name == "--host" && one.arguments.host) value = *one.arguments.host;
      if (name == "--config" && one.arguments.config) value = *one.arguments.config;
    }
    if (plan.process) {
      its.process = [&](const fs::path& capture, nlohmann::json* report) {
        const auto slot = slots.take();
        return plan.process(capture, report);
      };
    }
    return collect_at(request, own, its, collect, its_document);
  };
  return collect_from_boards(boards, collect_from, document);
}

}  // namespace

void add_repeat_options(cli::Command& command, RepeatArguments& arguments) {
  command.add_option({"--repeat", &arguments.runs, "N",
                      "run N times, one after the other, 1 to 1000; the captures are put into "
                      "MAIN.runs, which `msprof compare` accepts"});
  command.add_option(
      {"--warm-up", &arguments.warm_ups, "N",
       "with --repeat: warm-up runs, 0 to 1000, whose captures are kept separately (default 1)"});
}

void check_runs(const RunsRequest& request) {
  const auto refuse = [](bool wrong, const std::string& sentence) {
    if (wrong) throw Error(Exit::usage, sentence);
  };
  refuse(request.board.names_several() && request.reads_words,
         "--dynamic and --pid read commands from the terminal: they work on one machine at a time");
  refuse(request.repeat.warm_ups && !request.repeat.runs, "--warm-up needs --repeat N");
  if (!request.repeat.runs) return;
  refuse(*request.repeat.runs < 1 || *request.repeat.runs > kMaxRepeats,
         fmt::format("--repeat: expected 1 to 1000, got {}", *request.repeat.runs));
  const long warm_ups = request.repeat.warm_ups.value_or(kUsualWarmUps);
  refuse(warm_ups < 0 || warm_ups > kMaxRepeats,
         fmt::format("--warm-up: expected 0 to 1000, got {}", warm_ups));
  refuse(
      request.reads_words,
      "--repeat starts the application several times: it cannot be used with --dynamic or --pid");
  refuse(!request.main, "--repeat needs -m,--main FILE, the executable to run");
  refuse(request.board.run.leave.on,
         "--repeat fetches the captures to compare them: it cannot be used with --leave");
}

Exit collect_all(const RunsRequest& request, const CollectionPlan& plan, const CollectOnce& collect,
                 ordered_json& document) {
  if (request.board.names_several()) return collect_at_several(request, plan, collect, document);
  RunPlace place;
  place.options.output = request.output;
  std::optional<NamedBoard> board;
  if (request.board.names_board()) place.board = &board.emplace(find_board(request.board));
  return collect_at(request, place, plan, collect, document);
}

}  // namespace msprof
