// Transfer rates, the remaining time, and the progress line.
#include "base/transfer_line.hpp"

#include <catch2/catch.hpp>

#include "base/text.hpp"

using namespace msprof;
using std::chrono::milliseconds;

namespace {

const RateMeter::Clock::time_point kBegin{};

RateMeter::Clock::time_point at(int ms) {
  return kBegin + milliseconds(ms);
}

}  // namespace

TEST_CASE("The rate covers the last seconds and needs at least half a second") {
  RateMeter meter(kBegin, 1'000'000);
  meter.add(at(100), 1'200'000);
  CHECK_FALSE(meter.per_second(at(100)));
  for (int ms = 200; ms <= 10'000; ms += 100)
    meter.add(at(ms), 1'000'000 + static_cast<std::uint64_t>(ms) * 2'000);
  CHECK(meter.per_second(at(10'000)).value() == Approx(2e6));
  // From here, ten times as fast: the earlier rate is forgotten.
  for (int ms = 10'100; ms <= 30'000; ms += 100)
    meter.add(at(ms), 21'000'000 + static_cast<std::uint64_t>(ms - 10'000) * 20'000);
  CHECK(meter.per_second(at(30'000)).value() == Approx(20e6));
}

TEST_CASE("A stall lowers the rate, and a decreasing amount restarts it") {
  RateMeter meter(kBegin, 0);
  meter.add(at(1'000), 1'000'000);
  CHECK(meter.per_second(at(1'000)).value() == Approx(1e6));
  CHECK(meter.per_second(at(4'000)).value() == Approx(250e3));
  meter.add(at(4'000), 10);
  CHECK_FALSE(meter.per_second(at(4'100)));
  CHECK(meter.per_second(at(6'000)).value() == Approx(0));
}

TEST_CASE("Durations are printed in at most two units") {
  CHECK(duration_text(-3) == "0 s");
  CHECK(duration_text(0.4) == "0 s");
  CHECK(duration_text(59.4) == "59 s");
  CHECK(duration_text(59.6) == "1 min 00 s");
  CHECK(duration_text(125) == "2 min 05 s");
  CHECK(duration_text(3'780) == "1 h 03 min");
  CHECK(duration_text(1e9) == "more than 99 h");
  CHECK(duration_text(1e300) == "more than 99 h");
}

TEST_CASE("A transfer shows share, bytes, rate and the time that is left") {
  TransferState state = {12'300'000, 27'000'000, 3.4e6};
  CHECK(transfer_text("fetching from b", state, 0) ==
        "fetching from b:  45%, 12.3 MB of 27.0 MB, 3.4 MB/s, 4 s left");
  state.bytes_per_second = std::nullopt;
  CHECK(transfer_text("fetching from b", state, 0) == "fetching from b:  45%, 12.3 MB of 27.0 MB");
  state.bytes_per_second = 0;
  CHECK(transfer_text("b", state, 0) == "b:  45%, 12.3 MB of 27.0 MB, 0 B/s");
  CHECK(transfer_text("b", {5, 0, 2e3}, 0) == "b: 5 B, 2.0 kB/s");
  // A file that grew during the transfer.
  CHECK(transfer_text("b", {300, 200, 1e3}, 0) == "b: 100%, 300 B of 200 B, 1.0 kB/s");
}

TEST_CASE("A transfer line fits the width; the label is shortened first") {
  const TransferState state = {12'300'000, 27'000'000, 3.4e6};
  const std::string label = "sending the project to somebody@a-board-with-a-long-name.example.org";
  for (const int width : {20, 40, 80, 200}) {
    const std::string text = transfer_text(label, state, width);
    INFO(width << ": " << text);
    CHECK(display_width(text) <= width);
  }
  CHECK(transfer_text(label, state, 80).ends_with("3.4 MB/s, 4 s left"));
  CHECK(transfer_text("a\x1b[2J", state, 80).find('\x1b') == std::string::npos);
}
