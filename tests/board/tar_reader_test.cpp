// Tar streams of real tar programs and of malicious boards, unpacked into a folder.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <utility>

#include "board/tar_bytes.hpp"
#include "board/transfer/tar_transfer.hpp"
#include "board/transfer_fixture.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"

using namespace msprof;
using namespace msprof::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

constexpr FetchAllowance kAmpleAllowance = {.bytes = 1 << 30, .entries = 100'000};

// A folder that must remain the only entry of its parent, and the results of reading archives into
// it.
struct Unpacked {
  Unpacked() : into(outside / "into") { fs::create_directory(into); }

  // Returns the error message; empty on success.
  std::string read(std::string_view bytes, std::size_t piece = 64 << 10) {
    Incoming incoming(into, allowed);
    std::string sentence;
    try {
      const auto give = [&] {
        const std::string_view part = bytes.substr(0, piece);
        bytes.remove_prefix(part.size());
        return part;
      };
      read_tar(give, incoming);
    } catch (const Error& error) {
      REQUIRE(error.code() == Exit::partial_data);
      sentence = error.what();
    }
    incoming.finish();
    refused = incoming.refused();
    examples = incoming.examples();
    CHECK(names_in(outside.path()) == Names{"into"});
    return sentence;
  }
  mode_t file_mode(const std::string& name) const {
    struct stat status = {};
    REQUIRE(::lstat((into / name).c_str(), &status) == 0);
    return status.st_mode & 07777;
  }

  TempFolder outside;
  fs::path into;
  FetchAllowance allowed = kAmpleAllowance;
  std::uint64_t refused = 0;
  Names examples;
};

std::string make_tar(const fs::path& folder, const std::string& program, const Names& options) {
  const TempFolder scratch;
  const std::string file = scratch / "tar";
  Names words = options;
  words.insert(words.end(), {"-c", "-f", file, "-C", folder, "."});
  const RunResult result = run_program(program, words);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return read_file(file);
}

// A GNU entry for a name that is too long for a header, followed by the file.
std::string tar_long_file(const std::string& name, std::string_view bytes) {
  return tar_header('L', "././@LongLink", name.size() + 1) + tar_padded(name + '\0') +
         tar_file(name, bytes);
}

std::string pax_record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

std::string pax_header(const std::string& records) {
  return tar_header('x', "PaxHeader", records.size()) + tar_padded(records);
}

}  // namespace

TEST_CASE("What busybox and GNU tar make of odd names, in each format, is read as it is") {
  const auto [program, options] = GENERATE(table<std::string, Names>({
      {"/bin/busybox", {"tar"}},
      {"/bin/tar", {}},
      {"/bin/tar", {"--format=posix"}},
      {"/bin/tar", {"--format=oldgnu"}},
  }));
  INFO(program << " " << (options.empty() ? "" : options.back()));
  const TempFolder project;
  make_odd_tree(project.path());
  const std::string bytes = make_tar(project.path(), program, options);
  const std::size_t piece = GENERATE(std::size_t{1000}, std::size_t{1} << 20);
  Unpacked unpacked;
  CHECK(unpacked.read(bytes, piece) == "");
  CHECK(difference(unpacked.into, project.path(), Compare::bytes_and_times) == "");
  CHECK(unpacked.refused == 4);
}

TEST_CASE(
    "Names that lead out or hold control characters are refused, what is beside them is not") {
  const std::string name =
      GENERATE(as<std::string>{}, "../evil", "a/../../evil", "/evil", "//evil", "a//evil", "..",
               "a/..", "a/./evil", "two\nlines", "bell\x01", "del\x7f",
               "\xc2\x9b"
               "c1");
  INFO(name);
  Unpacked unpacked;
  CHECK(unpacked.read(tar_file("before", "1") + tar_file(name, "x") + tar_file("behind", "2") +
                      tar_end()) == "");
  CHECK(names_in(unpacked.into) == Names{"before", "behind"});
  CHECK(unpacked.refused == 1);
  REQUIRE(unpacked.examples.size() == 1);
  CHECK(unpacked.examples[0].find_first_of("\n\x01\x7f") == std::string::npos);
}

