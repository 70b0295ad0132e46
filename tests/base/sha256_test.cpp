#include "base/sha256.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;

TEST_CASE("checksums of messages are those that the standard's examples give") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a file has the checksum of its bytes, and a missing file is an error") {
  const test::TempFolder folder;
  const std::string bytes(300'000, 'm');
  test::write_file(folder / "model.om", bytes);
  CHECK(sha256_file(folder / "model.om") == sha256(bytes));
  CHECK_THROWS_AS(sha256_file(folder / "none"), Error);
}
