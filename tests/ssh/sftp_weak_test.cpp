#include <algorithm>
#include <catch2/catch.hpp>

#include "ssh/sftp_client.hpp"
#include "ssh/sftp_wire.hpp"
#include "ssh_fixture.hpp"
#include "support/files.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

// A board whose SFTP server has a weakness.
struct Weak {
  explicit Weak(const std::string& mode, const SshPatience& patience = {}) {
    connection = SshConnection::open(login_to(board));
    const std::string command =
        std::string("exec " WEAK_SFTP_SERVER " ") + mode + " " + note().string();
    client = sftp::SftpClient::begin(
        [this, command](StreamSink sink) {
          ++starts;
          return connection->start(command, std::move(sink), [](std::string_view) {});
        },
        "board", patience);
    if (!client->agree()) client.reset();
    write_file(path(), text);
  }
  std::filesystem::path note() const { return board.home() / "note"; }
  std::string path() const { return (board.home() / "file").string(); }
  std::string read() {
    std::string result;
    client->read(path(), kAll, [&](std::string_view bytes) { result += bytes; });
    return result;
  }
  const BoardServer board;
  const std::string text = pattern(1'000'000);
  std::unique_ptr<SshConnection> connection;
  std::unique_ptr<sftp::SftpClient> client;
  int starts = 0;
};

}  // namespace

TEST_CASE("A server that returns less than requested loses no data") {
  Weak weak("short");
  CHECK((weak.read() == weak.text));
}

TEST_CASE("A server without file sizes loses no data") {
  Weak weak("old");
  CHECK((weak.read() == weak.text));
  weak.client->set_window({1, 1'000});
  CHECK((weak.read() == weak.text));
}

TEST_CASE("A server that answers out of order loses no data") {
  Weak weak("reversed");
  CHECK((weak.read() == weak.text));
}

TEST_CASE("At most sixteen reads and sixteen writes are in flight") {
  Weak weak("batch");
  CHECK((weak.read() == weak.text));
  CHECK(read_file(weak.note()) == "16");
  Weak writing("batch");
  std::size_t left = 3'000'000;
  writing.client->write(writing.path() + "2", 0644, [&](char* buffer, std::size_t size) {
    const std::size_t part = std::min(left, size);
    std::fill(buffer, buffer + part, 'x');
    left -= part;
    return part;
  });
  CHECK(read_file(writing.note()) == "16");
}

TEST_CASE("After lost requests they are sent one at a time") {
  Weak weak("forgets", {.silence_seconds = 4});  // considered stalled after a quarter of this
  CHECK((weak.read() == weak.text));
  // Reading a second file does not wait again.
  CHECK((weak.read() == weak.text));
  CHECK(weak.starts == 1);
}

TEST_CASE("A server that ends under load is restarted, without data loss") {
  Weak weak("dies");
  CHECK((weak.read() == weak.text));
  CHECK(weak.starts == 2);
}

TEST_CASE("A read refused under load is retried") {
  Weak weak("fails");
  CHECK((weak.read() == weak.text));
}

TEST_CASE("Unrequested data from a server is an error") {
  Weak weak("greedy");
  CHECK(contains(thrown_message(Exit::partial_data, [&] { weak.read(); }),
                 "more data than requested"));
}

TEST_CASE("A refused write is reported with reason and name") {
  Weak weak("full");
  const std::string text = thrown_message(Exit::partial_data, [&] {
    weak.client->write("/x/file", 0644, [](char* buffer, std::size_t size) {
      std::fill(buffer, buffer + size, 'x');
      return size;
    });
  });
  INFO(text);
  CHECK(contains(text, "/x/file: "));
  CHECK(contains(text, "No space left on device"));
}

TEST_CASE("A listing with a wrong count is an error") {
  Weak weak("names");
  thrown_message(Exit::partial_data, [&] { weak.client->list("/"); });
}

TEST_CASE("A listing that restarts after its end has every name once") {
  Weak weak("again");
  CHECK(weak.client->list("/").size() == 1);
}

TEST_CASE("A listing without attributes is completed") {
  Weak weak("old");
  const auto entries = weak.client->list("/");
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].name == "one");
  CHECK(entries[0].kind == RemoteKind::file);
  CHECK(entries[0].mode == 0644);
}

TEST_CASE("A login shell that prints before SFTP counts as no SFTP") {
  Weak weak("greets");
  CHECK(weak.client == nullptr);
}

TEST_CASE("Answers of the wrong type are errors") {
  Weak weak("foreign");
  thrown_message(Exit::partial_data, [&] { weak.read(); });
  thrown_message(Exit::partial_data, [&] { weak.client->list("/"); });
}

TEST_CASE("A server with endless unrequested answers is given up") {
  Weak weak("floods");
  CHECK(contains(thrown_message(Exit::partial_data, [&] { weak.read(); }), "endless answers"));
}

TEST_CASE("An endless folder listing is given up") {
  Weak weak("endless");
  CHECK(contains(thrown_message(Exit::partial_data, [&] { weak.client->list("/x"); }),
                 "/x has more than 250,000 entries"));
}

TEST_CASE("Fields past the end of a packet are empty and marked as such") {
  using sftp::Fields;
  Fields empty("");
  CHECK(empty.u32() == 0);
  CHECK(empty.has_overrun());
  Fields cut(
      std::string_view("\0\0\0\x05"
                       "abc",
                       7));
  CHECK(cut.text().empty());
  CHECK(cut.has_overrun());
  Fields huge(
      std::string_view("\xff\xff\xff\xff"
                       "abc",
                       7));
  CHECK(huge.text().empty());
  CHECK(huge.has_overrun());
  // Practically endless extended attributes.
  Fields endless(std::string_view("\x80\0\0\0\xff\xff\xff\xff", 8));
  endless.attributes();
  CHECK(endless.has_overrun());
}

TEST_CASE("Packets have the layout of the protocol") {
  using sftp::Request;
  using sftp::Type;
  const std::string packet =
      std::move(Request(Type::setstat, 7).text("ab").attributes({.mode = 0644, .mtime_seconds = 9}))
          .finish();
  const std::string expected(
      "\0\0\0\x1b\x09\0\0\0\x07\0\0\0\x02"
      "ab"
      "\0\0\0\x0c\0\0\x01\xa4"
      "\0\0\0\x09\0\0\0\x09",
      31);
  CHECK(packet == expected);
}
