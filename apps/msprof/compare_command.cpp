// msprof compare: shows what changed between two runs, of captures or of clusters.
#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analyze/capture_list.hpp"
#include "analyze/compare/compare.hpp"
#include "analyze/compare/html_report.hpp"
#include "base/atomic_file.hpp"
#include "base/log.hpp"
#include "base/stdout_output.hpp"
#include "base/text.hpp"
#include "msprof/cluster_comparison.hpp"
#include "msprof/compare_output.hpp"
#include "msprof/pipeline.hpp"
#include "session/session.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct CompareArguments {
  std::string base;
  std::string now;
  std::string output;
  std::string format = "text";
  bool json = false;
  std::string csv_file;
  std::string html_file;
  bool excel = false;
  std::optional<std::string> fail_above;
  std::optional<long> top;
  Verbosity verbosity;
};

// Parses "5%" or "5", in percent.
std::optional<double> parse_fail_above(const CompareArguments& arguments) {
  if (!arguments.fail_above) return std::nullopt;
  std::string text = *arguments.fail_above;
  if (text.ends_with('%')) text.pop_back();
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && *end == '\0' && percent >= 0 && percent < 1e9 &&
                         text.find_first_not_of("0123456789.") == std::string::npos;
  if (is_number) return percent;
  throw Error(Exit::usage, fmt::format("--fail-above: expected a percentage such as 5%, got '{}'",
                                       *arguments.fail_above));
}

// Splits a comma-separated list of runs. An existing folder whose name contains a comma is a single
// run.
std::vector<std::string> split_runs(const std::string& list) {
  std::error_code ignored;
  if (fs::exists(list, ignored)) return {list};
  std::vector<std::string> runs;
  for (const std::string_view run : split(list, ','))
    if (!run.empty()) runs.emplace_back(run);
  if (runs.empty()) throw Error(Exit::usage, "compare needs two captures, BASE and NEW");
  return runs;
}

// Assigns each capture a separate folder below --output. A capture that is in both baseline and
// candidate gets a single one.
class Products {
 public:
  explicit Products(const std::string& output) : output_(output) {}

  fs::path of(const fs::path& capture) {
    if (output_.empty()) return capture;
    const fs::path whole = fs::weakly_canonical(capture);
    const auto known = folders_.find(whole);
    if (known != folders_.end()) return known->second;
    const std::string name = take_free_name(names_, whole.filename().string());
    return folders_[whole] = fs::path(output_) / name;
  }

 private:
  std::string output_;
  std::map<fs::path, fs::path> folders_;
  std::set<std::string> names_;
};

std::vector<ComparedRun> open_runs(const std::string& list, Products& products, Exit& exit) {
  std::vector<ComparedRun> runs;
  const std::vector<fs::path> folders = find_captures(split_runs(list));
  // recognise() throws if a folder cannot be listed, since it may be a capture: the comparison then
  // fails.
  const bool has_any = std::any_of(folders.begin(), folders.end(),
                                   [](const fs::path& folder) { return recognise(folder); });
  for (const fs::path& folder : folders) {
    // A side with several runs can be compared without this one.
    if (has_any && !recognise(folder)) {
      log::warn("skipped: {}", why_not_a_capture(folder));
      exit = gravest(exit, Exit::nothing_to_do);
      continue;
    }
    ReadyStore ready = ready_store({folder, products.of(folder)});
    exit = gravest(exit, ready.exit);
    std::string name = fs::weakly_canonical(folder).filename().string();
    runs.push_back(
        {std::move(ready.db), std::move(name), ready.exit != Exit::ok, read_run_line(folder)});
  }
  return runs;
}

// Opens its file before the comparison, so that a path that cannot be written is reported at once.
class ReportFile {
 public:
  explicit ReportFile(const std::string& path) {
    if (!path.empty()) file_.emplace(path, "");
  }
  bool is_wanted() const { return file_.has_value(); }
  void write(const std::string& text) {
    file_->write(text);
    file_->commit();
    log::info("wrote {} ({})", file_->target().string(), human_bytes(text.size()));
  }

