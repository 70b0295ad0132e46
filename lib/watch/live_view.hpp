// LiveView: implements --watch. On a terminal, draws lines at the bottom, at most four times a
// second; otherwise prints a message at intervals. Created by the verb, called by the collector.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/status_area.hpp"
#include "base/transfer_line.hpp"
#include "collect/run_watch.hpp"
#include "watch/figures.hpp"
#include "watch/tally.hpp"

namespace msprof::watch {

class LiveView : public RunWatch {
 public:
  // `places`: where to search for record layouts. `between_messages` applies if there is no
  // terminal.
  explicit LiveView(LayoutPlaces places,
                    std::chrono::milliseconds between_messages = std::chrono::seconds(10))
      : places_(std::move(places)), between_messages_(between_messages) {}

  void begin(const Host& host, const std::string& name, std::unique_ptr<OutputPeek> peek) override;
  void tick() override;
  void finish() noexcept override;

 private:
  using Clock = RateMeter::Clock;

  void take(Clock::time_point now, const Peeked& peeked);
  void show(Clock::time_point now);

  LayoutPlaces places_;
  std::chrono::milliseconds between_messages_;
  const Host* host_ = nullptr;
  std::unique_ptr<OutputPeek> peek_;
  std::optional<RunTally> tally_;
  RunFigures figures_;
  std::vector<PeekedFile> files_;
  std::optional<RateMeter> bytes_;
  std::optional<RateMeter> counts_;
  std::optional<RateMeter> arrived_;  // for a drain
  StatusArea area_;
  bool is_on_terminal_ = false;
  bool has_printed_note_ = false;
  int looks_ = 0;
  Clock::time_point begin_;
  Clock::time_point taken_at_;  // time of the figures
  Clock::time_point next_look_;
  Clock::time_point next_free_;
  Clock::time_point next_show_;
};

}  // namespace msprof::watch
