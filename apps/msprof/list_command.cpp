// msprof list: the captures in a folder, newest first, and what each is.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyze/capture_list.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "msprof/pipeline.hpp"
#include "session/session.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct ListArguments {
  std::vector<std::string> folders;
  bool json = false;
  Verbosity verbosity;
};

constexpr std::size_t kMinuteWidth = 16;  // of "2026-11-23 11:06"

// Path from `root`, which is the name of the folder alone where that is the capture.
std::string name_below(const fs::path& capture, const fs::path& root) {
  const fs::path inner = capture.lexically_relative(root);
  return inner.empty() || inner == "." ? own_name(capture) : inner.string();
}

void print_table(const std::vector<ListedCapture>& captures, const fs::path& root) {
  TextTable table(
      {"Time (UTC)", "Capture", "Model", "Batch", "Executions", "Median (ms)", "Verdict", "Size"},
      {false, false, false, false, true, true, false, true});
  for (const ListedCapture& capture : captures) {
    const auto text = [&](const std::string& value) {
      value.empty() ? table.missing() : table.text(printable(value));
    };
    const RunSummary known = capture.summary.value_or(RunSummary());
    text(second_text(capture.time_ns).substr(0, kMinuteWidth));
    text(name_below(capture.folder, root));
    text(fmt::format("{}", fmt::join(capture.models, " + ")));
    text(fmt::format("{}", fmt::join(capture.batches, ", ")));
    known.executions ? table.number(std::to_string(*known.executions)) : table.missing();
    known.median_ns ? table.number(fixed(*known.median_ns, 1'000'000, 3)) : table.missing();
    text(verdict_of(capture));
    table.text(human_bytes(capture.bytes));
    table.end_row();
  }
  fmt::print("{}", table.for_terminal(STDOUT_FILENO));
}

ordered_json texts_json(const std::vector<std::string>& texts) {
  ordered_json list = ordered_json::array();
  for (const std::string& text : texts) list.push_back(valid_utf8(text));
  return list;
}

template <typename Value>
ordered_json value_json(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json capture_json(const ListedCapture& capture) {
  const RunSummary known = capture.summary.value_or(RunSummary());
  ordered_json one = {{"folder", valid_utf8(capture.folder.string())},
                      {"dialect", dialect_name(capture.dialect)},
                      {"time", second_text(capture.time_ns)},
                      {"models", texts_json(capture.models)},
                      {"batches", texts_json(capture.batches)},
                      {"executions", value_json(known.executions)},
                      {"median_us", nullptr},
                      {"verdict", nullptr},
                      {"verdict_text", valid_utf8(verdict_of(capture))},
                      {"unit_loads", nullptr},
                      {"bytes", capture.bytes},
                      {"run", nullptr}};
  if (known.median_ns) one["median_us"] = static_cast<double>(*known.median_ns) / 1000;
  if (capture.summary) {
    one["verdict"] = valid_utf8(known.verdict);
    one["unit_loads"] = known.has_modelled_loads ? "modelled" : "measured";
  }
  if (!known.layout_file.empty()) one["layout"] = valid_utf8(known.layout_file);
  if (capture.run) one["run"] = run_json(*capture.run);
  return one;
}

Exit list_all(const ListArguments& arguments, ordered_json& document) {
  std::vector<std::string> roots = arguments.folders;
  if (roots.empty()) roots = {"."};
  std::vector<FoundCapture> found;
  for (const std::string& folder : roots) {
    std::error_code error;
    if (!fs::is_directory(folder, error))
      throw Error(Exit::nothing_to_do, fmt::format("no such folder: {}", folder));
    const auto below = captures_below(folder);
    found.insert(found.end(), below.begin(), below.end());
  }
  // A folder may be in another that is named, too.
  std::sort(found.begin(), found.end(),
            [](const FoundCapture& a, const FoundCapture& b) { return a.folder < b.folder; });
  found.erase(std::unique(found.begin(), found.end(),
                          [](const FoundCapture& a, const FoundCapture& b) {
                            return a.folder == b.folder;
                          }),
              found.end());
  const auto captures = list_captures(found);
  if (arguments.json) {
    for (const ListedCapture& capture : captures)
      document["captures"].push_back(capture_json(capture));
  } else if (!captures.empty()) {
    print_table(captures,
                roots.size() == 1 ? fs::path(roots.front()).lexically_normal() : fs::path());
  }
  if (!captures.empty()) return Exit::ok;
  log::warn("no capture (JOB… or PROF…) in {}", fmt::join(roots, ", "));
  return Exit::nothing_to_do;
}

Exit run_list(const ListArguments& arguments) {
  apply_verbosity(arguments.verbosity);
  ordered_json document = {{"schema", "msprof.list/1"}, {"captures", ordered_json::array()}};
  const auto work = [&] { return list_all(arguments, document); };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_list_command(cli::Command& root) {
  auto arguments = std::make_shared<ListArguments>();
  cli::Command& command = root.add_command(
      "list",
      "List the captures in a folder and in all folders below it, newest first: time, model, "
      "batch, "
      "executions, median time of one, verdict of the last import, size. Reads run.json and the "
      "stores at hand; imports nothing.");
  command.set_examples(
      "  msprof list                       what is in this folder and below\n"
      "  msprof list /data/profiles\n"
      "  msprof list --json | jq '.captures[0].folder'   the newest, for scripts");
  command.add_option({"folders", &arguments->folders, "DIR", "where to look (default: here)"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  add_verbosity(command, arguments->verbosity);
  command.set_action([arguments] { return run_list(*arguments); });
}

}  // namespace msprof
