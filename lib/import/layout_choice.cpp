#include "import/layout_choice.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/folder_listing.hpp"
#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "import/record_layout.hpp"
#include "session/run_record.hpp"
#include "store/any_version_meta.hpp"
#include "store/trace_db.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxLayoutFileBytes = 1 << 20;
constexpr std::size_t kMaxLayoutFiles = 1'000;

// Absolute path in an environment variable; empty if unset or relative.
fs::path folder_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr || value[0] != '/' ? fs::path() : fs::path(value);
}

std::vector<fs::path> layout_files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (folder.empty()) return files;
  const FolderListing listing = list_folder(folder);
  // Not an error: HOME may be that of another user, as after sudo.
  if (listing.is_cut())
    log::warn("layouts ignored: {}", printable(listing_problem(folder, listing.error_number)));
  for (const auto& [name, type] : listing.entries) {
    const bool is_layout = name.ends_with(".json") && !name.starts_with('.');
    if (is_layout && files.size() < kMaxLayoutFiles) files.push_back(folder / name);
  }
  return files;
}

bool fits_one(const std::vector<std::string>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), text.c_str(), FNM_CASEFOLD) == 0;
  });
}

bool fits_any(const std::vector<std::string>& patterns, const std::vector<std::string>& texts) {
  return patterns.empty() || std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
           return fits_one(patterns, text);
         });
}

// True if the layouts and the capture have kinds in common, and each of these has a file of whole
// records; its other files may be truncated.
bool fits_records(const LayoutSet& layouts, const LayoutFacts& facts) {
  bool fits_some = false;
  for (const auto& [kind, layout] : layouts.all()) {
    bool is_there = false;
    bool is_whole = false;
    for (const LayoutFacts::File& file : facts.files) {
      if (file.kind != kind || !fits_any(layouts.match()->stems, {file.stem})) continue;
      is_there = true;
      is_whole = is_whole || layout.has_whole_records(file.bytes);
    }
    if (is_there && !is_whole) return false;
    fits_some = fits_some || is_there;
  }
  return fits_some;
}

bool is_layout_for(const LayoutSet& layouts, const LayoutFacts& facts) {
  const auto& match = layouts.match();
  return match && fits_any(match->products, facts.products) && fits_any(match->socs, facts.socs) &&
         fits_records(layouts, facts);
}

LayoutChoice choose_in_folder(const std::string& what, const std::vector<fs::path>& files,
                              const LayoutFacts& facts) {
  LayoutChoice chosen;
  for (const fs::path& file : files) {
    try {
      LayoutChoice one = read_layout(file.string(), LayoutSource::folder);
      const LayoutSet layouts = LayoutSet::parse(one.json, one.file);
      if (!layouts.match())
        log::verbose("{} has no \"match\": it is used with --layout only", one.file);
      if (!is_layout_for(layouts, facts)) continue;
      if (chosen.source != LayoutSource::none)
        throw Error(FindingId::several_layouts,
                    fmt::format("{} and {} both match {}: choose one with --layout FILE, or make "
                                "their \"match\" more specific",
                                chosen.file, one.file, what));
      chosen = std::move(one);
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted || error.id()) throw;
      log::warn("layout ignored: {}", error.what());
    }
  }
  return chosen;
}

LayoutChoice read_run_layout(const fs::path& capture) {
  const auto run = read_run_record(capture);
  if (!run || run->layout.json.empty()) return {};
  return {LayoutSource::run, run->layout.file, run->layout.json};
}

}  // namespace

std::string_view source_name(LayoutSource source) {
  switch (source) {
    case LayoutSource::none:
      break;
    case LayoutSource::command_line:
      return "--layout";
    case LayoutSource::environment:
      return "MSPROF_LAYOUT";
    case LayoutSource::store:
      return "of the last import";
    case LayoutSource::run:
      return "of the run";
    case LayoutSource::folder:
      return "of the layouts folder";
  }
  return "";
}

std::string LayoutChoice::in_words() const {
  return fmt::format("{} ({})", printable(file), source_name(source));
}

LayoutChoice read_layout(const std::string& path, LayoutSource source) {
  try {
    return {source, path, read_text_file(path, kMaxLayoutFileBytes)};
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    throw Error(Exit::usage, source == LayoutSource::environment
                                 ? fmt::format("MSPROF_LAYOUT: {}", error.what())
                                 : error.what());
  }
}

LayoutPlaces layout_places() {
  LayoutPlaces places;
  if (const char* const file = std::getenv("MSPROF_LAYOUT")) places.variable = file;
  fs::path config = folder_in("XDG_CONFIG_HOME");
  if (config.empty()) {
    const fs::path home = folder_in("HOME");
    if (!home.empty()) config = home / ".config";
  }
  if (!config.empty()) places.folder = config / "msprof" / "layouts";
  return places;
}

LayoutChoice choose_layout(const Session& session, const fs::path& store,
                           const LayoutPlaces& places) {
  if (places.given.source != LayoutSource::none) return places.given;
  if (session.dialect() != Dialect::svp) return {};
  LayoutChoice before;
  if (!places.forget) {
    before = read_stored_layout(store);
    if (before.source == LayoutSource::none) before = read_run_layout(session.folder());
  }
  const auto files = layout_files_in(places.folder);
  const bool has_some =
      !places.variable.empty() || before.source != LayoutSource::none || !files.empty();
  if (!has_some) return {};
  const LayoutFacts facts = layout_facts(session);
  if (facts.files.empty()) return {};
  if (!places.variable.empty()) return read_layout(places.variable, LayoutSource::environment);
  if (before.source != LayoutSource::none) return before;
  return choose_in_folder(session.folder().string(), files, facts);
}

LayoutChoice choose_layout(const LayoutFacts& facts, const std::string& what,
                           const LayoutPlaces& places) {
  if (places.given.source != LayoutSource::none) return places.given;
  if (!places.variable.empty()) return read_layout(places.variable, LayoutSource::environment);
  return choose_in_folder(what, layout_files_in(places.folder), facts);
}

std::string layout_id(const LayoutChoice& layout) {
  return layout.json.empty() ? std::string() : sha256(layout.json);
}

LayoutChoice read_stored_layout(const fs::path& store) {
  LayoutChoice choice;
  choice.json = read_any_meta(store, meta::kLayout);
  if (choice.json.empty()) return {};
  choice.source = LayoutSource::store;
  choice.file = read_any_meta(store, meta::kLayoutFile);
  if (choice.file.empty()) choice.file = "layout";
  return choice;
}

}  // namespace msprof
