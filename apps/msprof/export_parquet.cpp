// msprof export parquet: writes the tasks of many captures as one data set in one folder.
#include "msprof/export_parquet.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "export/parquet/parquet_export.hpp"
#include "export/product_folder.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

struct ParquetArguments {
  CaptureOptions capture;  // its output is the folder for stores
  std::string output;
  std::optional<long> rank;
};

Exit run_parquet(const ParquetArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  const auto captures = choose_captures(arguments.capture);
  ParquetOptions options;
  if (arguments.rank) {
    if (*arguments.rank < 0)
      throw Error(Exit::usage,
                  fmt::format("--rank: expected a number >= 0, got {}", *arguments.rank));
    if (captures.size() > 1) throw Error(Exit::usage, "--rank works with a single capture only");
    options.rank = *arguments.rank;
  }
  return for_each_capture(captures, [&](const ChosenCapture& capture) {
    const ReadyStore ready = ready_store(capture);
    const fs::path dir = arguments.output.empty() ? product_folder(capture.folder, "parquet")
                                                  : fs::path(arguments.output);
    const std::string name = fs::weakly_canonical(capture.folder).filename().string();
    const auto files = export_parquet(ready.db, dir, name, options);
    for (const ExportedFile& file : files)
      log::info("wrote {} ({})", file.path.string(), human_bytes(file.bytes));
    if (!files.empty()) return ready.exit;
    log::warn("{}: no task, call or collective; `msprof import` shows why",
              capture.folder.string());
    return gravest(ready.exit, Exit::nothing_to_do);
  });
}

}  // namespace

void add_export_parquet(cli::Command& parent) {
  auto arguments = std::make_shared<ParquetArguments>();
  cli::Command& command = parent.add_command(
      "parquet",
      "Write tasks, calls, collectives and operators as Parquet files for DuckDB, ClickHouse and "
      "other readers: DIR/tasks/rank=00017/CAPTURE.parquet, DIR/calls/…, DIR/collectives/…, "
      "DIR/ops/…. Captures of many ranks can share one DIR. Imports first if the capture has no "
      "store or its raw files have changed.");
  command.set_examples(
      "  msprof export parquet -dir PROF_XXX\n"
      "  msprof export parquet -dir 'ranks/*/PROF_*' --output job");
  add_capture_choice(command, arguments->capture);
  command.add_option({"--output", &arguments->output, "DIR",
                      "folder for the files of all captures (default: parquet in the capture)"});
  command.add_option({"--store", &arguments->capture.output, "DIR",
                      "put the store into DIR instead of into the capture"});
  command.add_option(
      {"--rank", &arguments->rank, "N", "rank of the capture, if it has none or a wrong one"});
  command.set_action([arguments] { return run_parquet(*arguments); });
}

}  // namespace msprof
