// Which layout the records of a board's capture are read with. For every verb that imports; the
// order is that of LayoutSource. Captures whose records are all known have no layout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.hpp"

namespace msprof {

// From the first that is looked at to the last.
enum class LayoutSource { none, command_line, environment, store, run, folder };

// "--layout", "MSPROF_LAYOUT", "of the last import", "of the run", "of the layouts folder".
std::string_view source_name(LayoutSource source);

struct LayoutChoice {
  LayoutSource source = LayoutSource::none;
  std::string file;  // that it was, or once was, read from
  std::string json;  // empty: none

  // "x.json (MSPROF_LAYOUT)", for messages.
  std::string in_words() const;
};

// Reads a layout file that the user names; throws Error(usage).
LayoutChoice read_layout(const std::string& path, LayoutSource source);

struct LayoutPlaces {
  LayoutChoice given;            // of --layout; none: the other places
  std::string variable;          // MSPROF_LAYOUT, a path; empty: not set
  std::filesystem::path folder;  // of the user; empty: none
  bool forget = false;           // leaves out what the store at hand was made with, and the run
};

// MSPROF_LAYOUT, and msprof/layouts in XDG_CONFIG_HOME or ~/.config.
LayoutPlaces layout_places();

// What a layout is matched with.
struct LayoutFacts {
  struct File {
    std::string kind;  // "aicore"
    std::string stem;  // as the board spells it, in lower case: "aacore"
    std::uint64_t bytes = 0;
  };
  std::vector<std::string> products;
  std::vector<std::string> socs;
  std::vector<File> files;  // whose records are not ours; none: no layout is needed
};
LayoutFacts layout_facts(const Session& session);

// Throws Error(usage) for a file that cannot be read, Error(several_layouts) where two of the
// user's folder fit. A broken file there is a warning.
LayoutChoice choose_layout(const Session& session, const std::filesystem::path& store,
                           const LayoutPlaces& places);

// The same for records that are not a whole capture yet: of the command line, the variable and the
// user's folder. `what` names them in messages.
LayoutChoice choose_layout(const LayoutFacts& facts, const std::string& what,
                           const LayoutPlaces& places);

// The layout that a store was made with, by this or another version; source none: none.
LayoutChoice layout_of(const std::filesystem::path& store);

// To tell layouts apart; empty: none.
std::string layout_id(const LayoutChoice& layout);

// Keys of the table `meta`; absent where no file was read with a layout.
namespace meta {
inline constexpr std::string_view kLayout = "layout";               // its text
inline constexpr std::string_view kLayoutFile = "layout_file";      // its name
inline constexpr std::string_view kLayoutSource = "layout_source";  // source_name()
inline constexpr std::string_view kLayoutTried = "layout_tried";    // layout_id(), used or not
}  // namespace meta

}  // namespace msprof
