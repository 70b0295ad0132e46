// doctor's detection of another profiled run on this machine.
#include "doctor/machine_checks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "support/files.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

namespace {

bool sees_us() {
  const auto writers = processes_that_record();
  const std::string us = std::to_string(::getpid()) + " ";
  return std::any_of(writers.begin(), writers.end(),
                     [&](const std::string& writer) { return writer.starts_with(us); });
}

}  // namespace

TEST_CASE("A process that writes a capture is found, but not one that reads") {
  const TempFolder folder;
  const auto file = folder / "JOBABCDEFGHIJKLMNOPQRSTUVWXYZABC" / "data" / "aicore.0.net.1.1.1.0";
  const auto other = folder / "JOB" / "data" / "aicore.0.net.1.1.1.0";
  write_file(file, "");
  write_file(other, "");
  const int reading = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const int elsewhere = ::open(other.c_str(), O_RDWR | O_CLOEXEC);
  CHECK_FALSE(sees_us());
  const int writing = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  CHECK(sees_us());
  ::close(writing);
  CHECK_FALSE(sees_us());
  ::close(elsewhere);
  ::close(reading);
}

}  // namespace msprof::test
