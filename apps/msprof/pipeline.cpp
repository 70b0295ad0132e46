#include "msprof/pipeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "analyze/advise/prof_rule.hpp"
#include "analyze/capture_info.hpp"
#include "base/atomic_file.hpp"
#include "base/findings.hpp"
#include "base/json_text.hpp"
#include "base/log.hpp"
#include "base/stdout_output.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "export/product_folder.hpp"
#include "import/importer.hpp"
#include "import/record_layout.hpp"
#include "session/session.hpp"
#include "store/layout_origin.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Converts integers that a double cannot represent to strings, recursively.
void keep_digits(nlohmann::ordered_json& value) {
  if (value.is_structured()) {
    for (auto& part : value) keep_digits(part);
  } else if (value.is_number_unsigned()) {
    const std::string digits = std::to_string(value.get<std::uint64_t>());
    if (!fits_double(digits)) value = digits;
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (!fits_double(number)) value = std::to_string(number);
  }
}

fs::path store_file(const fs::path& products) {
  return product_folder(products, "sqlite") / store_path(products).filename();
}

// Writes the report of a board's import into log/, which the vendor's manual mentions.
void write_import_log(const fs::path& products, const ImportReport& report) {
  const fs::path folder = product_folder(products, "log");
  create_output_folder(folder);
  write_text_file(folder / "msprof_import.log", report.text());
}

ImportReport import_with(const Session& session, const fs::path& products, ImportOptions options) {
  options.inspect = note_empty_products;
  if (session.dialect() == Dialect::svp) {
    options.keep_report = [&](const ImportReport& report) { write_import_log(products, report); };
  }
  ImportReport report = import_session(session, store_file(products), options);
  // A partial verdict is a warning: it is shown even with -q.
  const auto least = report.is_partial() ? log::Level::quiet : log::Level::normal;
  log::write(least, "", fmt::format("{}:\n{}", session.folder().string(), report.text()));
  return report;
}

void add_dirs(cli::Command& command, CaptureOptions& options) {
  cli::Option dirs = {
      "--dir,--collection-dir", &options.dirs, "DIR",
      "capture folder (JOB… or PROF…), several, or a glob; also -dir. Default: this folder if it "
      "is a capture, else the newest one below it"};
  dirs.takes_captures = true;
  command.add_option(std::move(dirs));
}

// Opens a store that this process has just imported.
TraceDb open_made(const fs::path& path) {
  auto store = TraceDb::open(path);
  if (!store)
    throw Error(Exit::partial_data,
                fmt::format("cannot read the store {} after writing it", path.string()));
  return std::move(*store);
}

// Returns true if the import did not use the current layout: it may describe records that the store
// is missing, or describe them differently.
bool has_other_layout(const TraceDb& store, const LayoutChoice& layout) {
  return layout.source != LayoutSource::none && layout_id(layout) != store.meta(meta::kLayoutTried);
}

bool depends_on_layout(const TraceDb& store) {
  if (!store.meta(meta::kLayout).empty()) return true;
  Statement read = store.prepare("SELECT 1 FROM import_log WHERE id = ? ORDER BY rowid LIMIT 1");
  return read.bind(1, finding_info(FindingId::unknown_layout).id).step();
}

// Maximum number of files listed by name; more are counted by folder, and named with -v.
constexpr std::size_t kMaxNamedFiles = 24;

std::string describe_exported_file(const ExportedFile& file) {
  const std::string limit = viewer_limit(file.text_bytes);
  const std::string unpacked =
      file.text_bytes > file.bytes ? fmt::format(", {} of JSON", human_bytes(file.text_bytes)) : "";
  return fmt::format("wrote {} ({}{}{}{})", file.path.string(), human_bytes(file.bytes), unpacked,
                     limit.empty() ? "" : "; ", limit);
}

void print_files(const std::vector<ExportedFile>& files) {
  const bool are_named = files.size() <= kMaxNamedFiles;
  std::map<fs::path, std::pair<std::size_t, std::uint64_t>> folders;  // number of files, bytes
  for (const ExportedFile& file : files) {
    // Files too large for viewers are always named.
    if (are_named || !viewer_limit(file.text_bytes).empty()) {
      log::info("{}", describe_exported_file(file));
    } else {
      log::verbose("{}", describe_exported_file(file));
    }
    auto& [count, bytes] = folders[file.path.parent_path()];
    ++count;
    bytes += file.bytes;
  }
  if (are_named) return;
  for (const auto& [folder, sum] : folders) {
    log::info("wrote {} to {} ({}; -v lists them)", counted(sum.first, "file"), folder.string(),
              human_bytes(sum.second));
  }
}

