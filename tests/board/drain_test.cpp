// The drain: which data is downloaded, which the board may free, and that interruptions lose
// nothing.
#include "board/disk/drain.hpp"

#include <sys/stat.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/host_name.hpp"
#include "board/board_run_fixture.hpp"
#include "board/collect_board_fixture.hpp"
#include "board/disk/drained_folder.hpp"
#include "ssh/ssh_connection.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kBlocks = kDrainBlock;

enum class CutAt { none, before, after };  // before: the request is lost; after: the answer is lost

// A DrainBoard on a folder of this machine. Freed ranges become zeros.
class FolderBoard : public DrainBoard {
 public:
  explicit FolderBoard(fs::path folder) : folder_(std::move(folder)) {}

  SumTool tool() const override { return tool_; }
  bool frees() const override { return frees_; }

  RawLook look() override {
    return cut<RawLook>([&] {
      RawLook look;
      for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
        if (!entry.is_regular_file()) continue;
        struct stat status = {};
        ::stat(entry.path().c_str(), &status);
        look.files.push_back({fs::relative(entry.path(), folder_).string(),
                              claimed_bytes_.value_or(static_cast<std::uint64_t>(status.st_size)),
                              status.st_ino, std::to_string(changes_)});
      }
      look.free_bytes = 1 << 20;
      return look;
    });
  }
  std::string get(const std::string& path, std::uint64_t first, std::uint64_t blocks) override {
    return cut<std::string>([&] {
      for (std::uint64_t block = first; block < first + blocks; ++block)
        asked_for_freed_ = asked_for_freed_ || freed_.contains({path, block});
      return range(path, first, blocks);
    });
  }
  std::string sum(const std::string& path, std::uint64_t first, std::uint64_t blocks) override {
    return cut<std::string>([&] { return range_sum(tool_, range(path, first, blocks)); });
  }
  Punched punch(const std::string& path, std::uint64_t first, std::uint64_t blocks,
                const std::string& sum) override {
    return cut<Punched>([&] {
      if (before_punch_) before_punch_();
      const std::string bytes = range(path, first, blocks);
      if (range_sum(tool_, bytes) != sum) return Punched::differs;
      std::fstream file(folder_ / path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(first * kBlocks));
      file << std::string(bytes.size(), '\0');
      for (std::uint64_t block = first; block < first + blocks; ++block)
        freed_.insert({path, block});
      return Punched::freed;
    });
  }

  void cut_at(std::size_t request, CutAt how) {
    until_cut_ = request;
    how_ = how;
  }
  std::size_t requests() const { return requests_; }
  bool asked_for_freed() const { return asked_for_freed_; }
  std::size_t freed() const { return freed_.size(); }
  bool has_freed(const std::string& path, std::uint64_t block) const {
    return freed_.contains({path, block});
  }
  void before_punch(std::function<void()> act) { before_punch_ = std::move(act); }
  // Gives its files a new change time.
  void touch() { ++changes_; }
  void set_frees(bool frees) { frees_ = frees; }
  // Sets the size that it reports for each file.
  void claim_bytes(std::uint64_t bytes) { claimed_bytes_ = bytes; }

 private:
  template <typename Answer>
  Answer cut(const std::function<Answer()>& act) {
    ++requests_;
    const bool is_now = how_ != CutAt::none && until_cut_-- == 0;
    if (is_now && how_ == CutAt::before) throw ConnectionLost("cut");
    Answer answer = act();
    if (is_now) throw ConnectionLost("cut");
    return answer;
  }
  std::string range(const std::string& path, std::uint64_t first, std::uint64_t blocks) const {
    const std::string all = fs::exists(folder_ / path) ? read_file(folder_ / path) : "";
    if (first * kBlocks >= all.size()) return {};
    return all.substr(first * kBlocks, blocks * kBlocks);
  }

  fs::path folder_;
  SumTool tool_ = SumTool::cksum;
  bool frees_ = true;
  std::optional<std::uint64_t> claimed_bytes_;
  std::size_t requests_ = 0;
  std::size_t until_cut_ = 0;
  int changes_ = 0;
  CutAt how_ = CutAt::none;
  bool asked_for_freed_ = false;
  std::set<std::pair<std::string, std::uint64_t>> freed_;
  std::function<void()> before_punch_;
};

