// Text from outside made safe to show, and to hand on: UTF-8 repair, terminal width, control bytes,
// file names, words of a shell.
// For writers, messages and the session.
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

// Valid UTF-8 of `text`: every byte that is not part of a valid sequence becomes U+FFFD.
std::string valid_utf8(std::string_view text);
bool is_valid_utf8(std::string_view text);

// Returns `text` as valid UTF-8 with every character that steers a terminal replaced by '?':
// control characters (C0, DEL, C1), marks that change the direction of writing, separators of
// lines.
std::string printable(std::string_view text, KeepNewlines newlines = KeepNewlines::no);

// Returns the same with marks of direction as they are, for pages that isolate each text.
std::string printable_on_page(std::string_view text);

enum class DocumentForm { plain, json };

// Returns a whole document for a terminal: the same characters, but for newlines and tabs, become
// '?', in JSON their escape (\u009b), which leaves the values as they are.
std::string terminal_document(std::string_view text, DocumentForm form);

// Columns that `text` (valid UTF-8) takes on a terminal; East Asian wide characters take two.
int display_width(std::string_view text);

// `text` cut to at most `width` columns, an ellipsis at the end where something was cut.
std::string shorten(std::string_view text, int width);

// Suffixes that distinguish things of one name: "" behind the first of them, then "~2", "~3", …
std::string name_suffix(int number);
// `name`, with such a suffix where `taken` has it already; it has the result afterwards.
std::string take_free_name(std::set<std::string>& taken, const std::string& name);

// A name from a board as part of a file name: every byte < 0x20, 0x7f and '/' becomes '_'.
std::string file_name_part(std::string_view name);

// A file name of at most 255 bytes: a longer one is cut before its extension and gets a hash of the
// whole.
std::string limited_file_name(std::string_view stem, std::string_view extension);

// 64-bit FNV-1a; to distinguish names, not for safety.
std::uint64_t fnv1a(std::string_view bytes);

// Number of bytes at the end of `text` that are a prefix of `word` but not the whole word.
std::size_t partial_match_at_end(std::string_view text, std::string_view word);

std::vector<std::string_view> split(std::string_view text, char separator);
// The views would outlive a temporary text.
template <std::same_as<std::string> Text>
std::vector<std::string_view> split(Text&& text, char separator) = delete;
std::string_view trim(std::string_view text);
std::string lower_ascii(std::string_view text);

// Parses a whole decimal number of digits only (no sign, no blanks) that fits; false otherwise.
bool parse_u64(std::string_view text, std::uint64_t& value);
// Parses one for a column of the store, which is signed; empty where it is none or does not fit.
std::optional<std::int64_t> parse_i64(std::string_view text);

// "1,234,567"
std::string with_thousands(std::uint64_t value);
// "12.3 MB" (powers of 1000)
std::string human_bytes(std::uint64_t bytes);

// `text` as one word of a POSIX shell, whatever bytes it has (NUL excepted): for what is sent to
// boards, and for commands that users copy from a message.
std::string shell_quoted(std::string_view text);

// Returns such a word, in quotes only where it needs them.
std::string shell_word(std::string_view text);

}  // namespace msprof
