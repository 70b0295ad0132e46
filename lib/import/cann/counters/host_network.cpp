// Raw kind host_network.data: bytes that each network card of the host received and sent since it
// started. A block has a time and the lines of /proc/net/dev. Source: cann_system.md 16.4.
#include <algorithm>

#include "base/text.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/text_kind.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kMaxNetworkCards = 256;

class NetworkBlocks {
 public:
  NetworkBlocks(CannImport& import, const ImportContext& context, const CannPart& part,
                std::string_view kind, SliceLines& lines)
      : import_(import), part_(part), lines_(lines), tracks_(import, context, kind) {}

  std::string_view take(std::string_view line) {
    if (line.starts_with("time ")) return begin(line);
    // Column headers contain '|'.
    if (is_lost_ || line.empty() || line.find('|') != std::string_view::npos) return {};
    if (block_ == 0) return kNotTheForm;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return kNotTheForm;
    const std::string_view name = trim(line.substr(0, colon));
    const LineWords words(line.substr(colon + 1));
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    constexpr std::size_t kReceived = 0;
    constexpr std::size_t kSent = 8;
    if (name.empty() || name.size() > 64 || words.size() < 11 ||
        !words.number(kReceived, received) || !words.number(kSent, sent))
      return kNotTheForm;
    return add(name, received, sent);
  }

  void finish() { tracks_.write(); }

 private:
  struct Card {
    std::string name;
    std::size_t rx = 0;
    std::size_t tx = 0;
    std::uint64_t block = 0;  // last block that contains the card
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
  };

  std::string_view begin(std::string_view line) {
    is_lost_ = true;
    std::uint64_t ns = 0;
    if (LineWords words(line); words.size() != 2 || !words.number(1, ns)) return kNotTheForm;
    const std::int64_t time_ns = part_.start->of_host(ns);
    if (!is_time(import_.session, time_ns)) return kImpossibleTime;
    if (block_ > 0 && time_ns <= time_ns_) return kNoInterval;
    before_ns_ = time_ns_;
    time_ns_ = time_ns;
    is_lost_ = false;
    next_ = 0;
    if (block_++ == 0) open_speeds();
    return {};
  }

  // Nominal speed of each card: one sample at the start.
  void open_speeds() {
    for (const NetworkCard& card : part_.info.network_cards) {
      const std::size_t speed = tracks_.open({.device = {},
                                              .subject = printable(card.name),
                                              .counter = "Speed",
                                              .unit = "KB/s",
                                              .divisor = 1024});
      tracks_.add(speed, time_ns_, card.bytes_per_s);
    }
  }

  std::string_view add(std::string_view name, std::uint64_t received, std::uint64_t sent) {
    Card* card = find(name);
    if (card == nullptr) return "more network cards than a host has";
    const bool goes_on = card->block + 1 == block_ && block_ > 1;
    const bool fell = goes_on && (received < card->received || sent < card->sent);
    if (goes_on && !fell) {
      tracks_.add(card->rx, before_ns_, time_ns_, sample_value(received - card->received));
      tracks_.add(card->tx, before_ns_, time_ns_, sample_value(sent - card->sent));
    }
    card->block = block_;
    card->received = received;
    card->sent = sent;
    lines_.count();
    return fell ? kCounterFell : std::string_view();
  }

  // Finds or adds a card. Cards have the same order in every block.
  Card* find(std::string_view name) {
    if (next_ < cards_.size() && cards_[next_].name == name) return &cards_[next_++];
    const auto found = std::find_if(cards_.begin(), cards_.end(),
                                    [&](const Card& card) { return card.name == name; });
    next_ = static_cast<std::size_t>(found - cards_.begin()) + 1;
    if (found != cards_.end()) return &*found;
    if (cards_.size() == kMaxNetworkCards) return nullptr;
    const auto open = [&](std::string_view counter) {
      return tracks_.open({.device = {},
                           .subject = printable(name),
                           .counter = counter,
                           .unit = "KB/s",
                           .divisor = 1024,
                           .is_rate = true});
    };
    Card card;
    card.name = name;
    card.rx = open("Rx");
    card.tx = open("Tx");
    cards_.push_back(std::move(card));
    return &cards_.back();
  }

  const CannImport& import_;
  const CannPart& part_;
  SliceLines& lines_;
  CounterTracks tracks_;
  std::vector<Card> cards_;
  std::size_t next_ = 0;     // index of the expected card
  bool is_lost_ = false;     // in a block that was counted as damaged
  std::uint64_t block_ = 0;  // number of blocks so far
  std::int64_t before_ns_ = 0;
  std::int64_t time_ns_ = 0;
};

class HostNetworkKind : public TextKind {
 public:
  explicit HostNetworkKind(CannImport& import)
      : TextKind(import, "host_network", "host_network.data") {}

 private:
  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    NetworkBlocks blocks(import_, context, part, name(), lines);
    lines.read([&](std::string_view line) { return blocks.take(line); });
    blocks.finish();
    if (part.info.network_cards.empty()) {
      context.report.add(FindingId::untold_usage, name(), part.name,
                         "network card of unknown speed",
                         "info.json has no speed for it (netCard)");
    }
  }
};

}  // namespace

std::unique_ptr<RawKind> make_host_network_kind(CannImport& import) {
  return std::make_unique<HostNetworkKind>(import);
}

}  // namespace msprof::cann
