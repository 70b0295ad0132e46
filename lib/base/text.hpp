// Makes untrusted text safe to show and to pass on: UTF-8 repair, terminal width, control
// characters, file names, shell quoting. For writers, messages and the session.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

enum class KeepNewlines { no, yes };

// Returns `text` with each byte that is not part of a valid UTF-8 sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);
bool is_valid_utf8(std::string_view text);

// Returns `text` as valid UTF-8 with each character that can control a terminal replaced by '?':
// control characters (C0, DEL, C1), directional marks, line separators.
std::string printable(std::string_view text, KeepNewlines newlines = KeepNewlines::no);

// Same, but keeps direction marks, for pages that isolate each text.
std::string printable_on_page(std::string_view text);

enum class DocumentForm { plain, json };

// Same for a complete document: keeps newlines and tabs; in JSON, characters become escapes
// (\u009b), which preserve the values.
std::string terminal_document(std::string_view text, DocumentForm form);

// Returns the columns that `text` (valid UTF-8) occupies on a terminal; East Asian wide characters
// count as two.
int display_width(std::string_view text);

// Returns `text` cut to at most `width` columns; ends in an ellipsis if it was cut.
std::string shorten(std::string_view text, int width);

// Suffixes for things of the same name: "" for the first, then "~2", "~3", …
std::string name_suffix(int number);
// Returns `name`, with a suffix if `taken` contains it, and adds the result to `taken`.
std::string take_free_name(std::set<std::string>& taken, const std::string& name);

// Makes a name from a board usable in a file name: bytes < 0x20, 0x7f and '/' become '_'.
std::string file_name_part(std::string_view name);

// Returns a file name of at most 255 bytes: a longer one is cut before its extension and gets a
// hash of the full stem.
std::string limited_file_name(std::string_view stem, std::string_view extension);

// Returns the 64-bit FNV-1a hash, to distinguish names; not cryptographic.
std::uint64_t fnv1a(std::string_view bytes);

// Returns the number of bytes at the end of `text` that are a proper prefix of `word`.
std::size_t partial_match_at_end(std::string_view text, std::string_view word);

std::vector<std::string_view> split(std::string_view text, char separator);
// Deleted because the views would outlive a temporary text.
template <std::same_as<std::string> Text>
std::vector<std::string_view> split(Text&& text, char separator) = delete;
std::string_view trim(std::string_view text);
std::string lower_ascii(std::string_view text);

// Parses a decimal number of digits only (no sign, no blanks); false if invalid or out of range.
bool parse_u64(std::string_view text, std::uint64_t& value);
// Same for the store's signed columns; empty if invalid or out of range.
std::optional<std::int64_t> parse_i64(std::string_view text);

// "1,234,567"
std::string with_thousands(std::uint64_t value);
// "12.3 MB" (powers of 1000)
std::string human_bytes(std::uint64_t bytes);

// Quotes `text` as one POSIX shell word, whatever bytes it has (except NUL): for commands sent to
// boards and commands that users copy from a message.
std::string shell_quoted(std::string_view text);

// Same, but adds quotes only if needed.
std::string shell_word(std::string_view text);

}  // namespace msprof
