// Chooses the layout used to read the records of a board's capture, in the order of LayoutSource.
// Captures whose records have built-in layouts need none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.hpp"

namespace msprof {

// In the order in which they are tried.
enum class LayoutSource { none, command_line, environment, store, run, folder };

// "--layout", "MSPROF_LAYOUT", "of the last import", "of the run", "of the layouts folder".
std::string_view source_name(LayoutSource source);

struct LayoutChoice {
  LayoutSource source = LayoutSource::none;
  std::string file;  // file that it was originally read from
  std::string json;  // empty: no layout

  // For messages, for example "x.json (MSPROF_LAYOUT)".
  std::string in_words() const;
};

// Reads a layout file named by the user. Throws Error(usage).
LayoutChoice read_layout(const std::string& path, LayoutSource source);

struct LayoutPlaces {
  LayoutChoice given;    // from --layout; if its source is `none`, the other sources are tried
  std::string variable;  // path in MSPROF_LAYOUT; empty if unset
  std::filesystem::path folder;  // the user's layouts folder; empty if there is none
  bool forget = false;           // ignores the layouts of the existing store and of the run
};

// Reads MSPROF_LAYOUT and finds msprof/layouts in XDG_CONFIG_HOME or ~/.config.
LayoutPlaces layout_places();

// Facts about a capture that layouts are matched against.
struct LayoutFacts {
  struct File {
    std::string kind;  // for example "aicore"
    std::string stem;  // as spelled by the board, in lower case: "aacore"
    std::uint64_t bytes = 0;
  };
  std::vector<std::string> products;
  std::vector<std::string> socs;
  std::vector<File> files;  // files without a built-in layout; if empty, no layout is needed
};
LayoutFacts layout_facts(const Session& session);
// Adds the facts in the DeviceInfo of info.json, and the records in a file of `bytes` bytes.
void add_device(const nlohmann::json& info, LayoutFacts& facts);
void add_records(std::string_view kind, std::string_view path, std::uint64_t bytes,
                 LayoutFacts& facts);

// Throws Error(usage) if a file cannot be read, and Error(several_layouts) if two files of the
// user's folder match. A broken file in that folder is only a warning.
LayoutChoice choose_layout(const Session& session, const std::filesystem::path& store,
                           const LayoutPlaces& places);

// The same for records that are not yet a complete capture: uses only the command line, the
// variable and the user's folder. `what` names the records in messages.
LayoutChoice choose_layout(const LayoutFacts& facts, const std::string& what,
                           const LayoutPlaces& places);

// Returns the layout that a store was made with, by any version of msprof. If there is none, its
// source is `none`.
LayoutChoice read_stored_layout(const std::filesystem::path& store);

// Identifies a layout by its content; empty if there is no layout.
std::string layout_id(const LayoutChoice& layout);

// Keys of table `meta`; absent if no file was read with a layout.
namespace meta {
inline constexpr std::string_view kLayout = "layout";
inline constexpr std::string_view kLayoutFile = "layout_file";
inline constexpr std::string_view kLayoutSource = "layout_source";  // source_name()
// layout_id(), even if no file was read with it
inline constexpr std::string_view kLayoutTried = "layout_tried";
}  // namespace meta

}  // namespace msprof
