// CatReader: splits one stream into many files, separated by a marker line.
#include <catch2/catch.hpp>

#include "board/transfer/cat_transfer.hpp"
#include "board/transfer_fixture.hpp"
#include "support/files.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

constexpr const char* kWord = "@0123456789@";

std::string behind(const std::string& content, const std::string& code = "0") {
  return content + "\n" + kWord + " " + code + "\n";
}

std::vector<NewFile> files(const Names& names) {
  std::vector<NewFile> result;
  for (const std::string& name : names) result.push_back({.path = name});
  return result;
}

struct Read {
  Read(const Names& names, const std::string& stream, std::size_t piece)
      : incoming(into.path(), {.bytes = 1 << 20, .entries = 1'000}) {
    CatReader reader(files(names), kWord, incoming);
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.take(std::string_view(stream).substr(at, piece));
    }
    reader.finish();
    failed = reader.has_failed();
    CHECK(reader.is_done());
  }
  TempFolder into;
  Incoming incoming;
  bool failed = false;
};

}  // namespace

TEST_CASE("Files are separated in chunks of any size, even if they contain the separator") {
  const std::string half = std::string("\n") + kWord;
  const Names contents = {
      "plain", "", "\n", half, half.substr(0, 5) + half + "x", half + "\n", std::string(300, '\n'),
      "line\n"};
  Names names;
  std::string stream;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    names.push_back(std::to_string(i));
    stream += behind(contents[i]);
  }
  const std::size_t piece = GENERATE(1U, 2U, 7U, 13U, 100'000U);
  INFO(piece);
  const Read read(names, stream, piece);
  CHECK_FALSE(read.failed);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    INFO(i);
    CHECK(read_file(read.into / names[i]) == contents[i]);
  }
}

TEST_CASE("An unreadable or truncated file is not created") {
  const std::size_t piece = GENERATE(1U, 100'000U);
  const Read read({"a", "b", "c", "d"},
                  behind("1") + behind("beginning", "1") + behind("3") + "cut", piece);
  CHECK(read.failed);
  CHECK(names_in(read.into.path()) == Names{"a", "c"});
  CHECK(read_file(read.into / "c") == "3");
}

TEST_CASE("Data after the last file is dropped") {
  const Read read({"a"}, behind("1") + "garbage" + behind("2"), 3);
  CHECK_FALSE(read.failed);
  CHECK(read_file(read.into / "a") == "1");
}

TEST_CASE("A name outside the folder is refused with its content") {
  const Read read({"../evil", "good"}, behind("evil") + behind("good"), 5);
  CHECK(read.incoming.refused() == 1);
  CHECK(names_in(read.into.path()) == Names{"good"});
}

TEST_CASE("Endless files share one size limit, and data after it is refused") {
  const TempFolder into;
  Incoming incoming(into.path(), {.bytes = 0, .entries = 20});
  CatReader reader(files({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "last"}), kWord,
                   incoming);
  const std::string zeros(1 << 20, '\0');
  int endless = 0;
  while (endless < 10) {
    try {
      reader.take(zeros);
    } catch (const EndlessFile&) {
      ++endless;
      reader.names();  // the stream starts again
    }
  }
  CHECK(incoming.bytes() > 16 << 20);
  CHECK(incoming.bytes() < 100 << 20);
  reader.take(behind(""));
  CHECK(reader.is_done());
  CHECK_THROWS_AS(
      [&] {
        for (;;) reader.take(zeros);
      }(),
      TooMuchSent);
}