TEST_CASE("Only files and folders come out of an archive") {
  const char kind = GENERATE('1', '2', '3', '4', '6');
  INFO(kind);
  Unpacked unpacked;
  CHECK(unpacked.read(tar_file("before", "1") + tar_link(kind, "odd", "before") +
                      tar_file("behind", "2") + tar_end()) == "");
  CHECK(names_in(unpacked.into) == Names{"before", "behind"});
  CHECK(unpacked.refused == 1);
  CHECK_THAT(unpacked.examples.at(0), Contains("odd: is "));
}

TEST_CASE("A second name of a file is refused as such, also where it brings bytes of its own") {
  Unpacked unpacked;
  const std::string records = pax_record("linkpath", "/etc/passwd");
  CHECK(unpacked.read(tar_link('1', "a", "/etc/passwd") + pax_header(records) +
                      tar_header('1', "b", 3, "x") + tar_padded("new") + tar_file("c", "3") +
                      tar_end()) == "");
  CHECK(names_in(unpacked.into) == Names{"c"});
  CHECK(unpacked.examples ==
        Names{"a: is a hard link to another file", "b: is a hard link to another file"});
}

TEST_CASE("Nothing is written through a link, whether it comes with the archive or was there") {
  Unpacked unpacked;
  const TempFolder elsewhere;
  make_file(elsewhere / "file", "not ours");
  CHECK(unpacked.read(tar_link('2', "out", elsewhere.path().string()) + tar_file("out/file", "x") +
                      tar_end()) == "");
  CHECK(unpacked.refused == 1);
  CHECK(read_file(unpacked.into / "out" / "file") == "x");

  fs::create_symlink(elsewhere.path(), unpacked.into / "there before");
  CHECK(unpacked.read(tar_file("there before/file", "x") + tar_file("there before/new", "x") +
                      tar_folder("there before/folder") + tar_file("other", "x") + tar_end()) ==
        "");
  CHECK(unpacked.refused == 3);
  CHECK_THAT(unpacked.examples.at(0), Contains("symlink"));
  CHECK(names_in(elsewhere.path()) == Names{"file"});
  CHECK(read_file(elsewhere / "file") == "not ours");
  CHECK(read_file(unpacked.into / "other") == "x");

  // A link with the file's name is replaced, not followed.
  fs::create_symlink(elsewhere / "file", unpacked.into / "again");
  CHECK(unpacked.read(tar_file("again", "x") + tar_end()) == "");
  CHECK(read_file(elsewhere / "file") == "not ours");
}

TEST_CASE("A folder that holds links above itself is no hindrance") {
  const TempFolder real;
  const TempFolder links;
  fs::create_directory(real / "home");
  fs::create_directory_symlink(real / "home", links / "home");
  Incoming incoming(links / "home", kAmpleAllowance);
  const std::string bytes = tar_file("file", "x") + tar_end();
  std::string_view rest = bytes;
  read_tar([&] { return std::exchange(rest, std::string_view()); }, incoming);
  CHECK(incoming.refused() == 0);
  CHECK(read_file(real / "home" / "file") == "x");
}

TEST_CASE("Permissions come without setuid, with the owner's rights and within the umask") {
  const mode_t mask = GENERATE(mode_t{022}, mode_t{077});
  const mode_t before = ::umask(mask);
  Unpacked unpacked;
  CHECK(unpacked.read(tar_file("suid", "x", 06777) + tar_file("none", "x", 0) +
                      tar_folder("closed", 0) + tar_file("closed/inside", "x", 0444) +
                      tar_folder("sticky", 07777) + tar_end()) == "");
  ::umask(before);
  CHECK(unpacked.file_mode("suid") == (0777 & ~mask));
  CHECK(unpacked.file_mode("none") == 0600);
  CHECK(unpacked.file_mode("closed") == 0700);
  CHECK(unpacked.file_mode("closed/inside") == (0644 & ~mask));
  CHECK(unpacked.file_mode("sticky") == (0777 & ~mask));
}

