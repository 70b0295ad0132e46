// Steps shared by verbs: choosing captures, importing them into their stores, writing their
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
// Adds these options except --output: for verbs whose --output is another file. Their option for
// the folder of the store is --store.
void add_capture_choice(cli::Command& command, CaptureOptions& options);

// --excel: for verbs that write CSV.
void add_excel_option(cli::Command& command, bool& excel);

// A capture and the folder for its store and products: the capture itself, or --output (with one
// subfolder per capture if there are several).
struct ChosenCapture {
  std::filesystem::path folder;
  std::filesystem::path products;
};
// Returns the captures named by -dir; without -dir, finds and reports the newest one.
std::vector<ChosenCapture> choose_captures(const CaptureOptions& options);

// Returns the layout named by --layout and checks the file; "" for none. Throws Error(usage).
LayoutChoice layout_option(const std::string& path);

// Creates a new store for `session` and prints the verdict on stderr. `layout`: from --layout.
// `force`: see ImportOptions; also ignores the layout of the existing store.
ImportReport import_verbosely(const Session& session, const std::filesystem::path& products,
                              const LayoutChoice& layout, bool force = false);

// Returns true if the store of a capture produces any product; otherwise reports that it does not.
bool gives_products(const ChosenCapture& capture);

// Removes the results of an import; raw data and products are kept.
void remove_store(const std::filesystem::path& products);

// The open store of a capture. ready_store() imports the capture first if the store is missing, its
// raw files have changed, or another layout applies.
struct ReadyStore {
  TraceDb db;
  Exit exit = Exit::ok;      // partial_data if the verdict is partial
  std::string verdict;       // "complete", "without", "partial": for JSON documents
  std::string verdict_text;  // "complete without HBM bandwidth": for people
};
ReadyStore ready_store(const ChosenCapture& capture);

// Runs `work` for every capture. An Error in one is reported, added to `failures` (a JSON array,
// may be null), and does not stop the others. Returns the most severe result.
template <typename Work>
Exit for_each_capture(const std::vector<ChosenCapture>& captures, Work&& work,
                      nlohmann::ordered_json* failures = nullptr);
void report_capture_error(const ChosenCapture& capture, const Error& error,
                          nlohmann::ordered_json* failures);

// Reports the written files, those too large for viewers, and outdated products of an earlier
// import.
void print_exported(const TraceDb& store, const std::vector<ExportedFile>& files);
// Returns the number of files reported by print_exported().
std::size_t exported_files();

// Plans all products of a store, including the tuning suggestions of older CANN.
std::vector<ExportJob> plan_all_products(const TraceDb& store, const std::filesystem::path& base,
                                         const TimelineOptions& timeline = {},
                                         SummaryFormat format = SummaryFormat::csv);

// Prints the suggestions by device, with the first operators of each.
void print_suggestions(TuningFiles& suggestions);
// Writes and prints the suggestions for a PROF capture, for collections that write no other
// product. Imports without printing the verdict.
void write_suggestions(const std::filesystem::path& capture);

// For `collect --all`: imports `capture` and writes all its products (summaries as csv) into it.
// Prints the verdict and the files on stderr like import and export; `report` (may be null) gets
// {"import": {...}, "exported": ["path", ...]}. Returns the most severe exit code. Throws Error
// only for errors that end the command.
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

// Runs `work`, which fills the --json document, and adds the exit code, even after an Error.
// Integers beyond 2^53 become strings.
Exit fill_document(nlohmann::ordered_json& document, const std::function<Exit()>& work);
// Like fill_document(), and prints the document.
Exit print_document(nlohmann::ordered_json& document, const std::function<Exit()>& work);

}  // namespace msprof
