#include "msprof/script_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "analyze/folder_info.hpp"
#include "base/log.hpp"
#include "base/log_stream.hpp"
#include "base/stdout_output.hpp"
#include "import/importer.hpp"
#include "msprof/application_line.hpp"
#include "session/cann_session.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kParser = "msprof.py";
constexpr std::string_view kFolderInfo = "get_msprof_info.py";

// Returns the value of the last -dir or --collection-dir; empty if there is none.
std::string find_dir_option(const std::vector<std::string>& words) {
  std::string dir;
  const auto all = cli::rewrite_long_options(words);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::string_view name : {"--dir", "--collection-dir"}) {
      if (all[i] == name && i + 1 < all.size()) dir = all[i + 1];
      if (all[i].starts_with(fmt::format("{}=", name))) dir = all[i].substr(name.size() + 1);
    }
  }
  if (dir.empty()) throw Error(Exit::usage, "-dir FOLDER is missing");
  return dir;
}

// Converts "msprof.py analyze -dir PROF -r RULE --type db --clear" to options of the tool itself.
std::vector<std::string> analyze_words(const std::vector<std::string>& words) {
  std::vector<std::string> result = {"--analyze=on", "--output=" + find_dir_option(words)};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool has_next = i + 1 < words.size();
    if (word == "--clear") result.emplace_back("--clear=on");
    if (word.starts_with("--rule=") || word.starts_with("--type=")) result.push_back(word);
    if ((word == "--rule" || word == "-r") && has_next) result.push_back("--rule=" + words[i + 1]);
    if (word.starts_with("-r=")) result.push_back("--rule=" + word.substr(3));
    if (word == "--type" && has_next) result.push_back("--type=" + words[i + 1]);
  }
  return result;
}

Exit query_folders(const std::string& dir) {
  CaptureOptions options;
  options.dirs = {dir};
  return for_each_capture(choose_captures(options), [](const ChosenCapture& capture) {
    print_folder_table(capture);
    return Exit::ok;
  });
}

Exit run_parser(const std::vector<std::string>& words) {
  const auto root = build_command_tree();
  const std::string verb = words.empty() ? "" : words.front();
  if (verb == "query") return query_folders(find_dir_option(words));
  if (verb == "analyze") {
    const auto line = parse_application_line(*root, analyze_words(words));
    if (line) return run_application_line(*line);
  }
  const Exit exit = cli::run(*root, "msprof", words);
  return exit == Exit::partial_data ? Exit::ok : exit;
}

// `folder` is host/ or device_N/ of a capture.
Exit print_folder_info(const fs::path& folder) {
  const fs::path part_folder = fs::weakly_canonical(folder);
  const fs::path capture = part_folder.parent_path();
  const auto refuse = [&]() -> Error {
    return {Exit::nothing_to_do,
            fmt::format("{} is not a host or device_N folder of a capture", folder.string())};
  };
  if (recognise(capture) != Dialect::cann) throw refuse();
  const CannSession session(capture);
  const auto part = std::find_if(
      session.parts().begin(), session.parts().end(),
      [&](const CannPart& one) { return one.name == part_folder.filename().string(); });
  if (part == session.parts().end()) throw refuse();
  const auto store = TraceDb::open(store_path(capture));
  const auto rows = folder_rows(session, store ? &store->database() : nullptr);
  print_document_text(folder_document(*part, rows).dump() + "\n", DocumentForm::json);
  return Exit::ok;
}

}  // namespace

bool is_script_name(std::string_view name) {
  return name == kParser || name == kFolderInfo;
}

Exit run_script(std::string_view name, const std::vector<std::string>& words) {
  log::use_stdout();
  return name == kParser ? run_parser(words) : print_folder_info(find_dir_option(words));
}

void print_folder_table(const ChosenCapture& capture) {
  if (recognise(capture.folder) != Dialect::cann) return;
  const CannSession session(capture.folder);
  const ReadyStore ready = ready_store(capture);
  print_document_text(folder_table(folder_rows(session, &ready.db.database())),
                      DocumentForm::plain);
}

}  // namespace msprof
