#include "msprof/completion.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/capture_list.hpp"
#include "base/folder_listing.hpp"
#include "base/text.hpp"
#include "board/session/config.hpp"
#include "msprof/help_text.hpp"
#include "session/session.hpp"

namespace msprof::completion {

namespace {

// Files, folders and captures that start with the typed text. For completion: only reads folders,
// with a time limit.
enum class PathKind {
  file,
  folder,
  capture  // JOB… and PROF… folders, and folders that lead to them
};

struct PathRest {
  std::string rest;          // the text after `typed`; ends in '/' for a folder that can be
                             // continued
  bool goes_on = false;      // the word continues after `rest`: a folder
  std::string help{};        // description of a capture
  std::int64_t time_ns = 0;  // start time of a capture, since 1970; 0: unknown
};

namespace fs = std::filesystem;

// Time limit, since the user waits after TAB: a folder not yet examined is offered anyway.
constexpr std::chrono::milliseconds kTimeToSearch{10};
constexpr std::size_t kMaxEntries = 20'000;
// Time limit for describing captures; the first few are described in any case.
constexpr std::chrono::milliseconds kTimeToDescribe{150};
constexpr std::size_t kAlwaysDescribed = 8;
// Levels below a folder that are searched for captures.
constexpr int kSearchDepth = 3;

struct Typed {
  fs::path folder;   // folder to list
  std::string name;  // prefix of its entries
};

Typed split_path(std::string_view typed) {
  std::string path(typed);
  if (path.starts_with("~/")) {
    if (const char* home = std::getenv("HOME")) path = home + path.substr(1);
  }
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

bool is_folder(const fs::path& folder, const FolderEntry& entry) {
  if (entry.type == fs::file_type::directory) return true;
  if (entry.type == fs::file_type::regular) return false;
  std::error_code error;
  return fs::is_directory(folder / entry.name, error);
}

// Reads folders until its time limit, then judges by name only.
class CaptureLister {
 public:
  bool is_capture(const fs::path& folder) const {
    CaptureFolders folders;
    if (!is_over()) return recognise(folder, folders).has_value();
    return is_named_as_capture(folder.filename().string());
  }

  // Returns true if there is a capture below `folder`, or if the search ran out of time.
  bool may_lead_to_one(const fs::path& folder, int depth = kSearchDepth) const {
    std::vector<fs::path> below;
    if (!is_over()) below = folders_in(folder);
    if (is_over()) return true;
    return std::any_of(below.begin(), below.end(),
                       [&](const fs::path& path) { return is_over() || is_capture(path); }) ||
           (depth > 1 && std::any_of(below.begin(), below.end(), [&](const fs::path& path) {
              return may_lead_to_one(path, depth - 1);
            }));
  }

 private:
  std::vector<fs::path> folders_in(const fs::path& folder) const {
    std::vector<fs::path> folders;
    for (const FolderEntry& entry : list_folder(folder, kMaxEntries).entries) {
      if (is_folder(folder, entry)) folders.push_back(folder / entry.name);
      if (is_over()) break;
    }
    return folders;
  }
  bool is_over() const { return std::chrono::steady_clock::now() > end_; }

  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kTimeToSearch;
};

class CaptureDescriber {
 public:
  void describe(const fs::path& folder, PathRest& rest) {
    if (++count_ > kAlwaysDescribed && std::chrono::steady_clock::now() > end_) return;
    CaptureFolders folders;
    const auto dialect = recognise(folder, folders);
    if (!dialect) return;
    const ListedCapture capture = describe_capture({folder, *dialect});
    rest.time_ns = capture.time_ns;
    rest.help = short_line(capture);
  }

 private:
  std::size_t count_ = 0;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kTimeToDescribe;
};

std::vector<PathRest> find_capture_paths(const std::vector<PathRest>& folders, const Typed& typed) {
  std::vector<PathRest> found;
  const CaptureLister search;
  CaptureDescriber describer;
  for (const PathRest& folder : folders) {
    const std::string rest =
        folder.rest.substr(0, folder.rest.size() - 1);  // without the trailing '/'
    const fs::path path = typed.folder / (typed.name + rest);
    if (search.is_capture(path)) {
      describer.describe(path, found.emplace_back(PathRest{rest, false}));
    } else if (search.may_lead_to_one(path)) {
      found.push_back(folder);
    }
  }
  // No capture nearby: offer the folders to continue.
  return found.empty() ? folders : found;
}

// Returns sorted paths: captures before folders, newest first. Omits names with control characters.
std::vector<PathRest> paths_like(std::string_view typed_text, PathKind kind) {
  const Typed typed = split_path(typed_text);
  std::vector<PathRest> found;
  if (typed_text == "~") return {{"/", true}};
  if (typed.name == "..") found.push_back({"/", true});
  for (const FolderEntry& entry : list_folder(typed.folder, kMaxEntries).entries) {
    const std::string& name = entry.name;
    const bool is_hidden = name.starts_with('.') && !typed.name.starts_with('.');
    if (!name.starts_with(typed.name) || is_hidden || has_control(name)) continue;
    const bool goes_on = is_folder(typed.folder, entry);
    if (goes_on || kind == PathKind::file)
      found.push_back({name.substr(typed.name.size()) + (goes_on ? "/" : ""), goes_on});
  }
  if (kind == PathKind::capture) found = find_capture_paths(found, typed);
  std::sort(found.begin(), found.end(), [](const PathRest& a, const PathRest& b) {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.rest < b.rest;
  });
  return found;
}

bool is_flag(const cli::Option& option) {
  return std::holds_alternative<bool*>(option.target);
}
bool is_repeatable(const cli::Option& option) {
  return std::holds_alternative<std::vector<std::string>*>(option.target);
}
bool is_option_word(std::string_view word) {
  return word.size() > 1 && word.starts_with('-');
}

// The parts of a word "--name=value".
struct OptionWord {
  std::string name;
  std::string value;
  bool has_value = false;
};
OptionWord option_word(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) return {word, "", false};
  return {word.substr(0, equals), word.substr(equals + 1), true};
}

const cli::Option* find_option(const cli::Command& command, const std::string& name) {
  for (const auto& option : command.options()) {
    const auto names = cli::option_names(*option);
    if (std::find(names.begin(), names.end(), name) != names.end()) return option.get();
  }
  return nullptr;
}

// Determines the context of a word from the preceding ones, as the parser does.
class Place {
 public:
  explicit Place(const cli::Command& root) : command_(&root) {}

