// Man pages, written from the texts of --help. The build runs `msprof __man_pages FOLDER`.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "msprof/help_text.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

namespace {

using cli::Command;
using cli::Option;

// Exit codes, as in README.md.
constexpr std::pair<int, std::string_view> kExitCodes[] = {
    {0, "ok"},
    {1, "internal error"},
    {2, "usage"},
    {3, "partial or bad data: the rest was produced"},
    {4, "nothing to do: no such folder, no such data"},
    {5, "cannot write, no memory or thread, or refused to overwrite data that cannot be recreated"},
    {6, "board unreachable or login refused"},
    {7, "application failed"},
    {8, "slower (`compare --fail-above`)"},
    {130, "interrupted"},
};

// Returns the escape of a character that roff would print in another form, so that the text can be
// copied to a shell.
std::string_view roff_escape(char c) {
  switch (c) {
    case '-':
      return "\\-";
    case '\\':
      return "\\e";
    case '\'':
      return "\\(aq";
    case '`':
      return "\\(ga";
    case '~':
      return "\\(ti";
    default:
      return "";
  }
}

// Escapes a text, which must be valid UTF-8, for roff.
std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') ? "\\&" : "";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::string_view escape = roff_escape(text[at]);
    if (!escape.empty()) {
      out += escape;
    } else if (byte < 0x80) {
      out += text[at];
    } else {
      const int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
      std::uint32_t code = byte & (0x3fU >> more);
      for (int i = 0; i < more; ++i)
        code = code << 6 | (static_cast<unsigned char>(text[++at]) & 0x3fU);
      out += fmt::format("\\[u{:04X}]", code);
    }
  }
  return out;
}

void add_entry(std::string& out, std::string_view head, std::string_view text) {
  out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(head), roff(text));
}

// Returns the first sentence, as the part after the name in NAME.
std::string purpose_of(const Command& command) {
  std::string text = command.help().substr(0, command.help().find(". "));
  if (text.ends_with('.')) text.pop_back();
  return lower_ascii(text.substr(0, 1)) + text.substr(1);
}

void add_options(std::string& out, const Command& command, const std::string& group) {
  for (const auto& option : command.options()) {
    if (!cli::is_positional(*option) && option->group == group)
      add_entry(out, cli::option_head(*option), cli::option_help(*option));
  }
}

void add_options(std::string& out, const Command& command) {
  for (const auto& option : command.options()) {
    if (cli::is_positional(*option))
      add_entry(out, cli::option_head(*option), cli::option_help(*option));
  }
  if (command.rest() != nullptr) add_entry(out, "-- ARGUMENTS...", command.rest_help());
  for (const cli::OptionGroup& group : command.groups()) {
    out += fmt::format(".SS {}\n", roff(group.title));
    add_options(out, command, group.title);
  }
  if (!command.groups().empty()) out += ".SS Other options\n";
  add_options(out, command, "");
  add_entry(out, "-h, --help", cli::kHelpHelp);
}

std::string man_page(const Command& root, const Command& command) {
  const bool is_root = &command == &root;
  const std::string name = root.name() + (is_root ? "" : "-" + command.name());
  const std::string path = root.name() + (is_root ? "" : " " + command.name());
  std::string out = fmt::format(".TH {} 1 \"\" \"msprof {}\" \"msprof manual\"\n.ad l\n.nh\n",
                                roff(name), version());
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(purpose_of(command)));
  out += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR\n", roff(cli::synopsis(command, path)));
  out += fmt::format(".SH DESCRIPTION\n{}\n", roff(command.help()));
  if (is_root) {
    out += ".SH COMMANDS\n";
    for (const auto& verb : root.commands())
      if (!verb->is_hidden()) add_entry(out, verb->name(), purpose_of(*verb));
  }
  out += ".SH OPTIONS\n";
  add_options(out, command);
  if (is_root) add_entry(out, cli::kVersionNames, cli::kVersionHelp);
  for (const auto& child : command.commands()) {
    if (is_root) continue;
    out += fmt::format(".SS {}\n{}\n", roff(path + " " + child->name()), roff(child->help()));
    add_options(out, *child);
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : kExitCodes) add_entry(out, std::to_string(code), meaning);
  out += ".SH EXAMPLES\n";
  for (const cli::Example& example : cli::parse_examples(command.examples()))
    add_entry(out, example.command, example.comment);
  out += ".SH SEE ALSO\n";
  if (!is_root) out += ".BR msprof (1),\n";
  return out + "the manual in share/doc/msprof/docs\n";
}

void write_man_pages(const Command& root, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_text_file(folder / (root.name() + ".1"), man_page(root, root));
  for (const auto& verb : root.commands()) {
    if (!verb->is_hidden())
      write_text_file(folder / fmt::format("{}-{}.1", root.name(), verb->name()),
                      man_page(root, *verb));
  }
}

}  // namespace

void add_man_pages_command(Command& root) {
  auto folder = std::make_shared<std::string>();
  Command& command = root.add_command("__man_pages", "Write the man pages; for the build.");
  command.set_hidden();
  command.set_examples("  msprof __man_pages build/man1");
  command.add_option({"folder", folder.get(), "DIR", "folder to write to", {}, true});
  command.set_action([folder, &root] {
    write_man_pages(root, *folder);
    return Exit::ok;
  });
}

}  // namespace msprof
