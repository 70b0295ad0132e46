#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "ssh_fixture.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"
#include "support/small_disk.hpp"

using namespace msprof;
using namespace msprof::test;

namespace fs = std::filesystem;

namespace {

// A board with an open SFTP session, and a folder on it.
struct Files {
  explicit Files(const BoardOptions& options = {}) : board(options) {
    connection = SshConnection::open(login_to(board));
    sftp = connection->sftp();
    REQUIRE(sftp != nullptr);
    fs::create_directories(folder());
  }
  fs::path folder() const { return board.home() / "files"; }
  std::string read(const std::string& name, std::uint64_t most = kAll) {
    std::string text;
    const auto count = sftp->read((folder() / name).string(), most,
                                  [&](std::string_view bytes) { text += bytes; });
    CHECK(count == text.size());
    return text;
  }
  void write(const std::string& name, std::string_view text, std::uint32_t mode = 0644) {
    sftp->write((folder() / name).string(), mode, [&](char* buffer, std::size_t size) {
      const std::size_t part = text.copy(buffer, size);
      text.remove_prefix(part);
      return part;
    });
  }
  BoardServer board;
  std::unique_ptr<SshConnection> connection;
  std::unique_ptr<SftpFiles> sftp;
};

struct stat file_status(const fs::path& path) {
  struct stat status = {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

}  // namespace

TEST_CASE("A board without a file service has none") {
  for (const BoardKind kind : {BoardKind::openssh_without_sftp, BoardKind::dropbear}) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    CHECK(connection->sftp() == nullptr);
    CHECK(run(*connection, "echo here").out == "here\n");
  }
}

TEST_CASE("Files of every size are read as they are") {
  Files files;
  for (const std::size_t size : {0U, 1U, 4'096U, 32'767U, 32'768U, 32'769U, 65'536U, 131'072U,
                                 131'073U, 261'120U, 261'121U, 262'144U, 524'288U, 5'000'000U}) {
    const std::string text = pattern(size);
    write_file(files.folder() / "file", text);
    INFO(size);
    CHECK((files.read("file") == text));
  }
}

TEST_CASE("Every window size reads the same data, even above the board's limit") {
  Files files;
  const std::string text = pattern(2'000'000);
  write_file(files.folder() / "file", text);
  for (const int requests : {1, 2, 16, 64}) {
    for (const std::uint32_t bytes : {1'000U, 32'768U, 262'144U}) {
      files.sftp->set_window({requests, bytes});
      INFO(requests << " x " << bytes);
      CHECK((files.read("file") == text));
    }
  }
}

TEST_CASE("No more than requested is read") {
  Files files;
  const std::string text = pattern(200'000);
  write_file(files.folder() / "file", text);
  for (const std::uint64_t most : {0U, 1U, 32'768U, 100'000U, 200'000U, 300'000U}) {
    CHECK((files.read("file", most) == text.substr(0, most)));
  }
}

TEST_CASE("A growing file is read without gaps, at least to its first size") {
  Files files;
  const std::string text = pattern(6'000'000);
  const fs::path path = files.folder() / "file";
  write_file(path, text.substr(0, 1'000'000));
  std::ofstream end(path, std::ios::app | std::ios::binary);
  std::size_t written = 1'000'000;
  std::string read;
  files.sftp->read(path.string(), kAll, [&](std::string_view bytes) {
    read += bytes;
    const std::size_t more = std::min<std::size_t>(10'000, text.size() - written);
    end.write(text.data() + written, static_cast<std::streamsize>(more)).flush();
    written += more;
  });
  CHECK(read.size() >= 1'000'000);
  CHECK((read == text.substr(0, read.size())));
}

TEST_CASE("A file truncated while being read ends there") {
  Files files;
  const std::string text = pattern(6'000'000);
  const fs::path path = files.folder() / "file";
  write_file(path, text);
  std::string read;
  files.sftp->read(path.string(), kAll, [&](std::string_view bytes) {
    if (read.empty()) fs::resize_file(path, 2'000'000);
    read += bytes;
  });
  CHECK(read.size() >= 2'000'000);
  CHECK(read.size() < text.size());
}

TEST_CASE("A missing file, a folder and a broken link are errors with the name") {
  Files files;
  fs::create_symlink("nowhere", files.folder() / "broken");
  fs::create_directory(files.folder() / "folder");
  for (const std::string name : {"missing", "broken", "folder"}) {
    const std::string text = thrown_message(Exit::partial_data, [&] { files.read(name); });
    INFO(text);
    CHECK(text.starts_with(files.board.address() + ": " + (files.folder() / name).string() + ": "));
  }
  const std::string text = thrown_message(Exit::partial_data, [&] { files.read("a\x1b[31m\nb"); });
  CHECK(contains(text, "a?[31m?b: no such file"));
  write_file(files.folder() / "file", "still works");
  CHECK(files.read("file") == "still works");
}

TEST_CASE("A sink that throws does not affect the next read") {
  Files files;
  const std::string text = pattern(3'000'000);
  write_file(files.folder() / "file", text);
  std::size_t seen = 0;
  const auto path = (files.folder() / "file").string();
  CHECK(thrown_message(Exit::cannot_write, [&] {
          files.sftp->read(path, kAll, [&](std::string_view bytes) {
            seen += bytes.size();
            if (seen > 500'000) throw Error(Exit::cannot_write, "the disk is full");
          });
        }) == "the disk is full");
  CHECK((files.read("file") == text));
}

TEST_CASE("A listing has every name as it is, with kind, size, mode and time") {
  Files files;
  const std::vector<std::string> names = {
      "plain",     "with space",  "new\nline", "one\x01two",  "quote'\"`$", "-rf",
      "ümläut 板", "bad\xff\xfe", "tab\there", "back\\slash", "*",          std::string(255, 'n')};
  for (const auto& name : names) write_file(files.folder() / name, "12345");
  fs::permissions(files.folder() / "plain", fs::perms(0640));
  const timespec times[2] = {{1'000'000'000, 0}, {1'234'567'890, 0}};
  ::utimensat(AT_FDCWD, (files.folder() / "plain").c_str(), times, 0);
  fs::create_directory(files.folder() / "folder");
  fs::create_symlink("plain", files.folder() / "link");
  fs::create_symlink("/nowhere", files.folder() / "broken");
  REQUIRE(::mkfifo((files.folder() / "pipe").c_str(), 0600) == 0);
  auto entries = files.sftp->list(files.folder().string());
  CHECK(entries.size() == names.size() + 4);
  const auto entry = [&](const std::string& name) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const RemoteEntry& one) { return one.name == name; });
    INFO(name);
    REQUIRE(found != entries.end());
    return *found;
  };
  for (const auto& name : names) {
    CHECK(entry(name).kind == RemoteKind::file);
    CHECK(entry(name).size_bytes == 5);
  }
  CHECK(entry("plain").mode == 0640);
  CHECK(entry("plain").mtime_seconds == 1'234'567'890);
  CHECK(entry("folder").kind == RemoteKind::folder);
  CHECK(entry("link").kind == RemoteKind::link);
  CHECK(entry("broken").kind == RemoteKind::link);
  CHECK(entry("pipe").kind == RemoteKind::other);
}

TEST_CASE("Empty folders, large ones and missing ones are listed as they are") {
  Files files;
  CHECK(files.sftp->list(files.folder().string()).empty());
  for (int i = 0; i < 1'500; ++i) write_file(files.folder() / std::to_string(i), "");
  auto entries = files.sftp->list(files.folder().string());
  CHECK(entries.size() == 1'500);
  std::vector<std::string> found;
  for (const auto& entry : entries) found.push_back(entry.name);
  std::sort(found.begin(), found.end());
  CHECK(std::unique(found.begin(), found.end()) == found.end());
  const std::string missing = (files.folder() / "missing").string();
  CHECK(contains(thrown_message(Exit::partial_data, [&] { files.sftp->list(missing); }),
                 missing + ": no such file"));
}

TEST_CASE("Written files have their bytes and mode, whatever existed before") {
  Files files;
  for (const std::size_t size : {0U, 1U, 32'768U, 261'120U, 3'000'000U}) {
    const std::string text = pattern(size);
    files.write("file", text, 0751);
    CHECK((read_file(files.folder() / "file") == text));
    CHECK((file_status(files.folder() / "file").st_mode & 07777) == 0751);
  }
  // Modes that a umask would change, and a read-only file.
  files.write("file", "short", 0444);
  CHECK((file_status(files.folder() / "file").st_mode & 07777) == 0444);
  files.write("file", "again", 0666);
  CHECK(read_file(files.folder() / "file") == "again");
  CHECK((file_status(files.folder() / "file").st_mode & 07777) == 0666);
}

TEST_CASE("Writing replaces a link and does not follow it") {
  Files files;
  write_file(files.folder() / "other", "untouched");
  fs::create_symlink("other", files.folder() / "link");
  files.write("link", "new");
  CHECK(read_file(files.folder() / "other") == "untouched");
  CHECK(read_file(files.folder() / "link") == "new");
  CHECK_FALSE(fs::is_symlink(files.folder() / "link"));
}

TEST_CASE("A failing write is an error with the name") {
  Files files;
  const std::string text =
      thrown_message(Exit::partial_data, [&] { files.write("no-such-folder/file", "x"); });
  CHECK(contains(text, "no-such-folder/file: no such file or folder"));
  fs::create_directory(files.folder() / "folder");
  CHECK(contains(thrown_message(Exit::partial_data, [&] { files.write("folder", "x"); }),
                 "/folder: "));
}

TEST_CASE("A full disk is reported, and the connection stays usable") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(4 << 20);
  Files files({.home = disk / "home"});
  const std::string text =
      thrown_message(Exit::partial_data, [&] { files.write("file", pattern(8 << 20)); });
  INFO(text);
  CHECK(contains(text, (files.folder() / "file").string() + ": "));
  CHECK(contains(text, "ailed"));
  files.write("file", "small");
  CHECK(files.read("file") == "small");
}

TEST_CASE("A source that throws does not affect the next write") {
  Files files;
  int calls = 0;
  const auto path = (files.folder() / "file").string();
  thrown_message(Exit::partial_data, [&] {
    files.sftp->write(path, 0644, [&](char* buffer, std::size_t size) -> std::size_t {
      if (++calls > 40) throw Error(Exit::partial_data, "the file is gone");
      std::fill(buffer, buffer + size, 'x');
      return size;
    });
  });
  files.write("file", "whole");
  CHECK(read_file(files.folder() / "file") == "whole");
  CHECK(files.read("file") == "whole");
}

TEST_CASE("Times are set, folders and links made") {
  Files files;
  files.write("file", "x");
  files.sftp->set_times((files.folder() / "file").string(), 1'111'111'111);
  CHECK(file_status(files.folder() / "file").st_mtime == 1'111'111'111);
  const auto folder = (files.folder() / "folder").string();
  files.sftp->make_folder(folder, 0777);
  CHECK((file_status(folder).st_mode & 07777) == 0777);
  files.sftp->make_folder(folder, 0700);
  CHECK((file_status(folder).st_mode & 07777) == 0700);
  CHECK(contains(
      thrown_message(Exit::partial_data,
                     [&] { files.sftp->make_folder((files.folder() / "file").string(), 0755); }),
      "cannot create the folder"));
  const auto link = (files.folder() / "link").string();
  files.sftp->make_link(link, "target/of it");
  CHECK(fs::read_symlink(link) == "target/of it");
  files.sftp->make_link(link, "another");
  CHECK(fs::read_symlink(link) == "another");
  thrown_message(Exit::partial_data,
                 [&] { files.sftp->set_times((files.folder() / "missing").string(), 1); });
}

TEST_CASE("Commands and files share one connection") {
  Files files;
  const std::string text = pattern(3'000'000);
  write_file(files.folder() / "file", text);
  std::size_t seen = 0;
  const auto command = files.connection->start(
      "head -c 3000000 /dev/zero", [&](std::string_view bytes) { seen += bytes.size(); },
      [](std::string_view) {});
  CHECK((files.read("file") == text));
  CHECK(wait_for_end(*command).exit_code == 0);
  CHECK(seen == 3'000'000);
}

TEST_CASE("A connection lost during transfers is reported, in both directions") {
  const BoardServer board;
  const auto path = (board.home() / "file").string();
  write_file(path, pattern(8'000'000));
  for (const Direction direction : {Direction::down, Direction::up}) {
    CutProxy proxy(board.port(), {.after_bytes = 2'000'000, .direction = direction});
    const auto connection = SshConnection::open(login_through(board, proxy.port()));
    const auto sftp = connection->sftp();
    REQUIRE(sftp != nullptr);
    lost_by([&] {
      if (direction == Direction::down) {
        sftp->read(path, kAll, [](std::string_view) {});
      } else {
        sftp->write(path + "2", 0644, [](char* buffer, std::size_t size) {
          std::fill(buffer, buffer + size, 'x');
          return size;
        });
      }
    });
    lost_by([&] { sftp->list("/"); });
  }
}

TEST_CASE("A file service outlives its connection object without a crash") {
  Files files;
  files.connection.reset();
  lost_by([&] { files.sftp->list("/"); });
}