std::size_t g_exported_files = 0;

// Keeps the list to one screen.
constexpr std::size_t kNamedOperators = 5;

}  // namespace

Exit fill_document(nlohmann::ordered_json& document, const std::function<Exit()>& work) {
  Exit exit = Exit::ok;
  try {
    exit = work();
  } catch (const Error& error) {
    log::failure(error);
    document["error"] = valid_utf8(error.what());
    if (error.id()) document["error_id"] = finding_info(*error.id()).id;
    exit = error.code();
  }
  document["exit_code"] = static_cast<int>(exit);
  keep_digits(document);
  return exit;
}

Exit print_document(nlohmann::ordered_json& document, const std::function<Exit()>& work) {
  const Exit exit = fill_document(document, work);
  print_document_text(document.dump(2) + "\n", DocumentForm::json);
  return exit;
}

void add_capture_options(cli::Command& command, CaptureOptions& options) {
  add_dirs(command, options);
  command.add_option({"--output", &options.output, "DIR",
                      "put store and products into DIR instead of into the capture"});
  add_verbosity(command, options.verbosity);
}

void add_capture_choice(cli::Command& command, CaptureOptions& options) {
  add_dirs(command, options);
  add_verbosity(command, options.verbosity);
}

void add_excel_option(cli::Command& command, bool& excel) {
  command.add_option(
      {"--excel", &excel, "",
       "csv for Excel: with a byte order mark (other programs may read it as part of the first "
       "header) and an apostrophe before text that looks like a formula"});
}

std::vector<ChosenCapture> choose_captures(const CaptureOptions& options) {
  std::vector<fs::path> folders;
  if (options.dirs.empty()) {
    const fs::path newest = newest_capture(".");
    folders.push_back(newest.lexically_normal());
    log::info("no -dir given: using {}", fs::weakly_canonical(newest).string());
  } else {
    folders = find_captures(options.dirs);
  }
  std::vector<ChosenCapture> chosen;
  std::set<std::string> names;
  for (fs::path folder : folders) {
    // Makes the path absolute: "." would be meaningless in a report.
    if (folder.filename() == "." || folder.filename() == "..")
      folder = fs::weakly_canonical(folder);
    fs::path products = options.output.empty() ? folder : fs::path(options.output);
    if (!options.output.empty() && folders.size() > 1) {
      const std::string name = fs::weakly_canonical(folder).filename().string();
      products /= take_free_name(names, name);
    }
    chosen.push_back({folder, products});
  }
  return chosen;
}

LayoutChoice layout_option(const std::string& path) {
  if (path.empty()) return {};
  LayoutChoice layout = read_layout(path, LayoutSource::command_line);
  LayoutSet::parse(layout.json, path);
  return layout;
}

ImportReport import_verbosely(const Session& session, const fs::path& products,
                              const LayoutChoice& layout, bool force) {
  LayoutPlaces places = layout_places();
  places.given = layout;
  places.forget = force;
  ImportOptions options;
  options.layout = choose_layout(session, store_file(products), places);
  options.force = force;
  return import_with(session, products, options);
}

bool gives_products(const ChosenCapture& capture) {
  const TraceDb store = open_made(store_file(capture.products));
  if (has_any_product(store.database())) return true;
  log::warn("{} has no profile data", capture.folder.string());
  return false;
}

void remove_store(const fs::path& products) {
  const fs::path store = store_path(products);
  std::error_code error;
  for (const char* const suffix : {"", "-wal", "-shm", "-journal"})
    fs::remove(store.string() + suffix, error);
  fs::remove(store.parent_path(), error);  // only if it is empty
}