  void pass(const std::string& word) {
    if (is_rest_) return;
    if (word == "--") {
      is_rest_ = true;
    } else if (!needs_value() && is_option_word(word)) {
      take_option(word);
    } else if (taker_ != nullptr) {
      take_value(word);
    } else if (!enter(word)) {
      note(word);
      ++positionals_;
    }
  }

  const cli::Command& command() const { return *command_; }
  bool is_root() const { return depth_ == 0; }
  bool is_rest() const { return is_rest_; }
  // After "help": only command names may follow.
  bool is_help() const { return is_help_; }
  // The option that accepts the next word; with needs_value(), that word must be its value.
  const cli::Option* find_taker() const { return taker_; }
  bool needs_value() const { return taker_ != nullptr && !taker_has_value_; }
  bool may_come(const cli::Option& option) const {
    return is_repeatable(option) || given_.count(&option) == 0;
  }
  // The next positional argument; null if there is none.
  const cli::Option* next_positional() const {
    std::size_t skip = positionals_;
    for (const auto& option : command_->options()) {
      if (!cli::is_positional(*option)) continue;
      if (is_repeatable(*option) || skip == 0) return option.get();
      --skip;
    }
    return nullptr;
  }
  // Words already given as values or as list elements.
  const std::set<std::string, std::less<>>& values() const { return values_; }

 private:
  bool enter(const std::string& word) {
    if (is_root() && positionals_ == 0 && word == cli::kHelpVerb) return is_help_ = true;
    for (const auto& child : command_->commands()) {
      if (child->name() != word) continue;
      command_ = child.get();
      ++depth_;
      return true;
    }
    return false;
  }

  void note(const std::string& value) {
    values_.insert(value);
    for (const std::string_view part : split(value, ',')) values_.emplace(part);
  }

  void take_option(const std::string& word) {
    const OptionWord parts = option_word(word);
    const cli::Option* option = find_option(*command_, parts.name);
    taker_ = nullptr;
    if (option == nullptr) return;
    given_.insert(option);
    if (is_flag(*option)) return;
    taker_ = option;
    taker_has_value_ = option->is_value_optional;
    if (parts.has_value) take_value(parts.value);
  }

  void take_value(const std::string& value) {
    note(value);
    taker_has_value_ = true;
    if (!is_repeatable(*taker_) || taker_->takes_one_each) taker_ = nullptr;
  }

  const cli::Command* command_;
  int depth_ = 0;
  const cli::Option* taker_ = nullptr;
  bool taker_has_value_ = false;
  bool is_rest_ = false;
  bool is_help_ = false;
  std::size_t positionals_ = 0;
  std::set<const cli::Option*> given_;
  std::set<std::string, std::less<>> values_;
};

class Finder {
 public:
  Finder(const Place& place, std::string typed)
      : place_(place), typed_(std::move(typed)), used_(place.values()) {}

  std::vector<Candidate> find() {
    if (place_.is_rest()) {
      if (place_.command().rest() != nullptr) add_paths(typed_, PathKind::file);
    } else if (place_.is_help()) {
      add_commands();
    } else if (place_.needs_value()) {
      add_values(*place_.find_taker(), typed_);
    } else if (typed_.starts_with('-')) {
      add_options_or_value();
    } else {
      add_words();
    }
    return std::move(found_);
  }

