#include "ssh/secret.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <new>
#include <type_traits>

#include "ssh_fixture.hpp"
#include "support/files.hpp"
#include "support/lines.hpp"

using namespace msprof;
using msprof::test::contains;

namespace {

// Returns the whole buffer of `text`, up to its capacity.
std::string_view whole_buffer(const std::string& text) {
  return {text.data(), text.capacity()};
}

// Returns true if the kernel would write a core dump of this process now.
bool is_dumpable() {
  return ::prctl(PR_GET_DUMPABLE) == 1;
}

}  // namespace

TEST_CASE("Core dumps are disabled while a secret exists and enabled after the last one") {
  REQUIRE(is_dumpable());
  {
    const Secret nothing;
    CHECK(is_dumpable());
    Secret first(std::string("kite"));
    CHECK_FALSE(is_dumpable());
    {
      Secret copy = first;
      Secret moved = std::move(copy);
      Secret assigned;
      assigned = moved;
      assigned = std::move(moved);
      first = Secret();
      CHECK_FALSE(is_dumpable());
    }
    CHECK(is_dumpable());
    first = Secret(std::string("another one, long enough to lie on the heap of the process"));
    CHECK_FALSE(is_dumpable());
  }
  CHECK(is_dumpable());
}

TEST_CASE("A child started while a secret exists can dump core") {
  const Secret secret(std::string("kite"));
  REQUIRE_FALSE(is_dumpable());
  // The child's files in /proc belong to its user; those of a non-dumpable process do not.
  CHECK(test::tool("test -O /proc/self/environ && tr -d '\\0' </proc/self/environ >/dev/null && "
                   "echo readable") == "readable\n");
  CHECK_FALSE(test::tool("readlink /proc/" + std::to_string(::getpid()) + "/exe").empty());
}

TEST_CASE("Core dumps are disabled while a private key is loaded") {
  const test::BoardServer board;
  SshLogin login = test::login_to(board);
  login.password = {};
  login.key = board.client_key();
  {
    const auto connection = SshConnection::open(login);
    CHECK_FALSE(is_dumpable());
  }
  CHECK(is_dumpable());
}

TEST_CASE("A secret takes over the text and wipes its source, short or long") {
  for (const std::string_view text :
       {"short", "a long one that lies on the heap; it has 60 bytes."}) {
    std::string source(text);
    const Secret secret(std::move(source));
    CHECK(secret.reveal() == text);
    // NOLINTNEXTLINE(bugprone-use-after-move): tests what is left
    CHECK_FALSE(contains(whole_buffer(source), text));
    CHECK(source.empty());
  }
}

TEST_CASE("Wiping leaves nothing behind, also past the end of the text") {
  std::string text = "a long secret that lies on the heap and was cut";
  text.resize(3);
  wipe(text);
  CHECK(text.empty());
  CHECK_FALSE(contains(whole_buffer(text), "secret that lies"));
}

TEST_CASE("Moving and assigning secrets leaves no copy where they were") {
  Secret first(std::string("short"));
  Secret second(std::move(first));
  // NOLINTNEXTLINE(bugprone-use-after-move): tests what is left
  CHECK(first.empty());
  CHECK_FALSE(contains(whole_buffer(first.reveal()), "hort"));
  CHECK(second.reveal() == "short");
  Secret third(std::string("other"));
  third = std::move(second);
  CHECK(third.reveal() == "short");
  // NOLINTNEXTLINE(bugprone-use-after-move): tests what is left
  CHECK_FALSE(contains(whole_buffer(second.reveal()), "hort"));
  const Secret copy = third;
  CHECK(copy.reveal() == third.reveal());
  third = copy;
  CHECK(third.reveal() == "short");
}

TEST_CASE("A secret is wiped when destroyed") {
  // Short enough to be stored in the object itself, whose memory the test owns.
  alignas(Secret) unsigned char memory[sizeof(Secret)] = {};
  auto* secret = new (memory) Secret(std::string("kite"));
  CHECK(contains(std::string_view{reinterpret_cast<const char*>(memory), sizeof memory}, "kite"));
  secret->~Secret();
  CHECK_FALSE(
      contains(std::string_view{reinterpret_cast<const char*>(memory), sizeof memory}, "ite"));
}

TEST_CASE("A secret does not convert to text implicitly") {
  STATIC_REQUIRE_FALSE(std::is_convertible_v<Secret, std::string>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<std::string, Secret>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<std::string, Secret>);
}
