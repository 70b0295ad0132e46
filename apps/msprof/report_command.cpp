// msprof report: writes a capture as a single HTML file to send to others.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "analyze/capture_info.hpp"
#include "analyze/report/report_page.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/findings.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "msprof/language.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace {

constexpr const char* kReportName = "report.html";

struct ReportArguments {
  CaptureOptions capture;
  std::string html_file;
  std::string language;
};

std::filesystem::path prepare_report_path(const ReportArguments& arguments,
                                          const ChosenCapture& capture) {
  if (!arguments.html_file.empty()) return arguments.html_file;
  create_output_folder(capture.products);
  return capture.products / kReportName;
}

Exit report_one(const ReportArguments& arguments, const ChosenCapture& capture) {
  const ReadyStore ready = ready_store(capture);
  const std::filesystem::path target = prepare_report_path(arguments, capture);
  AtomicFile file(target, arguments.html_file.empty() ? kOtherOutput : "");
  const ReportHead head{capture.folder.filename().string(), ready.verdict_text,
                        ready.exit != Exit::ok, MSPROF_VERSION, read_run_record(capture.folder)};
  file.write(report_page(ready.db, head, choose_language(arguments.language)));
  file.commit();
  log::info("wrote {} ({})", target.string(), human_bytes(file.bytes_written()));
  if (has_any_product(ready.db.database())) return ready.exit;
  log::warn("{} has no profile data", capture.folder.string());
  return gravest(ready.exit, Exit::nothing_to_do);
}

// --output is a folder for other verbs. Here, a name that looks like an HTML page is the output
// file itself.
bool is_page_name(const std::string& output) {
  std::error_code error;
  const std::string extension = lower_ascii(std::filesystem::path(output).extension().string());
  return (extension == ".html" || extension == ".htm") &&
         !std::filesystem::is_directory(output, error);
}

Exit run_report(ReportArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  std::string option = "--html";
  if (is_page_name(arguments.capture.output)) {
    if (!arguments.html_file.empty())
      throw Error(Exit::usage, "--output and --html both name a file: give only one");
    option = "--output";
    arguments.html_file = std::exchange(arguments.capture.output, "");
  }
  const auto captures = choose_captures(arguments.capture);
  if (!arguments.html_file.empty() && captures.size() > 1) {
    throw Error(Exit::usage, fmt::format("{} names one file, but there are several captures: "
                                         "remove it to write a report.html for each",
                                         option));
  }
  return for_each_capture(
      captures, [&](const ChosenCapture& capture) { return report_one(arguments, capture); });
}

}  // namespace

void add_report_command(cli::Command& root) {
  auto arguments = std::make_shared<ReportArguments>();
  cli::Command& command = root.add_command(
      "report",
      "Write a self-contained HTML report of a capture: verdict, run, zoomable timeline, hottest "
      "layers or operators with their loads, memory-bound layers, counters, advice. It needs no "
      "network and no other files. Imports first if needed.");
  command.set_examples(
      "  msprof report                               the newest capture in this folder\n"
      "  msprof report -dir JOBXXX --html run.html   into this file; same as --output\n"
      "  msprof report -dir PROF_XXX --lang zh       in Chinese");
  add_capture_options(command, arguments->capture);
  command.add_option({"--html", &arguments->html_file, "FILE",
                      "output file (default: report.html in the capture or in --output, which can "
                      "also name the file)"});
  add_language_option(command, arguments->language);
  command.set_action([arguments] { return run_report(*arguments); });
}

}  // namespace msprof
