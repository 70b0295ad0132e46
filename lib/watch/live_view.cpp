#include "watch/live_view.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/host.hpp"

namespace msprof::watch {

namespace {

using std::chrono::milliseconds;

// A board is polled less often and for less data: each poll starts processes there, and the data
// uses its connection.
struct Pace {
  milliseconds between_looks;
  milliseconds between_free;
  std::uint64_t budget_bytes;
};
constexpr Pace kPaceHere{milliseconds(1000), milliseconds(2000), 8 << 20};
constexpr Pace kPaceOnBoard{milliseconds(2000), milliseconds(10'000), 512 << 10};

// Each poll selects the data of the next one, so the first polls are frequent.
constexpr int kFirstLooks = 4;
constexpr milliseconds kBetweenFirstLooks{500};

constexpr milliseconds kBetweenDrawings{250};

std::string find_product(const Host& host) {
  for (const auto& [name, value] : host.facts()) {
    if (name == "product") return value;
  }
  return "";
}

const Pace& choose_pace(const Host& host) {
  return host.is_board() ? kPaceOnBoard : kPaceHere;
}

}  // namespace

void LiveView::begin(const Host& host, const std::string& name, std::unique_ptr<OutputPeek> peek) {
  host_ = &host;
  peek_ = std::move(peek);
  tally_.emplace(LayoutSearch{places_, find_product(host)});
  figures_ = {};
  figures_.name = name;
  figures_.host = host.name();
  figures_.disk = host.is_board() ? "disk of board" : "disk";
  looks_ = 0;
  begin_ = taken_at_ = next_look_ = next_free_ = next_show_ = Clock::now();
  is_on_terminal_ = log::level() >= log::Level::normal && StatusArea::is_possible();
  if (!is_on_terminal_) next_show_ += between_messages_;
  bytes_.emplace(begin_, 0);
  counts_.emplace(begin_, 0);
  arrived_.reset();
  if (!peek_) figures_.records.note = "files of this host cannot be read during the run";
  // With -q nothing is shown, so nothing is read.
  if (log::level() < log::Level::normal) peek_.reset();
}

void LiveView::tick() {
  const auto now = Clock::now();
  if (peek_) {
    const Pace& pace = choose_pace(*host_);
    if (const auto peeked = peek_->take()) take(now, *peeked);
    if (now >= next_look_ && peek_->is_ready()) {
      const bool with_free = now >= next_free_;
      peek_->ask(tally_->plan(files_, pace.budget_bytes), with_free);
      next_look_ = now + (++looks_ < kFirstLooks ? kBetweenFirstLooks : pace.between_looks);
      if (with_free) next_free_ = now + pace.between_free;
    }
    if (const std::string why = peek_->trouble(); !why.empty()) {
      figures_.records.note = "its files can no longer be read: " + why;
      peek_.reset();
    }
  }
  if (now >= next_show_) show(now);
}

void LiveView::take(Clock::time_point now, const Peeked& peeked) {
  taken_at_ = now;
  files_ = peeked.files;
  figures_.files = files_.size();
  figures_.bytes = 0;
  for (const PeekedFile& file : files_) figures_.bytes += file.bytes;
  if (peeked.free_bytes) figures_.free_bytes = peeked.free_bytes;
  for (const PeekedPart& part : peeked.parts) tally_->take(part);
  figures_.records = tally_->figures();
  bytes_->add(now, figures_.bytes);
  counts_->add(now, figures_.records.count);
}

void LiveView::show(Clock::time_point now) {
  figures_.seconds = std::chrono::duration<double>(now - begin_).count();
  figures_.bytes_per_second = bytes_->per_second(taken_at_);
  figures_.count_per_second = counts_->per_second(taken_at_);
  if (const auto drained = host_->drain_status()) {
    if (!arrived_) arrived_.emplace(now, drained->bytes);
    arrived_->add(now, drained->bytes);
    figures_.transfer_label = "downloading";
    figures_.transfer = {drained->bytes, figures_.bytes, arrived_->per_second(now)};
    if (drained->free_bytes) figures_.free_bytes = drained->free_bytes;
    figures_.seconds_until_full = drained->seconds_left;
    figures_.is_freed = drained->frees;
  }
  if (is_on_terminal_) {
    area_.show(figure_lines(figures_, area_.width(), area_.most_lines()));
    next_show_ = now + kBetweenDrawings;
    return;
  }
  log::info("{}", figure_sentence(figures_));
  if (!figures_.records.note.empty() && !has_printed_note_) log::info("{}", figures_.records.note);
  has_printed_note_ = has_printed_note_ || !figures_.records.note.empty();
  next_show_ = now + between_messages_;
}

void LiveView::finish() noexcept {
  area_.close();
  peek_.reset();
  host_ = nullptr;
}

}  // namespace msprof::watch
