#include "base/text.hpp"

#include <catch2/catch.hpp>

using namespace msprof;

namespace {

const std::string kReplacement = "\xEF\xBF\xBD";

}  // namespace

TEST_CASE("valid UTF-8 stays as it is, every other byte becomes U+FFFD") {
  for (const char* text : {"", "plain", "卷积", "é", "\xF0\x9F\x98\x80"}) {
    CHECK(is_valid_utf8(text));
    CHECK(valid_utf8(text) == text);
  }
  CHECK(valid_utf8("a\xff"
                   "b") == "a" + kReplacement + "b");
  CHECK(valid_utf8("\x80\x80") == kReplacement + kReplacement);
  // Truncated, a surrogate, overlong, above U+10FFFF.
  for (const char* text : {"\xe5\x8d", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80"}) {
    CHECK_FALSE(is_valid_utf8(text));
    CHECK(is_valid_utf8(valid_utf8(text)));
  }
}

TEST_CASE("terminal control sequences are not printable") {
  CHECK(printable("a\x1b[2Jb") == "a?[2Jb");
  CHECK(printable("\r\n\t\x7f") == "????");
  CHECK(printable("\xc2\x9b") == "?");  // CSI as one C1 character
  CHECK(printable("a\nb\r", KeepNewlines::yes) == "a\nb?");
  CHECK(printable("卷\xff") == "卷" + kReplacement);
  // Direction marks and line separators; the characters next to them are printable.
  for (const char* mark : {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b",
                           "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    CHECK(printable(std::string("a") + mark + "b") == "a?b");
  }
  for (const char* text : {"\u061b", "\u200d", "\u2010", "\u2027", "\u202f", "\u2065", "\u206a"})
    CHECK(printable(text) == text);
}

TEST_CASE("a page keeps marks of direction, which its elements isolate") {
  CHECK(printable_on_page("a\u202eb\u2028\x1b\u009b卷\n") == "a\u202eb\u2028??卷?");
}

TEST_CASE("a document on a terminal keeps its lines and cells, JSON its values") {
  const std::string csv = "a,\"b\x1b[2J\u202e\"\t\n\x7f\u009b\x07\r\n";
  CHECK(terminal_document(csv, DocumentForm::plain) == "a,\"b?[2J?\"\t\n????\n");
  CHECK(terminal_document("\"\x7f\u009b\u2066é卷\"\n", DocumentForm::json) ==
        "\"\\u007f\\u009b\\u2066é卷\"\n");
  CHECK(terminal_document("", DocumentForm::json).empty());
}

TEST_CASE("Chinese characters are two columns wide, combining marks none") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("卷积") == 4);
  CHECK(display_width("Ａ") == 2);         // full width
  CHECK(display_width("e\xcc\x81") == 1);  // e and a combining accent
  CHECK(display_width("é") == 1);
  CHECK(display_width("…") == 1);
}

TEST_CASE("text is shortened by columns and never inside a character") {
  CHECK(shorten("abcdef", 6) == "abcdef");
  CHECK(shorten("abcdef", 4) == "abc…");
  CHECK(shorten("卷积层一", 8) == "卷积层一");
  CHECK(shorten("卷积层一", 7) == "卷积层…");
  CHECK(shorten("卷积层一", 6) == "卷积…");
  CHECK(display_width(shorten("卷积层一", 6)) == 5);
  CHECK(shorten("abc", 1) == "…");
}

TEST_CASE("a file name part has no control byte and no slash") {
  CHECK(file_name_part("a/b\x01\x1f\x7f c.5") == "a_b___ c.5");
  CHECK(file_name_part("口罩,\"x\"") == "口罩,\"x\"");
}

TEST_CASE("a file name of up to 255 bytes is kept, a longer one is shortened and stays unique") {
  const std::string fits(251, 'a');
  CHECK(limited_file_name(fits, ".csv") == fits + ".csv");
  const std::string cut = limited_file_name(fits + "b", ".csv");
  CHECK(cut.size() == 255);
  CHECK(cut.ends_with(".csv"));
  CHECK(cut.starts_with(std::string(100, 'a')));
  CHECK(cut != limited_file_name(fits + "c", ".csv"));
  CHECK(cut == limited_file_name(fits + "b", ".csv"));
  for (int shift = 0; shift < 3; ++shift) {
    std::string wide(static_cast<std::size_t>(shift), 'x');
    for (int i = 0; i < 100; ++i) wide += "网";
    const std::string name = limited_file_name(wide, "~2.json");
    CHECK(name.size() <= 255);
    CHECK(is_valid_utf8(name));
    CHECK(name.ends_with("~2.json"));
  }
}

TEST_CASE("whole numbers are digits only and fit 64 bits") {
  std::uint64_t value = 7;
  CHECK(parse_u64("0", value));
  CHECK(value == 0);
  CHECK(parse_u64("18446744073709551615", value));
  CHECK(value == UINT64_MAX);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x1", "1.0", "18446744073709551616", "a"}) {
    INFO(text);
    CHECK_FALSE(parse_u64(text, value));
  }
}

TEST_CASE("small text helpers") {
  using Parts = std::vector<std::string_view>;
  CHECK(split("a.b..c", '.') == Parts{"a", "b", "", "c"});
  CHECK(split("", '.') == Parts{""});
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim(" \n").empty());
  CHECK(lower_ascii("AIcore_É") == "aicore_É");
  CHECK(with_thousands(0) == "0");
  CHECK(with_thousands(999) == "999");
  CHECK(with_thousands(1000) == "1,000");
  CHECK(with_thousands(1234567) == "1,234,567");
  CHECK(human_bytes(999) == "999 B");
  CHECK(human_bytes(1000) == "1.0 kB");
  CHECK(human_bytes(12'345'678) == "12.3 MB");
}

TEST_CASE("arguments of printed commands are quoted for the shell if needed") {
  CHECK(shell_word("/data/JOB_1/a-b.c") == "/data/JOB_1/a-b.c");
  CHECK(shell_word("\xe6\xa8\xa1") == "\xe6\xa8\xa1");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("my runs") == "'my runs'");
  CHECK(shell_word("Tom's; $(ls) *~") == "'Tom'\\''s; $(ls) *~'");
}
