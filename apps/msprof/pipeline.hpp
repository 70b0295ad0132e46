// Steps that verbs share: choosing captures, importing them into their stores, writing their
// products.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyze/advise/prof_rule.hpp"
#include "base/error.hpp"
#include "export/exporter.hpp"
#include "import/import_report.hpp"
#include "import/layout_choice.hpp"
#include "msprof/verbs.hpp"
#include "session/session.hpp"

namespace msprof {

// -dir, --output, -q and -v: the options of every verb that works on captures.
struct CaptureOptions {
  std::vector<std::string> dirs;
  std::string output;
  Verbosity verbosity;
};
void add_capture_options(cli::Command& command, CaptureOptions& options);
// All of them but --output: for verbs that write elsewhere and have --store for the folder.
void add_capture_choice(cli::Command& command, CaptureOptions& options);

// --excel: of verbs that write CSV.
void add_excel_option(cli::Command& command, bool& excel);

// A capture and the folder that takes its store and products: the capture itself, or --output (with
// a sub-folder a capture where there are several).
struct ChosenCapture {
  std::filesystem::path folder;
  std::filesystem::path products;
};
// Captures that -dir names, or the newest one around, which is then reported.
std::vector<ChosenCapture> choose_captures(const CaptureOptions& options);

// Layout of --layout, "" for none, whose text is checked. Throws Error(usage).
LayoutChoice layout_option(const std::string& path);

// Makes a fresh store for `session`, with the verdict on stderr. `layout`: of --layout; `force`:
// see ImportOptions, and what the store was made with is not looked at.
ImportReport import_verbosely(const Session& session, const std::filesystem::path& products,
                              const LayoutChoice& layout, bool force = false);

// True if the store of a capture gives any product; that it gives none is reported.
bool gives_products(const ChosenCapture& capture);

// Removes what an import made; raw data and products stay.
void remove_store(const std::filesystem::path& products);

// Opens the store of a capture, imported first when it is missing, its raw files changed, or
// another layout describes what is in them.
struct ReadyStore {
  TraceDb db;
  Exit exit = Exit::ok;      // partial_data when the verdict is partial
  std::string verdict;       // "complete", "without", "partial": for JSON documents
  std::string verdict_text;  // "complete without HBM bandwidth": for people
};
ReadyStore ready_store(const ChosenCapture& capture);

// Runs `work` for every capture: an Error in one is reported, and noted in `failures` (a JSON
// array, may be null), and the others go on. Returns the gravest.
template <typename Work>
Exit for_each_capture(const std::vector<ChosenCapture>& captures, Work&& work,
                      nlohmann::ordered_json* failures = nullptr);
void report_capture_error(const ChosenCapture& capture, const Error& error,
                          nlohmann::ordered_json* failures);

// Reports what was written, what is too large for viewers, and what stands there that an earlier
// import made.
void print_exported(const TraceDb& store, const std::vector<ExportedFile>& files);
// How many files were reported so.
std::size_t exported_files();

// Plans all products of a store, the tuning suggestions of older CANN among them.
std::vector<ExportJob> plan_all_products(const TraceDb& store, const std::filesystem::path& base,
                                         const TimelineOptions& timeline = {},
                                         SummaryFormat format = SummaryFormat::csv);

// Prints the suggestions by device, with the first operators of each.
void print_suggestions(TuningFiles& suggestions);
// Writes and prints those of a PROF capture, for collections that make no other product. Imports
// without the verdict.
void write_suggestions(const std::filesystem::path& capture);

// Imports `capture`, for `collect --all`, and writes all its products (summaries as csv) into it.
// Prints the verdict and the files on stderr as import and export do; `report` (may be null) gets
// {"import": {...}, "exported": ["path", ...]}. Returns the gravest exit code; throws Error only
// for what ends a command.
Exit import_and_export(const std::filesystem::path& capture, nlohmann::json* report,
                       const LayoutChoice& layout = {}, const TimelineOptions& timeline = {});

template <typename Work>
Exit for_each_capture(const std::vector<ChosenCapture>& captures, Work&& work,
                      nlohmann::ordered_json* failures) {
  Exit exit = Exit::ok;
  for (const ChosenCapture& capture : captures) {
    try {
      exit = gravest(exit, work(capture));
    } catch (const Error& error) {
      const bool ends_all = error.code() == Exit::interrupted || error.code() == Exit::usage;
      if (captures.size() == 1 || ends_all) throw;
      report_capture_error(capture, error, failures);
      exit = gravest(exit, error.code());
    }
  }
  return exit;
}

// Document of --json. For the verbs that have it.

// Runs `work`, for --json, which fills `document`, and adds the exit code, also when an Error ended
// the work. Integers beyond 2^53 are strings.
Exit fill_document(nlohmann::ordered_json& document, const std::function<Exit()>& work);
// The same, and prints it.
Exit print_document(nlohmann::ordered_json& document, const std::function<Exit()>& work);

}  // namespace msprof
