// msprof import: converts raw data to a store and prints a verdict.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "import/importer.hpp"
#include "import/record_layout.hpp"
#include "msprof/pipeline.hpp"
#include "store/run_summary.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct ImportArguments {
  CaptureOptions capture;
  std::string layout;
  std::string layout_template;
  bool force = false;
  bool json = false;
};

void write_template(const std::string& path, const std::vector<UnknownLayout>& unknown) {
  if (unknown.empty()) {
    log::info("{} was not written: the layouts of all files are known", path);
    return;
  }
  write_text_file(path, layout_template(unknown));
  log::info("wrote {}: fill it in, then import with --layout {}", path, path);
}

// Imports every capture and adds the verdicts to the array `captures`.
Exit import_all(const ImportArguments& arguments, ordered_json& captures) {
  const LayoutChoice layout = layout_option(arguments.layout);
  std::vector<UnknownLayout> unknown;
  const Exit exit = for_each_capture(
      choose_captures(arguments.capture),
      [&](const ChosenCapture& capture) {
        const auto session = Session::open(capture.folder);
        const ImportReport report =
            import_verbosely(*session, capture.products, layout, arguments.force);
        unknown.insert(unknown.end(), report.unknown_layouts().begin(),
                       report.unknown_layouts().end());
        const fs::path store = store_path(capture.products);
        Exit result = report.is_partial() ? Exit::partial_data : Exit::ok;
        if (!gives_products(capture)) result = gravest(result, Exit::nothing_to_do);
        log::info("store: {}", store.string());
        ordered_json one = {{"folder", valid_utf8(capture.folder.string())},
                            {"store", valid_utf8(store.string())},
                            {"dialect", dialect_name(session->dialect())}};
        one.update(report.json());
        captures.push_back(std::move(one));
        return result;
      },
      &captures);
  if (!arguments.layout_template.empty()) write_template(arguments.layout_template, unknown);
  return exit;
}

Exit run_import(const ImportArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  count_no_memory_of_stores();
  ordered_json document = {{"schema", "msprof.import/2"}, {"captures", ordered_json::array()}};
  const auto work = [&] { return import_all(arguments, document["captures"]); };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_import_command(cli::Command& root) {
  auto arguments = std::make_shared<ImportArguments>();
  cli::Command& command =
      root.add_command("import",
                       "Import the raw data of a capture into its store (JOBXXX/sqlite/msprof.db) "
                       "and report what was read, skipped and missing. Captures are JOB… folders "
                       "of SVP boards and PROF… folders of Atlas machines. Always creates a new "
                       "store; the old one is kept until the new one is complete.");
  command.set_examples(
      "  msprof import -dir JOBXXX                     read one capture\n"
      "  msprof import -dir 'runs/JOB*' --json         several captures, the verdict as JSON\n"
      "  msprof import -dir PROF_XXX                   one capture of an Atlas machine\n"
      "  msprof import -dir /mnt/ro/JOBXXX --output .  a read-only capture\n"
      "  msprof import -dir JOBXXX --layout-template layout.json   a board whose record layouts "
      "are unknown");
  add_capture_options(command, arguments->capture);
  command.add_option(
      {"--layout", &arguments->layout, "FILE",
       "JSON description of the board's record layouts (default: MSPROF_LAYOUT, that of the last "
       "import or of the run, or a matching file in ~/.config/msprof/layouts)"});
  command.add_option({"--layout-template", &arguments->layout_template, "FILE",
                      "write a template of such a description for the files with unknown layout"});
  command.add_option({"--force", &arguments->force, "",
                      "replace a store that was imported with a layout, even if records that need "
                      "the layout are then missing; ignore the layout of the last import"});
  command.add_option(
      {"--json", &arguments->json, "", "print the verdict as one JSON document on stdout"});
  command.set_action([arguments] { return run_import(*arguments); });
}

}  // namespace msprof