 private:
  std::optional<AtomicFile> file_;
};

TextStyle text_style(const CompareArguments& arguments) {
  TextStyle style;
  if (arguments.top) style.top = static_cast<std::size_t>(*arguments.top);
  style.width = text_width(STDOUT_FILENO);
  style.bold = is_colour_allowed(STDOUT_FILENO);
  return style;
}

void keep_top(std::optional<long> top, Comparison& comparison) {
  if (!top) return;
  const auto most = static_cast<std::size_t>(*top);
  if (comparison.ops.size() > most) comparison.ops.resize(most);
  if (comparison.types.size() > most) comparison.types.resize(most);
  if (comparison.calls.size() > most) comparison.calls.resize(most);
  if (comparison.ranges.size() > most) comparison.ranges.resize(most);
  if (comparison.counters.size() > most) comparison.counters.resize(most);
}

// Works for captures and clusters.
template <typename Compared>
bool is_regression(const Compared& comparison, double limit) {
  return comparison.verdict == Verdict::slower && comparison.total.percent().value_or(0) > limit;
}

template <typename Compared>
void print_limit(const Compared& comparison, double limit) {
  const double percent = comparison.total.percent().value_or(0);
  if (is_regression(comparison, limit)) {
    log::warn("regression: {:.1f} % slower, more than {:g} % and beyond noise", percent, limit);
  } else if (percent > limit) {
    log::info("{:.1f} % slower, more than {:g} %, but within noise: no regression", percent, limit);
  }
}

class CompareCommand {
 public:
  explicit CompareCommand(const CompareArguments& arguments)
      : arguments_(arguments),
        limit_(parse_fail_above(arguments)),
        csv_(arguments.csv_file),
        html_(arguments.html_file) {}

  Exit run(ordered_json& document) {
    Exit exit = Exit::ok;
    Comparison comparison = read(exit);
    if (csv_.is_wanted()) csv_.write(comparison_csv(comparison, arguments_.excel));
    if (html_.is_wanted()) html_.write(html_report(comparison));
    print(comparison, document);
    return judge(comparison, exit, document);
  }

  Exit run_clusters(const fs::path& base, const fs::path& now, ordered_json& document) {
    if (!arguments_.output.empty())
      throw Error(
          Exit::usage,
          "--output sets the folder for the stores of captures: it cannot be used with clusters");
    const ClusterComparison comparison = compare_cluster_files(base, now);
    if (csv_.is_wanted()) csv_.write(cluster_comparison_csv(comparison, arguments_.excel));
    if (html_.is_wanted()) html_.write(cluster_comparison_page(comparison));
    const TextStyle style = text_style(arguments_);
    if (arguments_.format == "text") {
      fmt::print("{}", cluster_comparison_text(comparison, style.top, style.width, style.bold));
    } else if (arguments_.format == "json") {
      add_cluster_comparison(comparison, arguments_.top ? style.top : SIZE_MAX, document);
    } else if (arguments_.format == "html") {
      print_document_text(cluster_comparison_page(comparison), DocumentForm::plain);
    } else {
      print_document_text(cluster_comparison_csv(comparison, arguments_.excel),
                          DocumentForm::plain);
    }
    const bool is_whole = comparison.base.lacking.empty() && comparison.now.lacking.empty();
    return judge(comparison, is_whole ? Exit::ok : Exit::partial_data, document);
  }

 private:
  template <typename Compared>
  Exit judge(const Compared& comparison, Exit exit, ordered_json& document) const {
    if (!limit_) return exit;
    const bool regression = is_regression(comparison, *limit_);
    document["fail_above"] = *limit_;
    document["regression"] = regression;
    print_limit(comparison, *limit_);
    return regression ? gravest(exit, Exit::regression) : exit;
  }

  Comparison read(Exit& exit) {
    Products products(arguments_.output);
    const auto base = open_runs(arguments_.base, products, exit);
    const auto now = open_runs(arguments_.now, products, exit);
    return compare_stores(base, now);
  }

