#include "base/transfer_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

constexpr milliseconds kRateWindow{8000};
constexpr milliseconds kBetweenSamples{200};
// Over a shorter span the rate shows buffers, not the connection.
constexpr double kLeastSpanSeconds = 0.5;
constexpr milliseconds kBetweenRedraws{250};
constexpr milliseconds kBetweenMessages{10'000};
constexpr int kLeastLabelColumns = 8;
constexpr double kMaxShownHours = 99;

milliseconds message_interval(bool on_terminal) {
  return on_terminal ? kBetweenRedraws : kBetweenMessages;
}

std::uint64_t whole_number(double value) {
  constexpr double kMaxWhole = 1e18;
  return value > 0 ? static_cast<std::uint64_t>(std::min(value, kMaxWhole)) : 0;
}

}  // namespace

RateMeter::RateMeter(Clock::time_point now, std::uint64_t amount) : samples_{{now, amount}} {}

void RateMeter::add(Clock::time_point now, std::uint64_t amount) {
  if (amount < samples_.back().amount) samples_.clear();
  // The last sample is the newest amount; older samples are at least kBetweenSamples apart.
  const bool is_close = samples_.size() > 1 &&
                        samples_.back().time - std::prev(samples_.end(), 2)->time < kBetweenSamples;
  if (is_close) samples_.pop_back();
  samples_.push_back({now, amount});
  while (samples_.size() > 2 && now - samples_[1].time >= kRateWindow) samples_.pop_front();
}

std::optional<double> RateMeter::per_second(Clock::time_point now) const {
  const double span = Seconds(now - samples_.front().time).count();
  if (span < kLeastSpanSeconds) return std::nullopt;
  return static_cast<double>(samples_.back().amount - samples_.front().amount) / span;
}

std::string duration_text(double seconds) {
  if (!(seconds < kMaxShownHours * 3600)) return fmt::format("more than {} h", kMaxShownHours);
  const auto whole_seconds = static_cast<long>(std::lround(std::max(seconds, 0.0)));
  const long minutes = whole_seconds / 60;
  if (minutes == 0) return fmt::format("{} s", whole_seconds);
  if (minutes < 60) return fmt::format("{} min {:02} s", minutes, whole_seconds % 60);
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string rate_text(double bytes_per_second) {
  return human_bytes(whole_number(bytes_per_second)) + "/s";
}

std::optional<double> TransferState::seconds_left() const {
  if (total_bytes == 0 || done_bytes >= total_bytes) return std::nullopt;
  if (!bytes_per_second || *bytes_per_second < 1) return std::nullopt;
  return static_cast<double>(total_bytes - done_bytes) / *bytes_per_second;
}

std::string transfer_text(std::string_view label, const TransferState& state, int width) {
  std::string facts;
  if (state.total_bytes > 0) {
    const double share =
        static_cast<double>(state.done_bytes) / static_cast<double>(state.total_bytes);
    facts = fmt::format(": {:3}%, {} of {}", static_cast<int>(std::min(share, 1.0) * 100),
                        human_bytes(state.done_bytes), human_bytes(state.total_bytes));
  } else {
    facts = ": " + human_bytes(state.done_bytes);
  }
  if (state.bytes_per_second) facts += ", " + rate_text(*state.bytes_per_second);
  if (const auto left = state.seconds_left()) facts += ", " + duration_text(*left) + " left";
  std::string name = printable(label);
  if (width <= 0) return name + facts;
  const int room = std::max(width - display_width(facts), kLeastLabelColumns);
  return shorten(shorten(name, room) + facts, width);
}

TransferLine::TransferLine(std::string label, std::uint64_t total_bytes, std::uint64_t begun_bytes)
    : label_(std::move(label)),
      total_bytes_(total_bytes),
      is_on_terminal_(::isatty(STDERR_FILENO) == 1),
      meter_(Clock::now(), begun_bytes),
      next_(is_on_terminal_ ? Clock::now() : Clock::now() + kBetweenMessages) {}

TransferLine::~TransferLine() {
  if (is_on_terminal_ && log::level() >= log::Level::normal) Progress::clear_line();
}

void TransferLine::update(std::uint64_t done_bytes) {
  if (log::level() < log::Level::normal) return;
  const auto now = Clock::now();
  meter_.add(now, done_bytes);
  const bool is_end =
      is_on_terminal_ && !is_whole_ && total_bytes_ > 0 && done_bytes >= total_bytes_;
  if (now < next_ && !is_end) return;
  is_whole_ = is_whole_ || is_end;
  next_ = now + message_interval(is_on_terminal_);
  const TransferState state = {done_bytes, total_bytes_, meter_.per_second(now)};
  if (!is_on_terminal_) {
    log::info("{}", transfer_text(label_, state, 0));
    return;
  }
  // Keeps the last column free: some terminals wrap after it.
  const int width = text_width(STDERR_FILENO);
  Progress::show_line(transfer_text(label_, state, width > 1 ? width - 1 : 0));
}

}  // namespace msprof
