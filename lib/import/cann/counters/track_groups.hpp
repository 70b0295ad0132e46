// TrackGroups: what a kind keeps of each of many like subjects (dies, cores, ports), by their
// number; the tracks that a file can open are limited. For the kinds of counters.
#pragma once

#include <optional>
#include <vector>

#include "import/cann/counters/counter_tracks.hpp"

namespace msprof::cann {

inline constexpr std::string_view kTooMany = "more subjects than can be";

template <typename Group>
class TrackGroups {
 public:
  static constexpr std::size_t kMaxTracks = 4096;

  // `tracks`: so many a group.
  explicit TrackGroups(std::size_t tracks) : room_(kMaxTracks / tracks) {}

  // What `make` gave for a number of 16 bits, for which it is called once; null where there are
  // too many groups already.
  template <typename Make>
  Group* of(std::uint16_t number, Make&& make) {
    if (number >= groups_.size()) groups_.resize(std::size_t{number} + 1);
    std::optional<Group>& group = groups_[number];
    if (!group) {
      if (room_ == 0) return nullptr;
      --room_;
      group = make();
    }
    return &*group;
  }

 private:
  std::size_t room_;
  std::vector<std::optional<Group>> groups_;
};

// Whether ticks of a part have times; else a finding says that `kind` is not read there.
inline bool check_ticks(const ImportContext& context, const CannPart& part, std::string_view kind) {
  if (part.clock) return true;
  context.report.add(FindingId::no_clock, kind, part.name, "no times",
                     "a start log or the frequency of the device's counter is missing, so that it "
                     "is not known when anything was counted");
  return false;
}

}  // namespace msprof::cann