  void print(const Comparison& comparison, ordered_json& document) const {
    if (arguments_.format == "text") {
      fmt::print("{}", comparison_text(comparison, text_style(arguments_)));
      return;
    }
    Comparison shown = comparison;
    keep_top(arguments_.top, shown);
    if (arguments_.format == "json") add_comparison(shown, document);
    if (arguments_.format == "html")
      print_document_text(html_report(comparison), DocumentForm::plain);
    if (arguments_.format == "csv")
      print_document_text(comparison_csv(shown, arguments_.excel), DocumentForm::plain);
  }

  const CompareArguments& arguments_;
  std::optional<double> limit_;
  ReportFile csv_;
  ReportFile html_;
};

Exit run_compare(CompareArguments& arguments) {
  apply_verbosity(arguments.verbosity);
  if (arguments.json) arguments.format = "json";
  if (arguments.excel && arguments.csv_file.empty() && arguments.format != "csv")
    throw Error(Exit::usage, "--excel applies to csv: add --format csv or --csv FILE");
  if (arguments.top && *arguments.top < 1)
    throw Error(Exit::usage, fmt::format("--top: expected a number >= 1, got {}", *arguments.top));
  const auto clusters = cluster_sides(arguments.base, arguments.now);
  ordered_json document = {{"schema", clusters ? "msprof.compare_cluster/1" : "msprof.compare/2"}};
  const auto work = [&] {
    CompareCommand command(arguments);
    return clusters ? command.run_clusters(clusters->first, clusters->second, document)
                    : command.run(document);
  };
  return arguments.format == "json" ? print_document(document, work) : work();
}

}  // namespace

void add_compare_command(cli::Command& root) {
  auto arguments = std::make_shared<CompareArguments>();
  cli::Command& command =
      root.add_command("compare",
                       "Show what changed between two runs: time per execution, operators, loads, "
                       "calls, and which differences are noise. For two cluster.db: steps, ranks, "
                       "collectives, operators. Imports first if needed.");
  command.set_examples(
      "  msprof compare JOBAAA JOBBB                   before and after a change\n"
      "  msprof compare PROF_A1,PROF_A2,PROF_A3 PROF_B1,PROF_B2,PROF_B3   several runs each, to "
      "detect smaller changes\n"
      "  msprof compare old new --fail-above 5%        for CI: exit code 8 if NEW is slower\n"
      "  msprof compare before/cluster.db after/cluster.db   many ranks\n"
      "  msprof compare JOBAAA JOBBB --html report.html");
  cli::Option base = {"BASE", &arguments->base, "CAPTURE",
                      "capture folder (JOB… or PROF_…), several separated by commas, or a folder "
                      "that contains them; or a cluster.db"};
  base.is_required = base.takes_captures = base.takes_lists = true;
  command.add_option(std::move(base));
  cli::Option now = {"NEW", &arguments->now, "CAPTURE",
                     "the capture to compare with BASE, in the same form"};
  now.is_required = now.takes_captures = now.takes_lists = true;
  command.add_option(std::move(now));
  command.add_option({"--fail-above", &arguments->fail_above, "PERCENT",
                      "exit code 8 if NEW is slower by more than PERCENT and beyond noise"});
  command.add_option({"--top", &arguments->top, "N", "only the N largest changes of each table"});
  command.add_option(
      {"--format", &arguments->format, "FORMAT", "output format", {"text", "json", "csv", "html"}});
  command.add_option(
      {"--json", &arguments->json, "", "print one JSON document on stdout; same as --format json"});
  command.add_option(
      {"--csv", &arguments->csv_file, "FILE",
       "also write the operators and, after an empty line, the system counters as CSV"});
  add_excel_option(command, arguments->excel);
  command.add_option({"--html", &arguments->html_file, "FILE",
                      "also write an HTML report with charts of the changes, as a single file"});
  command.add_option(
      {"--output", &arguments->output, "DIR",
       "put the stores into DIR instead of into the captures, one folder per capture"});
  add_verbosity(command, arguments->verbosity);
  command.set_action([arguments] { return run_compare(*arguments); });
}

}  // namespace msprof