 private:
  void add(std::string_view word, std::string_view typed, std::string_view help) {
    if (word.starts_with(typed))
      found_.push_back({std::string(word.substr(typed.size())), std::string(help)});
  }

  void add_paths(std::string_view typed, PathKind kind) {
    for (PathRest& path : paths_like(typed, kind)) {
      if (!path.goes_on && used_.count(std::string(typed) + path.rest) != 0) continue;
      found_.push_back({std::move(path.rest), std::move(path.help), path.goes_on});
    }
  }

  // Completes the last word of a text. The first word is not completed.
  void add_text_words(const cli::Option& option, std::string_view typed) {
    const auto before = typed.find_last_of(" \t\n(,.=<>*");
    if (before == std::string_view::npos) return;
    std::set<std::string> offered;
    for (const cli::Suggestion& suggestion : option.suggestions()) {
      if (offered.insert(suggestion.word).second)
        add(suggestion.word, typed.substr(before + 1), suggestion.help);
    }
  }

  void add_value_words(const cli::Option& option, std::string_view typed) {
    if (option.takes_text) return add_text_words(option, typed);
    for (const std::string& choice : option.choices) add(choice, typed, "");
    if (!option.suggestions) return;
    for (const cli::Suggestion& suggestion : option.suggestions()) {
      // A name that both kinds of captures share is offered once.
      if (used_.insert(suggestion.word).second) add(suggestion.word, typed, suggestion.help);
    }
  }

  // Returns the element of a list that is being typed; the others are not offered again.
  std::string_view last_list_word(std::string_view typed) {
    const auto parts = split(typed, ',');
    used_.insert(parts.begin(), parts.end() - 1);
    return parts.back();
  }

  void add_values(const cli::Option& option, std::string_view typed) {
    if (option.takes_lists) typed = last_list_word(typed);
    add_value_words(option, typed);
    if (option.takes_captures) {
      add_paths(typed, PathKind::capture);
    } else if (option.value_name == "FILE") {
      add_paths(typed, PathKind::file);
    } else if (option.value_name == "DIR") {
      add_paths(typed, PathKind::folder);
    }
  }

  void add_options_or_value() {
    const OptionWord parts = option_word(typed_);
    if (parts.has_value) {
      const cli::Option* option = find_option(place_.command(), parts.name);
      if (option != nullptr && !is_flag(*option)) add_values(*option, parts.value);
      return;
    }
    add_options();
  }

  void add_options() {
    for (const auto& option : place_.command().options()) {
      if (!cli::is_positional(*option) && place_.may_come(*option)) add_option(*option);
    }
    for (const cli::Suggestion& help : cli::help_options(place_.command())) {
      // Prefer the long name if both match.
      if (help.word.starts_with("--") || typed_ == help.word) add(help.word, typed_, help.help);
    }
    if (place_.is_root()) add(cli::kVersionNames, typed_, cli::kVersionHelp);
  }

  // Adds the first name that matches, preferably a long one.
  void add_option(const cli::Option& option) {
    const auto names = cli::option_names(option);
    const auto fits = [&](const std::string& name) { return name.starts_with(typed_); };
    auto name = std::find_if(names.begin(), names.end(),
                             [&](const auto& one) { return fits(one) && one.starts_with("--"); });
    if (name == names.end()) name = std::find_if(names.begin(), names.end(), fits);
    if (name != names.end()) add(*name, typed_, option.help);
  }

  void add_commands() {
    for (const auto& child : place_.command().commands()) {
      if (!child->is_hidden()) add(child->name(), typed_, child->help());
    }
  }

  // After a word without dash: offers values of an option that accepts several, commands and
  // arguments.
  void add_words() {
    if (place_.find_taker() != nullptr) add_values(*place_.find_taker(), typed_);
    add_commands();
    if (place_.is_root()) add(cli::kHelpVerb, typed_, cli::kHelpVerbHelp);
    const cli::Option* positional = place_.next_positional();
    if (positional != nullptr && place_.find_taker() == nullptr) {
      add_values(*positional, typed_);
    } else if (positional != nullptr) {
      add_value_words(*positional, typed_);
    }
    if (found_.empty() && typed_.empty()) add_options();
  }

  const Place& place_;
  std::string typed_;
  std::set<std::string, std::less<>> used_;
  std::vector<Candidate> found_;
};

}  // namespace

std::vector<Candidate> candidates(const cli::Command& root, const std::vector<std::string>& before,
                                  const std::string& typed) {
  Place place(root);
  for (const std::string& word : before) place.pass(word);
  return Finder(place, typed).find();
}

std::vector<Candidate> file_candidates(const std::string& typed) {
  std::vector<Candidate> found;
  for (PathRest& path : paths_like(typed, PathKind::file))
    found.push_back({std::move(path.rest), "", path.goes_on});
  return found;
}

}  // namespace msprof::completion