// The application's view of the same folder.
struct RawFolder {
  RawFolder() { fs::create_directories(folder / "JOB" / "data"); }
  // Extends the file to the first `size` bytes of `bytes`.
  void grow(const std::string& bytes, std::uint64_t size) const {
    const std::uint64_t now = fs::exists(file) ? fs::file_size(file) : 0;
    std::ofstream(file, std::ios::binary | std::ios::app) << bytes.substr(now, size - now);
  }
  std::string here(const Drainer& drainer) const { return read_file(drainer.file(path)); }

  TempFolder temp;
  const std::string path = "JOB/data/aicore.0";
  const fs::path folder = temp / "board";
  const fs::path file = folder / path;
  const fs::path home = temp / "home" / "drained-1";
};

std::string raw_bytes(std::uint64_t blocks, std::uint64_t more = 0) {
  return big_bytes(blocks * kBlocks + more);
}

// Writes `bytes` in two steps with a cycle in between, so that the next cycle may free the first
// two blocks.
void free_begin(const RawFolder& raw, FolderBoard& board, Drainer& drainer,
                const std::string& bytes) {
  raw.grow(bytes, 2 * kBlocks);
  drainer.cycle(board);
  raw.grow(bytes, bytes.size());
}

}  // namespace

TEST_CASE("Checksums of ranges are those that cksum and sha256sum print") {
  const TempFolder temp;
  for (const std::string& text : {std::string(), std::string("123456789"), raw_bytes(3, 5)}) {
    write_file(temp / "file", text);
    for (const std::string tool : {"cksum", "sha256sum"}) {
      const RunResult printed =
          run_program("/bin/sh", {"-c", "exec " + tool + " <\"$0\"", (temp / "file").string()});
      REQUIRE(printed.exit_code == 0);
      CHECK(range_sum(sum_tool(tool), text) == printed.out.substr(0, printed.out.find(' ')));
    }
  }
  CHECK(sum_tool("rm") == SumTool::none);
}

TEST_CASE("A growing file is downloaded, its first and last block stay on the board") {
  const RawFolder raw;
  FolderBoard board(raw.folder);
  const std::string bytes = raw_bytes(9, 100);
  Drainer drainer(raw.home);
  raw.grow(bytes, 2 * kBlocks);
  drainer.cycle(board);
  CHECK(drainer.status().files == 0);  // the file may still keep its size
  raw.grow(bytes, 7 * kBlocks + 5);
  drainer.cycle(board);
  CHECK(drainer.status().bytes == 6 * kBlocks);
  CHECK(drainer.status().freed_bytes == 5 * kBlocks);
  CHECK_FALSE(board.has_freed(raw.path, 0));
  CHECK(board.has_freed(raw.path, 1));
  CHECK(board.has_freed(raw.path, 5));
  CHECK_FALSE(board.has_freed(raw.path, 6));
  raw.grow(bytes, bytes.size());
  drainer.finish(board);
  REQUIRE(drainer.results().size() == 1);
  CHECK(drainer.notes().empty());
  CHECK((raw.here(drainer) == bytes));
}

TEST_CASE("A rewritten or preallocated file stays on the board") {
  const RawFolder raw;
  FolderBoard board(raw.folder);
  Drainer drainer(raw.home);
  SECTION("of one size") {
    raw.grow(raw_bytes(9), 9 * kBlocks);
    for (int second = 0; second < 9; ++second) {
      board.touch();
      drainer.cycle(board, second);
    }
    drainer.cycle(board, 9);
    CHECK(board.freed() == 0);
    // Now it is complete, or has been unchanged for long enough.
    const bool is_at_rest = GENERATE(false, true);
    if (!is_at_rest) write_file(raw.file.string() + ".done", "file_len:1");
    drainer.cycle(board, is_at_rest ? 10.5 : 9.5);
    CHECK(board.freed() == 7);
  }
  SECTION("zeros at the end") {
    const std::string bytes = raw_bytes(4) + std::string(5 * kBlocks, '\0');
    raw.grow(bytes, kBlocks);
    drainer.cycle(board);
    raw.grow(bytes, bytes.size());
    drainer.cycle(board);
    CHECK(board.freed() == 2);
  }
}