TEST_CASE("An archive that ends early leaves only whole files, wherever it ends") {
  const std::string first = tar_file("first", std::string(1500, 'a'));
  const std::string second = tar_file("folder/second", std::string(700, 'b'));
  const std::string whole = first + second + tar_end();
  for (std::size_t size = 0; size < whole.size(); size += 37) {
    INFO(size);
    Unpacked unpacked;
    const std::string sentence = unpacked.read(whole.substr(0, size));
    // libarchive accepts an archive without its end blocks as complete.
    if (sentence.empty()) CHECK((size >= first.size() + second.size() || size == first.size()));
    for (const auto& [name, bytes] : {std::pair{"first", 1500U}, {"folder/second", 700U}}) {
      if (fs::exists(unpacked.into / name)) CHECK(fs::file_size(unpacked.into / name) == bytes);
    }
    if (size >= first.size()) CHECK(fs::exists(unpacked.into / "first"));
    if (size < kTarBlock + 1500) CHECK(names_in(unpacked.into).empty());
  }
}

TEST_CASE("A size that is a lie ends in a sentence, and the file is not there") {
  const std::uint64_t size =
      GENERATE(std::uint64_t{10} << 30, (std::uint64_t{1} << 33) - 1, std::uint64_t{4096});
  INFO(size);
  Unpacked unpacked;
  const std::string sentence =
      unpacked.read(tar_file("before", "1") + tar_header('0', "huge", size) + "a few bytes");
  CHECK_THAT(sentence, Contains("cannot read the board's tar stream"));
  CHECK(names_in(unpacked.into) == Names{"before"});
}

