#include "msprof/application_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/findings.hpp"
#include "base/log.hpp"
#include "base/log_stream.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "export/trace/report_names.hpp"
#include "import/importer.hpp"
#include "msprof/cann_collection.hpp"
#include "msprof/capture_analysis.hpp"
#include "msprof/help_text.hpp"
#include "msprof/pipeline.hpp"
#include "msprof/script_names.hpp"
#include "session/session.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;

constexpr std::array kOfflineWorks = {"parse", "query", "export", "analyze"};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(Exit::usage, sentence);
}

bool is_verb(const cli::Command& root, const std::string& word) {
  return word == cli::kHelpVerb ||
         std::any_of(root.commands().begin(), root.commands().end(),
                     [&](const auto& verb) { return verb->name() == word; });
}

bool has_option(const cli::Command& command, const std::string& name) {
  return std::any_of(command.commands().begin(), command.commands().end(), [&](const auto& below) {
    for (const auto& option : below->options()) {
      const auto names = cli::option_names(*option);
      if (std::find(names.begin(), names.end(), name) != names.end()) return true;
    }
    return has_option(*below, name);
  });
}

bool can_be_run(const std::string& word) {
  try {
    find_application(word, {}, fs::current_path(), variable("PATH"));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The requested work on an existing folder; empty if none was requested.
std::string offline_work(const CollectorSettings& settings) {
  std::string work;
  for (const char* const one : kOfflineWorks) {
    if (!settings.is_given(one)) continue;
    if (!work.empty())
      refuse(
          fmt::format("--{} and --{} cannot be combined: run them one after the other", work, one));
    work = one;
  }
  if (!work.empty()) return work;
  return settings.is_given("clear") ? "clear" : "";
}

// Rejects options without the work they belong to.
void check_offline_options(const CollectorSettings& settings, const std::string& work) {
  const std::pair<const char*, const char*> needs[] = {{"rule", "analyze"},
                                                       {"iteration-id", "export"},
                                                       {"model-id", "export"},
                                                       {"reports", "export"}};
  for (const auto& [option, needed] : needs) {
    if (settings.is_given(option) && work != needed)
      refuse(fmt::format("--{} needs --{}=on", option, needed));
  }
  if (settings.is_given("reports") && settings.value("type") == "db")
    refuse("--reports selects timeline layers, but --type=db writes no timeline");
  if (settings.is_given("reports")) read_report_layers(settings.value("reports"));
}

bool gave_products(Exit exit) {
  return exit == Exit::ok || exit == Exit::partial_data;
}

// Exit status for callers of CANN's tool. Damaged records, or one of several captures without data,
// are no failure if products were written: stdout and the store contain the verdict.
class CallersStatus {
 public:
  void add(Exit exit) {
    has_products_ = has_products_ || gave_products(exit);
    add_cause(exit);
  }
  // Adds the result of a step that writes no products.
  void add_cause(Exit exit) { gravest_ = gravest(gravest_, exit); }
  bool has_products() const { return has_products_; }
  Exit exit() const {
    const bool is_minor = gravest_ == Exit::partial_data || gravest_ == Exit::nothing_to_do;
    return is_minor && has_products_ ? Exit::ok : gravest_;
  }

 private:
  bool has_products_ = false;
  Exit gravest_ = Exit::ok;
};

// Lines on stdout that tell callers the progress and the data folder, in the form of CANN's tool
// (docs/collect_cann.md).
void print_start() {
  log::info("[INFO] Start profiling....");
}

void print_end(const fs::path& folder) {
  fs::path place = fs::absolute(folder).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  log::info("[INFO] Profiling finished.");
  log::info("[INFO] Process profiling data complete. Data is saved in {}", place.string());
}

// Runs one step of the work on a capture. If it fails, the other captures are still processed.
Exit run_step(std::string_view name, std::string_view title, const fs::path& capture,
              const std::function<Exit()>& work) {
  const std::string folder = own_name(capture);
  log::info("[INFO] Start {} data in {}.", name, folder);
  Exit exit = Exit::ok;
  try {
    exit = work();
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted || error.code() == Exit::usage) throw;
    log::failure(error);
    exit = error.code();
  }
  if (gave_products(exit)) log::info("[INFO] {} all data in {} done.", title, folder);
  return exit;
}

Exit run_verb(const std::vector<std::string>& words) {
  return cli::run(*build_command_tree(), "msprof", words);
}

// torch_npu checks for the database every 0.1 s while this process runs. If the process ends before
// torch_npu has seen the database, torch_npu reports a failed export.
constexpr std::chrono::milliseconds kTimeToSeeDatabase{300};

Exit export_db(const std::string& capture) {
  const Exit exit = run_verb({"export", "db", "-dir", capture});
  std::this_thread::sleep_for(kTimeToSeeDatabase);
  return exit;
}

// Writes the files of `export all` that are neither timelines nor tables.
Exit export_service_files(const std::string& folder) {
  CaptureOptions chosen;
  chosen.dirs = {folder};
  return for_each_capture(choose_captures(chosen), [](const ChosenCapture& capture) {
    const ReadyStore ready = ready_store(capture);
    std::vector<ExportJob> jobs;
    add_service_files(jobs, ready.db, capture.products);
    run_export_jobs(ready.db, jobs);
    return ready.exit;
  });
}

// Only tables have a JSON form, so they are exported separately from the other products.
Exit export_capture(const CollectorSettings& settings, const std::string& capture) {
  if (settings.value("type") == "db") return export_db(capture);
  // An explicit -1 selects every model.
  const bool is_part = settings.is_given("model-id") ? settings.value("model-id") != "-1"
                                                     : settings.is_given("iteration-id");
  const auto one = [&](std::vector<std::string> command) {
    const bool has_timeline = command[1] != "summary";
    if (has_timeline) command.insert(command.end(), {"--arrow-ends", "every"});
    if (has_timeline && settings.is_given("reports"))
      command.insert(command.end(), {"--reports", settings.value("reports")});
    command.insert(command.end(), {"-dir", capture});
    if (is_part && settings.is_given("model-id"))
      command.insert(command.end(), {"--model-id", settings.value("model-id")});
    if (is_part) command.insert(command.end(), {"--iteration-id", settings.value("iteration-id")});
    return run_verb(command);
  };
  const bool is_json = settings.value("summary-format") == "json";
  if (!is_json && !is_part) return one({"export", "all"});
  CallersStatus status;
  status.add(one({"export", "timeline"}));
  std::vector<std::string> summary = {"export", "summary"};
  if (is_json) summary.insert(summary.end(), {"--format", "json"});
  status.add(one(summary));
  status.add_cause(export_service_files(capture));
  return status.exit();
}

// A damaged capture without any product is a failure.
Exit run_export(const fs::path& capture, const std::function<Exit()>& work) {
  return run_step("export", "Export", capture, [&] {
    const std::size_t before = exported_files();
    const Exit exit = work();
    if (!gave_products(exit) || exported_files() > before) return exit;
    throw Error(Exit::nothing_to_do,
                fmt::format("{}: no product could be written", capture.string()));
  });
}

Exit query_capture(const ChosenCapture& capture) {
  print_folder_table(capture);
  return run_verb({"query", "-dir", capture.folder.string()});
}

Exit work_on(const CollectorSettings& settings, const std::string& work,
             const ChosenCapture& capture) {
  const std::string folder = capture.folder.string();
  if (work == "parse")
    return run_step("parse", "Parse", folder, [&] { return run_verb({"import", "-dir", folder}); });
  if (work == "query")
    return run_step("query", "Query", folder, [&] { return query_capture(capture); });
  if (work == "export") return run_export(folder, [&] { return export_capture(settings, folder); });
  return run_step("analyze", "Analyze", folder, [&] { return analyse_capture(settings, capture); });
}

Exit run_offline(const CollectorSettings& settings, const std::string& work) {
  check_offline_options(settings, work);
  CaptureOptions chosen;
  chosen.dirs = {settings.value("output")};
  if (chosen.dirs.front().empty())
    refuse(fmt::format("--{}=on needs --output=PROF_…, the capture folder", work));
  const auto captures = choose_captures(chosen);
  print_start();
  CallersStatus status;
  for (const ChosenCapture& capture : captures) {
    status.add(work_on(settings, work, capture));
    if (settings.is_given("clear")) remove_store(capture.products);
  }
  log::release_errors(status.exit() == Exit::ok);
  if (status.has_products()) print_end(chosen.dirs.front());
  return status.exit();
}

fs::path choose_output_folder(const ApplicationLine& line, const fs::path& program) {
  if (line.settings.is_given("output")) return line.settings.value("output");
  const std::string work = variable("ASCEND_WORK_PATH");
  if (!work.empty()) return fs::path(work) / "profiling_data";
  return line.is_quoted ? program.parent_path() : fs::current_path();
}

// Returns the file whose folder is the default output of --application: the script if the program
// is Python, else the program.
fs::path named_file(const CannRun& run) {
  if (!run.application.program.filename().string().starts_with("python"))
    return run.application.program;
  for (const std::string& word : run.application.arguments) {
    if (!word.starts_with('-')) return fs::absolute(word);
  }
  return run.application.program;
}

// With --pid there is no application to start: the processes are already running.
Exit run_application(const ApplicationLine& line) {
  CannRequest request;
  request.settings = line.settings;
  if (!line.application.empty()) {
    request.main = line.application.front();
    request.arguments.assign(line.application.begin() + 1, line.application.end());
  }
  std::optional<CannRun> run;
  if (!line.settings.is_given("pid")) run = plan_cann_run(request);
  if (line.settings.is_given("python-path"))
    log::info("--python-path is not needed: msprof parses by itself");
  CollectOptions options;
  options.output = choose_output_folder(line, run ? named_file(*run) : fs::path()).string();
  std::vector<ChosenCapture> captures;
  CallersStatus status;
  const auto process = [&](const fs::path& capture, nlohmann::json* report) {
    const bool is_usual =
        line.settings.value("type") == "text" && line.settings.value("summary-format") == "csv";
    const Exit exit = run_export(capture, [&] {
      return is_usual ? import_and_export(capture, report, {}, {.ends_every_arrow = true})
                      : export_capture(line.settings, capture.string());
    });
    if (gave_products(exit)) captures.push_back({capture, capture});
    status.add(exit);
    return exit;
  };
  CollectionPlan plan;
  plan.process = process;
  for (const auto& [name, value] : line.settings.given()) {
    if (name != "application") plan.record.options.emplace_back("--" + name, value);
  }
  print_start();
  nlohmann::ordered_json document;
  const Exit exit = run ? collect_cann_here(*run, options, plan, document)
                        : collect_cann(request, options, plan, document);
  std::sort(captures.begin(), captures.end(),
            [](const auto& a, const auto& b) { return a.folder < b.folder; });
  for (const ChosenCapture& capture : captures) {
    status.add_cause(run_step("query", "Query", capture.folder, [&] {
      print_folder_table(capture);
      return run_verb({"advise", "-dir", capture.folder.string()});
    }));
  }
  status.add_cause(exit);
  log::release_errors(status.exit() == Exit::ok);
  // With --dynamic, the answers to typed commands replace these lines.
  if (status.has_products() && !line.settings.is_given("dynamic"))
    print_end(captures.back().folder);
  return status.exit();
}

}  // namespace