ReadyStore ready_store(const ChosenCapture& capture) {
  const auto session = Session::open(capture.folder);
  const fs::path path = store_file(capture.products);
  auto store = current_store(*session, path);
  if (!store || depends_on_layout(*store)) {
    ImportOptions options;
    options.layout = choose_layout(*session, path, layout_places());
    if (!store || has_other_layout(*store, options.layout)) {
      store.reset();
      import_with(*session, capture.products, options);
    }
  }
  if (!store) store = open_made(path);
  std::string verdict = store->meta(meta::kVerdict);
  std::string text = store->meta(meta::kVerdictText);
  const bool partial = verdict == verdict_name(Severity::partial);
  if (partial)
    log::verbose("{}: partial data; `msprof import` lists what is missing",
                 capture.folder.string());
  return {std::move(*store), partial ? Exit::partial_data : Exit::ok, std::move(verdict),
          std::move(text)};
}

void report_capture_error(const ChosenCapture& capture, const Error& error,
                          nlohmann::ordered_json* failures) {
  log::failure(error);
  if (failures == nullptr) return;
  failures->push_back(
      {{"folder", valid_utf8(capture.folder.string())}, {"error", valid_utf8(error.what())}});
}

std::size_t exported_files() {
  return g_exported_files;
}

void print_exported(const TraceDb& store, const std::vector<ExportedFile>& files) {
  g_exported_files += files.size();
  print_files(files);
  if (!files.empty() && read_layout_origin(store.database()) == LayoutOrigin::inferred)
    log::info("{}", kInferredNote);
  const auto outdated = outdated_products(store, files);
  if (outdated.empty()) return;
  log::warn("{} older than the store, from an earlier import: {}{}",
            outdated.size() == 1 ? "a product is" : fmt::format("{} products are", outdated.size()),
            outdated.front().string(), outdated.size() == 1 ? "" : " …");
}

std::vector<ExportJob> plan_all_products(const TraceDb& store, const fs::path& base,
                                         const TimelineOptions& timeline, SummaryFormat format) {
  const auto rules = ProfRules::plan(store, base, {.style = timeline.style}, nullptr);
  auto jobs = plan_all(store, base, timeline, format, rules ? rules->listener() : nullptr);
  if (rules) jobs.push_back(rules->job());
  return jobs;
}

void print_suggestions(TuningFiles& suggestions) {
  for (const TuningFile& file : suggestions.take()) {
    if (file.suggestions.empty()) continue;
    log::info("tuning suggestions for device {} (all operators: {}; more: `msprof advise`):",
              file.device, file.path.string());
    for (const TuningSuggestion& one : file.suggestions) {
      const std::size_t named = std::min(kNamedOperators, one.operators.size());
      const std::vector<std::string> first(one.operators.begin(),
                                           one.operators.begin() + static_cast<long>(named));
      const std::size_t rest = one.operators.size() - named;
      log::info("  {}: {}{}{}{}", one.type, one.suggestion, named == 0 ? "" : ": ",
                fmt::join(first, ", "), rest == 0 ? "" : fmt::format(" and {} more", rest));
    }
  }
}

void write_suggestions(const fs::path& capture) {
  const auto session = Session::open(capture);
  if (session->dialect() != Dialect::cann) return;
  const fs::path path = store_file(capture);
  auto store = current_store(*session, path);
  if (!store) {
    ImportOptions options;
    options.inspect = note_empty_products;
    import_session(*session, path, options);
    store = open_made(path);
  }
  const auto found = std::make_shared<TuningFiles>();
  const auto rules = ProfRules::plan(*store, capture, {}, found);
  if (!rules) return;
  run_export_jobs(*store, {rules->job()});
  print_suggestions(*found);
}

Exit import_and_export(const fs::path& capture, nlohmann::json* report, const LayoutChoice& layout,
                       const TimelineOptions& timeline) {
  const auto session = Session::open(capture);
  const ImportReport imported = import_verbosely(*session, capture, layout);
  if (report != nullptr) (*report)["import"] = imported.json();
  const ChosenCapture chosen{capture, capture};
  const Exit exit = imported.is_partial() ? Exit::partial_data : Exit::ok;
  if (!gives_products(chosen)) return gravest(exit, Exit::nothing_to_do);
  const ReadyStore ready = ready_store(chosen);
  const auto files = run_export_jobs(ready.db, plan_all_products(ready.db, capture, timeline));
  print_exported(ready.db, files);
  if (report != nullptr) {
    (*report)["exported"] = nlohmann::json::array();
    for (const auto& file : files) (*report)["exported"].push_back(valid_utf8(file.path.string()));
  }
  return exit;
}

}  // namespace msprof
