#include "ssh/secret.hpp"
#include "support/lines.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <new>
#include <type_traits>

using namespace msprof;

namespace {

// The bytes where `text` keeps its content, whatever it thinks of them.
std::string_view memory_of(const std::string& text) {
  return {text.data(), text.capacity()};
}

}  // namespace

TEST_CASE("A secret takes the text over and wipes where it came from, short and long") {
  for (const std::string_view text :
       {"short", "a long one that lies on the heap; it has 60 bytes."}) {
    std::string source(text);
    const Secret secret(std::move(source));
    CHECK(secret.reveal() == text);
    // NOLINTNEXTLINE(bugprone-use-after-move): what is left is the question
    CHECK_FALSE(contains(memory_of(source), text));
    CHECK(source.empty());
  }
}

TEST_CASE("Wiping leaves nothing behind, also past the end of the text") {
  std::string text = "a long secret that lies on the heap and was cut";
  text.resize(3);
  wipe(text);
  CHECK(text.empty());
  CHECK_FALSE(contains(memory_of(text), "secret that lies"));
}

TEST_CASE("Moving and assigning secrets leaves no copy where they were") {
  Secret first(std::string("short"));
  Secret second(std::move(first));
  // NOLINTNEXTLINE(bugprone-use-after-move): what is left is the question
  CHECK(first.empty());
  CHECK_FALSE(contains(memory_of(first.reveal()), "hort"));
  CHECK(second.reveal() == "short");
  Secret third(std::string("other"));
  third = std::move(second);
  CHECK(third.reveal() == "short");
  // NOLINTNEXTLINE(bugprone-use-after-move): what is left is the question
  CHECK_FALSE(contains(memory_of(second.reveal()), "hort"));
  const Secret copy = third;
  CHECK(copy.reveal() == third.reveal());
  third = copy;
  CHECK(third.reveal() == "short");
}

TEST_CASE("A secret is wiped when it goes") {
  // Short enough to lie within the object, whose memory is ours.
  alignas(Secret) unsigned char memory[sizeof(Secret)] = {};
  auto* secret = new (memory) Secret(std::string("kite"));
  CHECK(contains(std::string_view{reinterpret_cast<const char*>(memory), sizeof memory}, "kite"));
  secret->~Secret();
  CHECK_FALSE(
      contains(std::string_view{reinterpret_cast<const char*>(memory), sizeof memory}, "ite"));
}

TEST_CASE("A secret does not turn into a text by accident") {
  STATIC_REQUIRE_FALSE(std::is_convertible_v<Secret, std::string>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<std::string, Secret>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<std::string, Secret>);
}
