#include "base/sha256.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;

TEST_CASE("checksums of messages are those that the standard's examples give") {
  CHECK(sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_of(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the processor's instructions and plain arithmetic give the same checksum") {
  std::string text(100'000, ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i >> 3);
  Sha256 plain(false);
  plain.add(std::as_bytes(std::span(text)));
  CHECK(plain.hex() == sha256_of(text));
}

TEST_CASE("a checksum does not depend on the pieces in which a message comes") {
  for (const std::size_t size : {0u, 55u, 56u, 63u, 64u, 65u, 119u, 120u, 128u, 1000u}) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(i * 7);
    Sha256 sum(false);
    for (const char& c : text) sum.add(std::as_bytes(std::span(&c, 1)));
    Sha256 parts;
    const auto bytes = std::as_bytes(std::span(text));
    for (std::size_t at = 0; at < size; at += 70)
      parts.add(bytes.subspan(at, std::min<std::size_t>(70, size - at)));
    CHECK(sum.hex() == sha256_of(text));
    CHECK(parts.hex() == sha256_of(text));
  }
}

TEST_CASE("a file has the checksum of its bytes, and one that is not there is an error") {
  const test::TempFolder folder;
  const std::string bytes(300'000, 'm');
  test::write_file(folder / "model.om", bytes);
  CHECK(sha256_of_file(folder / "model.om") == sha256_of(bytes));
  CHECK_THROWS_AS(sha256_of_file(folder / "none"), Error);
}
