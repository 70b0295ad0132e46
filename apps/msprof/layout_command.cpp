// msprof layout: infers the record layouts of a board from its captures.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/file_reader.hpp"
#include "base/log.hpp"
#include "base/stdout_output.hpp"
#include "base/text.hpp"
#include "import/layout/capture_samples.hpp"
#include "import/layout/layout_finder.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace {

using nlohmann::ordered_json;

struct LayoutArguments {
  CaptureOptions capture;
  std::string accept;
  std::string model_info;
  std::string write;
  bool json = false;

  bool accepts_likely() const { return accept == "likely"; }
};

layout::LayerShapes read_model_info(const std::string& path) {
  constexpr std::uint64_t kMaxModelInfoBytes = 16 << 20;
  if (path.empty()) return {};
  try {
    return layout::parse_model_info(read_text_file(path, kMaxModelInfoBytes), path);
  } catch (const Error& error) {
    throw Error(Exit::usage, error.what());
  }
}

// Returns true if an import gets the times of at least one kind.
bool is_usable(const layout::InferredLayout& found, bool accept_likely) {
  const auto document = ordered_json::parse(layout::layout_file_text(found, accept_likely));
  return std::any_of(document.begin(), document.end(), [](const ordered_json& kind) {
    return kind.is_object() && kind.contains("fields") &&
           kind["fields"]
               .value(ordered_json::json_pointer("/start/offset"), ordered_json())
               .is_number();
  });
}

bool has_candidates(const layout::InferredLayout& found) {
  return std::any_of(found.kinds.begin(), found.kinds.end(), [](const layout::FoundKind& kind) {
    return !kind.candidate_record_sizes.empty() ||
           std::any_of(kind.fields.begin(), kind.fields.end(), [](const layout::FoundField& field) {
             return field.certainty != layout::Certainty::unknown || !field.candidates.empty();
           });
  });
}

// Explains why an import cannot use the result, and what to do.
std::string way_on(const layout::InferredLayout& found) {
  if (is_usable(found, true))
    return "the fields needed for an import are likely, but not certain: use them with --accept "
           "likely";
  if (has_candidates(found))
    return "too few fields are known for an import: choose among the candidates yourself, or give "
           "more captures of this board (docs/layouts.md)";
  return "no record was found: give more captures of this board, with many executions";
}

Exit find_layout(const LayoutArguments& arguments, ordered_json& document) {
  const layout::LayerShapes shapes = read_model_info(arguments.model_info);
  layout::BoardSamples samples;
  document["captures"] = ordered_json::array();
  const Exit exit = for_each_capture(
      choose_captures(arguments.capture),
      [&](const ChosenCapture& capture) {
        const auto session = Session::open(capture.folder);
        if (session->dialect() != Dialect::svp) {
          throw Error(Exit::nothing_to_do,
                      fmt::format("{} is not a capture of a board: its record layouts are known",
                                  capture.folder.string()));
        }
        layout::add_samples(*session, shapes, samples);
        document["captures"].push_back({{"folder", valid_utf8(capture.folder.string())}});
        return Exit::ok;
      },
      &document["captures"]);
  document["kinds"] = ordered_json::array();
  if (samples.aicore.empty() && samples.aicpu.empty() && samples.acl_api.empty()) {
    log::warn("no data file has an unknown layout: these captures can be imported as they are");
    return gravest(exit, Exit::nothing_to_do);
  }
  const layout::InferredLayout found = layout::find_layouts(samples);
  document["kinds"] = layout::layout_json(found, arguments.accepts_likely());
  if (!arguments.json)
    print_document_text(layout::layout_report(found, arguments.accepts_likely()),
                        DocumentForm::plain);
  const bool usable = is_usable(found, arguments.accepts_likely());
  if (!arguments.write.empty()) {
    AtomicFile file(arguments.write, "");
    file.write(layout::layout_file_text(found, arguments.accepts_likely()));
    file.commit();
    log::info("wrote {}{}", arguments.write,
              usable ? fmt::format(": import with --layout {}", shell_word(arguments.write)) : "");
  }
  if (!usable) log::warn("{}", way_on(found));
  return usable ? exit : gravest(exit, Exit::partial_data);
}

Exit run_layout(const LayoutArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  ordered_json document = {{"schema", "msprof.layout/1"}};
  const auto work = [&] { return find_layout(arguments, document); };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_layout_command(cli::Command& root) {
  auto arguments = std::make_shared<LayoutArguments>();
  cli::Command& command = root.add_command(
      "layout",
      "Infer the unpublished layout of a board's records from its captures: the offset of each "
      "field, the evidence, and whether it is certain, likely or unknown. Several captures of a "
      "board give better results than one. The captures are not changed.");
  command.set_examples(
      "  msprof layout -dir JOBXXX                        print the fields and the evidence\n"
      "  msprof layout -dir JOBXXX --write board.json     save it for import --layout board.json\n"
      "  msprof layout -dir JOBXXX JOBYYY --model-info shapes.json --accept likely --write "
      "board.json");
  cli::Option dirs = {
      "--dir,--collection-dir", &arguments->capture.dirs, "DIR",
      "capture folders (JOB…) of one board, several, or a glob; also -dir. Default: "
      "this folder if it is a capture, else the newest one in it or one level "
      "deeper"};
  dirs.takes_captures = true;
  command.add_option(std::move(dirs));
  cli::Option accept = {"--accept", &arguments->accept, "WHAT",
                        "likely: also use fields that are likely, not only those that are certain"};
  accept.choices = {"likely"};
  command.add_option(std::move(accept));
  command.add_option(
      {"--model-info", &arguments->model_info, "FILE",
       "JSON with the layer shapes, from which byte counts follow (docs/layouts.md)"});
  command.add_option(
      {"--write", &arguments->write, "FILE",
       "write the layout file; unknown fields list their candidates, the best first"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  add_verbosity(command, arguments->capture.verbosity);
  command.set_action([arguments] { return run_layout(*arguments); });
}

}  // namespace msprof