TEST_CASE("A header rewritten at the end is downloaded in its final state") {
  const RawFolder raw;
  FolderBoard board(raw.folder);
  std::string bytes = raw_bytes(9);
  Drainer drainer(raw.home);
  raw.grow(bytes, 2 * kBlocks);
  drainer.cycle(board);
  raw.grow(bytes, bytes.size());
  drainer.cycle(board);
  bytes.replace(0, 6, "header");
  std::fstream(raw.file, std::ios::in | std::ios::out | std::ios::binary) << "header";
  drainer.finish(board);
  CHECK(drainer.notes().empty());
  CHECK((raw.here(drainer) == bytes));
}

TEST_CASE("Data that changes before it is freed is kept and downloaded in its final state") {
  const RawFolder raw;
  FolderBoard board(raw.folder);
  std::string bytes = raw_bytes(9);
  Drainer drainer(raw.home);
  raw.grow(bytes, 2 * kBlocks);
  drainer.cycle(board);
  raw.grow(bytes, bytes.size());
  board.before_punch([&] {
    std::fstream file(raw.file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(3 * kBlocks);
    file << "changed";
  });
  drainer.cycle(board);
  CHECK(board.freed() == 0);
  drainer.cycle(board);
  CHECK(board.freed() == 0);
  drainer.finish(board);
  // The board has all data, and no local file could be mistaken for it.
  CHECK(drainer.results().empty());
  CHECK_FALSE(drainer.is_needed());
  CHECK_FALSE(fs::exists(drainer.file(raw.path)));
}

TEST_CASE("A file rewritten after being partly freed is kept twice and reported") {
  const RawFolder raw;
  FolderBoard board(raw.folder);
  const std::string bytes = raw_bytes(9);
  Drainer drainer(raw.home);
  free_begin(raw, board, drainer, bytes);
  drainer.cycle(board);
  const std::string other(bytes.rbegin(), bytes.rend());
  SECTION("in its place") {
    std::ofstream(raw.file, std::ios::binary) << other;
  }
  SECTION("shorter") {
    std::ofstream(raw.file, std::ios::binary) << other.substr(0, 1000);
  }
  SECTION("as another file") {
    write_file(raw.folder / "new", other);
    fs::rename(raw.folder / "new", raw.file);
  }
  drainer.cycle(board);
  drainer.finish(board);
  REQUIRE(drainer.results().size() == 1);
  CHECK(drainer.results().front().path == raw.path + ".drained");
  CHECK(drainer.results().front().is_beside);
  REQUIRE(drainer.notes().size() == 1);
  CHECK(contains(drainer.notes().front(), "rewritten on"));
  CHECK((read_file(drainer.file(raw.path + ".drained")) == bytes.substr(0, 8 * kBlocks)));
}

TEST_CASE("Renamed and rotated files keep their downloaded data") {
  const RawFolder raw;
  FolderBoard board(raw.folder);
  const std::string bytes = raw_bytes(9);
  Drainer drainer(raw.home);
  raw.grow(bytes, 2 * kBlocks);
  drainer.cycle(board);
  raw.grow(bytes, 7 * kBlocks);
  drainer.cycle(board);
  fs::rename(raw.file, raw.file.string() + ".1");
  const std::string next = bytes.substr(kBlocks);
  raw.grow(next, kBlocks);
  drainer.cycle(board);
  raw.grow(next, next.size());
  drainer.cycle(board);
  drainer.finish(board);
  CHECK(drainer.notes().empty());
  REQUIRE(drainer.results().size() == 2);
  CHECK((read_file(drainer.file(raw.path + ".1")) == bytes.substr(0, 7 * kBlocks)));
  CHECK((read_file(drainer.file(raw.path)) == next));
}

TEST_CASE("A file deleted by the application is not reported as missing") {
  const RawFolder raw;
  FolderBoard board(raw.folder);
  Drainer drainer(raw.home);
  raw.grow(raw_bytes(9), 2 * kBlocks);
  drainer.cycle(board);
  raw.grow(raw_bytes(9), 9 * kBlocks);
  drainer.cycle(board);
  fs::remove(raw.file);
  drainer.cycle(board);
  drainer.finish(board);
  CHECK(drainer.results().empty());
  CHECK(drainer.notes().empty());
  CHECK_FALSE(drainer.is_needed());
}

TEST_CASE("When resuming a run, files missing on the board are kept separately and reported") {
  const RawFolder raw;
  FolderBoard board(raw.folder);
  const std::string bytes = raw_bytes(9);
  {
    Drainer killed(raw.home);
    free_begin(raw, board, killed, bytes);
    killed.cycle(board);
  }
  fs::remove(raw.file);
  // Fetches twice, as after an interruption.
  for (int time = 0; time < 2; ++time) {
    Drainer drainer(raw.home);
    drainer.keep_what_is_gone();
    drainer.finish(board);
    REQUIRE(drainer.results().size() == 1);
    CHECK(drainer.results().front().path == raw.path + ".drained");
    REQUIRE(drainer.notes().size() == 1);
    CHECK(contains(drainer.notes().front(), "removed from the board"));
    CHECK((read_file(drainer.file(raw.path + ".drained")) == bytes.substr(0, 8 * kBlocks)));
  }
}

TEST_CASE(
    "A folder reported by a board is accepted only if it is a complete one of this run and not a "
    "link") {
  const TempFolder temp;
  const fs::path root = fs::canonical(temp.path());
  const fs::path folder = root / "drained-1-2";
  DrainJournal(folder).punching("JOB/data/n", 7, 3 * kBlocks);
  write_file(folder / "raw/JOB/data/n", raw_bytes(3));
  const std::string host = own_host_name();
  const auto found = [&](const std::string& note, const std::string& run = "1-2") {
    return find_drained_folder(parse_drain_place(note, run), run, root / "out");
  };
  CHECK(found(drain_place_text(folder) + "\n") == folder);
  CHECK(missing_from(folder).empty());
  // In the user's own output folder it is found even without a note or a host name.
  CHECK(find_drained_folder({}, "1-2", root) == folder);
  for (const std::string& note :
       {std::string(), folder.string(), "other:" + folder.string(), host + ":drained-1-2",
        host + ":" + root.string() + "/x/../drained-1-2", host + ":" + root.string(),
        host + ":" + folder.string() + "/", host + ":" + folder.string() + "\nx"}) {
    INFO(note);
    CHECK(found(note).empty());
  }
  CHECK(found(drain_place_text(folder), "1-3").empty());
  fs::create_directory_symlink(root, root / "link");
  CHECK(found(host + ":" + (root / "link/drained-1-2").string()).empty());
  fs::create_directory(root / "links");
  fs::create_directory_symlink(folder, root / "links/drained-1-2");
  CHECK(found(host + ":" + (root / "links/drained-1-2").string()).empty());
  SECTION("a link within") {
    fs::create_symlink("/etc/hostname", folder / "raw/JOB/data/m");
  }
  SECTION("a journal that is none") {
    write_file(folder / "journal", "something else");
  }
  SECTION("a journal that is a link") {
    fs::rename(folder / "journal", root / "journal");
    fs::create_symlink(root / "journal", folder / "journal");
  }
  CHECK(found(drain_place_text(folder)).empty());
  CHECK(find_drained_folder({}, "1-2", root).empty());
}

TEST_CASE("Downloaded files shorter than in the journal are reported and truncated") {
  const TempFolder temp;
  const fs::path folder = temp / "drained-1";
  {
    DrainJournal journal(folder);
    journal.punching("whole", 1, 3 * kBlocks);
    journal.punching("short", 2, 9 * kBlocks);
    journal.punching("gone", 3, 9 * kBlocks);
  }
  write_file(folder / "raw/whole", raw_bytes(4));
  write_file(folder / "raw/short", raw_bytes(4, 9));
  const auto missing = missing_from(folder);
  REQUIRE(missing.size() == 2);
  CHECK(contains(missing[0], "has only 0 of the 589824 bytes of gone"));
  CHECK(contains(missing[1], "has only 262153 of the 589824 bytes of short"));
  CHECK(cut_to_what_is_here(folder) == missing);
  const DrainJournal journal(folder);
  REQUIRE(journal.files().size() == 2);
  CHECK(journal.files().at("short").length == 4 * kBlocks);
  CHECK(missing_from(folder).empty());
}

TEST_CASE("A board without freeing keeps all data, which is compared with the download") {
  const RawFolder raw;
  FolderBoard board(raw.folder);
  board.set_frees(false);
  const std::string bytes = raw_bytes(9, 7);
  Drainer drainer(raw.home);
  raw.grow(bytes, 2 * kBlocks);
  drainer.cycle(board);
  raw.grow(bytes, bytes.size());
  drainer.cycle(board);
  CHECK(drainer.status().bytes == 8 * kBlocks);
  CHECK_FALSE(drainer.is_needed());
  bool is_changed = GENERATE(false, true);
  if (is_changed) {
    std::fstream file(raw.file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(3 * kBlocks);
    file << "changed";
  }
  drainer.finish(board);
  CHECK(drainer.results().size() == (is_changed ? 0 : 1));
  if (!is_changed) CHECK((raw.here(drainer) == bytes));
}

TEST_CASE(
    "No data is lost or requested twice, wherever the connection breaks or msprof is killed") {
  using Break = std::pair<CutAt, bool>;
  const std::vector<Break> breaks = {
      {CutAt::before, false}, {CutAt::after, false}, {CutAt::before, true}, {CutAt::after, true}};
  const Break chosen = GENERATE_COPY(from_range(sample_for_case(breaks, 2)));
  const CutAt how = chosen.first;
  const bool is_killed = chosen.second;
  const std::string bytes = raw_bytes(77, 77);
  // Returns the number of requests.
  const auto drain_cut = [&](std::size_t moment, CutAt at) {
    const RawFolder raw;
    FolderBoard board(raw.folder);
    board.cut_at(moment, at);
    auto drainer = std::make_unique<Drainer>(raw.home);
    const auto again = [&](const std::function<void()>& work) {
      try {
        work();
      } catch (const ConnectionLost&) {
        if (is_killed) {
          drainer.reset();
          drainer = std::make_unique<Drainer>(raw.home);
        }
        work();
      }
    };
    for (const std::uint64_t blocks : {2U, 5U, 68U, 69U, 75U}) {
      raw.grow(bytes, blocks * kBlocks + 9);
      again([&] { drainer->cycle(board); });
    }
    raw.grow(bytes, bytes.size());
    again([&] { drainer->finish(board); });
    INFO("request " << moment);
    CHECK_FALSE(board.asked_for_freed());
    CHECK(drainer->notes().empty());
    REQUIRE(drainer->results().size() == 1);
    REQUIRE((raw.here(*drainer) == bytes));
    return board.requests();
  };
  const std::size_t moments = drain_cut(0, CutAt::none);
  CHECK(moments >= 15);
  for (const std::size_t moment : sample_below(moments, 5, case_seed())) drain_cut(moment, how);
}

TEST_CASE("A truncated journal is valid up to the last complete line") {
  const TempFolder temp;
  {
    DrainJournal journal(temp / "d");
    journal.punching("JOB/data/a b", 7, 5 * kBlocks);
    journal.freed("JOB/data/a b", 3 * kBlocks);
    journal.punching("JOB/data/c", 8, 2 * kBlocks);
    journal.kept("JOB/data/c", kBlocks);
  }
  const std::string whole = read_file(temp / "d" / "journal");
  for (const std::string cut : {"", "punching 99", "punching 99 9 JOB/data/a"}) {
    write_file(temp / "d" / "journal", whole + cut);
    DrainJournal journal(temp / "d");
    REQUIRE(journal.files().size() == 2);
    CHECK(journal.files().at("JOB/data/a b").inode == 7);
    CHECK(journal.files().at("JOB/data/a b").length == 5 * kBlocks);
    CHECK(journal.files().at("JOB/data/a b").freed == 3 * kBlocks);
    CHECK(journal.files().at("JOB/data/c").length == kBlocks);
    journal.forgotten("JOB/data/c");
    CHECK(DrainJournal(temp / "d").files().size() == 1);
  }
  // Paths that lead out of the folder are ignored.
  write_file(temp / "d" / "journal", whole + "punching 65536 1 ../../x\nmoved JOB/data/c\t/etc\n");
  CHECK(DrainJournal(temp / "d").files().size() == 2);
}

TEST_CASE("The fill rate of a disk gives the remaining time, with each warning once") {
  FillRate rate;
  CHECK_FALSE(rate.seconds_left());
  rate.add(100, 0, 80'000'000);
  CHECK(rate.pause_seconds() < 4);
  rate.add(110, 10'000'000, 70'000'000);
  CHECK(rate.bytes_per_second() == Approx(1e6));
  REQUIRE(rate.seconds_left());
  CHECK(*rate.seconds_left() == Approx(70));
  CHECK(rate.is_to_be_said());
  CHECK_FALSE(rate.is_to_be_said());
  rate.add(165, 65'000'000, 15'000'000);
  CHECK(rate.is_to_be_said());
  FillRate freed;
  freed.add(0, 0, 80'000'000);
  freed.add(10, 70'000'000, 10'000'000);
  CHECK(*freed.seconds_left() < 2);
  CHECK_FALSE(freed.is_to_be_said(true));
  freed.add(11, 73'000'000, 7'000'000);
  CHECK(freed.is_to_be_said(true));
  // Blocks are freed as fast as they are written: the disk does not fill up.
  for (int i = 1; i < 9; ++i) rate.add(165 + i, 65'000'000, 70'000'000);
  CHECK_FALSE(rate.is_to_be_said());
  rate.add(200, 65'000'000, std::nullopt);
  CHECK_FALSE(rate.seconds_left());
}

TEST_CASE("A board's file query is parsed with any tools, and unusual names are ignored") {
  const RawLook look = parse_raw_look(
      "s 70000 12 1790000000 ./JOB/data/a b\n"
      " 34 -rw-r--r--    1 0        0            81920 Nov 23 17:02 ./JOB/data/c\n"
      "s 1 2 3 ./.drained\ns x 3 4 ./d\ns 1 2 3 ./../e\ns 1 2 3 /f\nnonsense\nfree 1024\n");
  REQUIRE(look.files.size() == 2);
  CHECK(look.files[0].path == "JOB/data/a b");
  CHECK(look.files[0].size == 70000);
  CHECK(look.files[0].inode == 12);
  CHECK(look.files[1].path == "JOB/data/c");
  CHECK(look.files[1].size == 81920);
  CHECK(look.files[1].inode == 34);
  CHECK(look.files[1].mtime == "Nov 23 17:02 ");
  CHECK(look.rest_seconds > 60);
  CHECK(look.free_bytes == std::uint64_t{1} << 20);
  CHECK_FALSE(parse_raw_look("free 99999999999999999999\n").free_bytes);
}

TEST_CASE("More data than requested is rejected") {
  BoardServer board;
  BoardShell shell(make_config(board).login);
  shell.connect();
  const fs::path output = board.home() / "output";
  write_file(output / "file", raw_bytes(4));
  DrainChannel channel(shell, output, true, DrainTools{SumTool::cksum, false}, "note");
  REQUIRE(channel.get("file", 1, 2) == raw_bytes(4).substr(kBlocks, 2 * kBlocks));
  board.replace_tool("dd", "exec cat /dev/zero");
  CHECK_THROWS_AS(channel.get("file", 1, 2), TooMuchSent);
}

TEST_CASE("A drain stops if another machine answers in the board's place") {
  BoardServer board;
  BoardConfig config = make_config(board);
  config.login.host_key = HostKeyPolicy::off;
  BoardLink link(config, 1);
  link.open(false);
  const std::string accepted = board.host_key_fingerprint();
  board.change_host_key();
  const TempFolder output;
  BoardDrain drain(link, {.on = true, .output = output.path()});
  drain.wait_until_it_looks();
  try {
    drain.check();
    FAIL("it was taken for the board");
  } catch (const ConnectFailure& stranger) {
    CHECK(stranger.why() == ConnectFailure::Why::host_key);
    CHECK(contains(stranger.what(), "accepted was " + accepted));
  }
  CHECK_FALSE(drain.is_needed());
}

TEST_CASE("A file size beyond any disk ends the drain with a message") {
  const RawFolder raw;
  FolderBoard board(raw.folder);
  Drainer drainer(raw.home);
  free_begin(raw, board, drainer, raw_bytes(9));
  drainer.cycle(board);
  REQUIRE(drainer.is_needed());
  board.claim_bytes(std::uint64_t{1} << 60);
  CHECK_THROWS_WITH(drainer.finish(board), Catch::Contains("are free in " + raw.home.string()));
}

}  // namespace msprof::test