void add_application_options(cli::Command& root) {
  auto values = std::make_shared<std::deque<std::optional<std::string>>>();
  root.begin_group("Options of `msprof [OPTIONS] APPLICATION`, for applications on CANN");
  for (const CollectorOption& option : collector_options()) {
    std::string help(option.help);
    if (!option.by_default.empty()) help += fmt::format(" (default {})", option.by_default);
    std::vector<std::string> choices;
    if (option.values.find('|') != std::string_view::npos && option.values.front() >= 'a') {
      for (const std::string_view choice : split(option.values, '|')) choices.emplace_back(choice);
    }
    cli::Option declared = {fmt::format("--{}", option.name), &values->emplace_back(),
                            std::string(option.values), std::move(help), std::move(choices)};
    declared.last_counts = true;
    root.add_option(std::move(declared));
  }
  root.keep(values);
}

std::optional<ApplicationLine> parse_application_line(const cli::Command& root,
                                                      const std::vector<std::string>& words) {
  ApplicationLine line;
  // Options for help are also accepted where a value or the application is expected.
  const auto asks_for_help = [&](std::size_t at) {
    return at < words.size() && cli::find_help_topic(root, {words[at]});
  };
  std::size_t at = 0;
  for (; at < words.size() && words[at].starts_with("--") && words[at] != "--"; ++at) {
    const std::string& word = words[at];
    const std::size_t end = word.find('=');
    const std::string name = word.substr(2, end == std::string::npos ? end : end - 2);
    const bool is_known = find_collector_option(name) != nullptr;
    const bool is_of_all = asks_for_help(at) || word == cli::kVersionNames;
    if (!is_known && (is_of_all || has_option(root, "--" + name))) return std::nullopt;
    if (end != std::string::npos) {
      line.settings.set(name, word.substr(end + 1));
    } else if (asks_for_help(at + 1)) {
      return std::nullopt;
    } else if (is_known && at + 1 == words.size()) {
      refuse(fmt::format("{} needs a value: {}", word, find_collector_option(name)->values));
    } else {
      line.settings.set(name, is_known ? words[++at] : "");
    }
  }
  if (at < words.size() && words[at] == "op" && !can_be_run("op"))
    refuse(
        "msprof op is a different tool: run msopprof of CANN's operator toolkit (MindStudio); this "
        "msprof profiles applications");
  const bool is_after_dashes = at < words.size() && words[at] == "--";
  if (is_after_dashes) ++at;
  const bool has_options = !line.settings.given().empty();
  if (at == words.size() && !has_options) return std::nullopt;
  if (at < words.size() && !is_after_dashes) {
    if (asks_for_help(at)) return std::nullopt;
    const std::string& word = words[at];
    if (is_verb(root, word)) {
      if (!has_options) return std::nullopt;
      refuse(fmt::format(
          "--{0} is an option for running an application, but '{1}' is a command: put options "
          "after the command, or run an application of that name with `msprof --{0}=… -- {1}`",
          line.settings.given().begin()->first, word));
    }
    if (!has_options && (word.starts_with('-') || !can_be_run(word))) return std::nullopt;
  }
  line.application.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  if (!line.settings.is_given("application")) return line;
  if (!line.application.empty())
    refuse(fmt::format("--application and '{}' both name an application: give only one",
                       printable(line.application.front())));
  line.application = split_command(line.settings.value("application"), "--application");
  if (line.application.empty())
    refuse("--application is empty: give the command line of an application");
  line.is_quoted = true;
  return line;
}

std::vector<std::string> split_command(const std::string& text, std::string_view option) {
  std::vector<std::string> words;
  std::string word;
  bool is_open = false;  // inside a word, which may still be empty
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_escaped = c == '\\' && quote != '\'' && i + 1 < text.size();
    if (is_escaped) {
      word += text[++i];
      is_open = true;
    } else if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      is_open = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (is_open) words.push_back(std::exchange(word, ""));
      is_open = false;
    } else {
      word += c;
      is_open = true;
    }
  }
  if (quote != '\0') refuse(fmt::format("{}: the closing {} is missing", option, quote));
  if (is_open) words.push_back(word);
  return words;
}

Exit run_application_line(const ApplicationLine& line) {
  log::use_stdout();
  const std::string work = offline_work(line.settings);
  if (!work.empty() && !line.application.empty())
    refuse(fmt::format("--{}=on works on an existing folder: remove the application", work));
  if (!work.empty()) return run_offline(line.settings, work);
  check_offline_options(line.settings, "");
  if (line.application.empty() && !line.settings.is_given("pid"))
    refuse(
        "no application given: msprof [options] application, or --application=\"application "
        "arguments\"");
  return run_application(line);
}

}  // namespace msprof
