// Parsing of a board's answer to doctor, which can be any text.
#include "doctor/board_checks.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "base/error.hpp"

namespace msprof {

namespace {

const std::string kMin = "system Linux\nmachine aarch64\nfolder /root/msprof\nfree 1000\n";

}  // namespace

TEST_CASE("A board's answer to the inspection is parsed") {
  const BoardProbe probe = parse_board_probe(
      kMin +
      "umask 0027\nclock 1700000000\nthere /root\nwritable 1\nbusy run1 (process 12)\nrun old\n"
      "kept older\nrequested newer\nown 5\nwriter 12 main: /x\nnfs a:/b on /c\noutput "
      "there\noutput writable\n"
      "libraries 1\nlibrary libc.so.6\ntool tar\n");
  CHECK(probe.info.machine == "aarch64");
  CHECK(probe.info.has_tar);
  CHECK(probe.umask == 0027U);
  CHECK(probe.clock_s == 1700000000);
  CHECK(probe.existing_folder == "/root");
  CHECK(probe.is_writable);
  CHECK(probe.busy == "run1 (process 12)");
  CHECK(probe.runs == std::vector<std::string>{"old"});
  CHECK(probe.kept == std::vector<std::string>{"older"});
  CHECK(probe.kept_on_request == std::vector<std::string>{"newer"});
  CHECK(probe.own_bytes == 5 * 1024);
  CHECK(probe.writers == std::vector<std::string>{"12 main: /x"});
  CHECK(probe.nfs_mounts == std::vector<std::string>{"a:/b on /c"});
  CHECK(probe.has_output);
  CHECK(probe.is_output_writable);
  CHECK(probe.found_libraries == std::vector<std::string>{"libc.so.6"});
}

TEST_CASE("Invalid parts of a board's answer are ignored, and long answers are truncated") {
  CHECK_THROWS_AS(parse_board_probe(""), Error);
  CHECK_THROWS_AS(parse_board_probe("system Linux\nfolder relative\nfree 1\n"), Error);
  const BoardProbe odd = parse_board_probe(
      kMin + "umask 99\nclock 99999999999999999999\nown 18446744073709551615\nthere \033[2J\n");
  CHECK_FALSE(odd.umask);
  CHECK_FALSE(odd.clock_s);
  CHECK(odd.own_bytes == 0);
  CHECK(odd.existing_folder == "?[2J");
  std::string many = kMin;
  for (int i = 0; i < 1000; ++i) many += "kept run\n";
  CHECK(parse_board_probe(many).kept.size() <= 20);
}

}  // namespace msprof