TEST_CASE("Bytes that are no archive end in a sentence") {
  const auto [name, bytes] = GENERATE(table<std::string, std::string>({
      {"nothing", ""},
      {"text", "tar: applet not found\n"},
      {"noise", std::string(20'000, '\x5a')},
      {"damaged in the middle", tar_file("a", "1") + std::string(5'000, '\xa5')},
      {"a name of 10 GB", tar_header('L', "././@LongLink", std::uint64_t{10} << 30) + "x"},
      {"a name of 2 MB", tar_header('L', "././@LongLink", 2 << 20) + std::string(2 << 20, 'n')},
  }));
  INFO(name);
  Unpacked unpacked;
  CHECK_THAT(unpacked.read(bytes), Contains("cannot read the board's tar stream"));
}

TEST_CASE("Headers and headers of headers make no file") {
  const char kind = GENERATE('x', 'g', 'L', 'K', 'A');
  INFO(kind);
  const std::string record = pax_record("comment", "again");
  const std::string header = tar_header(kind, "again", record.size()) + tar_padded(record);
  std::string bytes;
  for (int i = 0; i < 5'000; ++i) bytes += header;
  Unpacked unpacked;
  unpacked.read(bytes);
  CHECK(names_in(unpacked.into).empty());
}

TEST_CASE("What goes on behind the end of an archive is not waited for") {
  Unpacked unpacked;
  const std::string whole = tar_file("a", "1") + tar_end();
  CHECK(unpacked.read(whole + std::string(9'216, '\0')) == "");
  CHECK(unpacked.read(whole + std::string(1 << 20, '\0')) == "");
  CHECK_THAT(unpacked.read(whole + std::string(3 << 20, '\0')), Contains("after its end"));
  // A file after the end does not belong to the archive.
  CHECK(unpacked.read(whole + tar_file("late", "x")) == "");
  CHECK(names_in(unpacked.into) == Names{"a"});
}

TEST_CASE("Names are taken up to the lengths that this machine has") {
  const std::string longest(255, 'n');
  Unpacked unpacked;
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += std::string(120, 'd') + "/";
  CHECK(unpacked.read(tar_long_file(longest, "fits") + tar_long_file(longest + "n", "too long") +
                      tar_long_file(deep + "f", "too deep") + tar_end()) == "");
  CHECK(names_in(unpacked.into) == Names{longest});
  CHECK(unpacked.refused == 2);
}

TEST_CASE("An archive that contradicts itself ends within its folder") {
  Unpacked unpacked;
  CHECK(unpacked.read(tar_file("a", "file") + tar_file("a/b", "below a file") +
                      tar_file("f/g", "kept") + tar_file("f", "a file for a folder") +
                      tar_file("twice", "first") + tar_file("twice", "second") + tar_end()) == "");
  CHECK(read_file(unpacked.into / "twice") == "second");
  CHECK(read_file(unpacked.into / "f" / "g") == "kept");
  CHECK(unpacked.refused >= 1);
}

TEST_CASE("A file with holes is refused") {
  const TempFolder project;
  make_file(project / "holes", "begin");
  fs::resize_file(project / "holes", 100 << 20);
  make_file(project / "plain", "plain");
  Unpacked unpacked;
  CHECK(unpacked.read(make_tar(project.path(), "/bin/tar", {"-S"})) == "");
  CHECK(names_in(unpacked.into) == Names{"plain"});
  CHECK_THAT(unpacked.examples.at(0), Contains("holes: is a sparse file"));
}

TEST_CASE("Attributes in extended headers cannot lead out either") {
  Unpacked unpacked;
  CHECK(unpacked.read(pax_header(pax_record("path", "../../evil")) + tar_file("good", "x") +
                      pax_header(pax_record("linkpath", "/etc/passwd")) + tar_file("second", "x") +
                      pax_header(pax_record("path", "new\nline")) + tar_file("third", "x") +
                      tar_end()) == "");
  for (const std::string& name : names_in(unpacked.into)) CHECK(name == "second");
  CHECK(unpacked.refused >= 2);
}

TEST_CASE("A damaged byte anywhere ends well") {
  const std::string whole = tar_folder("folder/") +
                            tar_long_file(std::string(120, 'n'), "content") +
                            pax_header(pax_record("mtime", "1600000000.5")) +
                            tar_file("folder/file", "content") + tar_end();
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    INFO(at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    Unpacked().read(damaged);
  }
}

TEST_CASE(
    "A board that never stops sending is cut off where the listing ended, and a little more") {
  Unpacked unpacked;
  unpacked.allowed = {.bytes = 84'000, .entries = 10};
  std::uint64_t given = 0;
  int files = 0;
  std::string part;
  const auto read_outcome = [&](const TarSource& give) {
    Incoming incoming(unpacked.into, unpacked.allowed);
    std::string sentence;
    try {
      read_tar(
          [&] {
            const std::string_view bytes = give();
            given += bytes.size();
            return bytes;
          },
          incoming);
    } catch (const TooMuchSent& error) {
      sentence = error.what();
    }
    CHECK(incoming.bytes() < 80 << 20);
    return sentence;
  };
  // 8 TB, practically endless.
  const auto member_without_end = [&](const std::string& name) -> TarSource {
    return [&, name, first = true]() mutable -> std::string_view {
      part = std::exchange(first, false) ? tar_header('0', name, 077777777777)
                                         : std::string(1 << 20, 'x');
      return part;
    };
  };
  SECTION("a file") {
    CHECK_THAT(read_outcome(member_without_end("JOB/file")), Contains("more than the 84.0 kB"));
    CHECK(names_in(unpacked.into / "JOB").empty());
  }
  SECTION("a file that is refused") {
    CHECK_THAT(read_outcome(member_without_end("../file")), Contains("longer than listed"));
  }
  SECTION("empty files") {
    const std::string sentence = read_outcome([&] {
      part = tar_file(std::to_string(files++), "");
      return std::string_view(part);
    });
    CHECK_THAT(sentence, Contains("more than the 10 files and folders that it listed"));
    CHECK(names_in(unpacked.into).size() < 1'100);
  }
  CHECK(given < 100 << 20);
}

TEST_CASE("A folder that is not there is this machine's trouble") {
  const TempFolder folder;
  CHECK_THROWS_AS(Incoming(folder / "absent", kAmpleAllowance), CannotWriteHere);
}
