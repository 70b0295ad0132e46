// TrackGroups: maps the numbers of similar subjects (dies, cores, ports) to their state. Limits the
// number of tracks that a file can open.
#pragma once

#include <optional>
#include <vector>

#include "import/cann/counters/counter_tracks.hpp"

namespace msprof::cann {

inline constexpr std::string_view kTooMany = "more subjects than possible";

template <typename Group>
class TrackGroups {
 public:
  static constexpr std::size_t kMaxTracks = 4096;

  // `tracks`: tracks per group.
  explicit TrackGroups(std::size_t tracks) : room_(kMaxTracks / tracks) {}

  // Returns the group of a number, created by `make` on first use; null if there are too many
  // groups.
  template <typename Make>
  Group* find(std::uint16_t number, Make&& make) {
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

// Returns true if ticks of the part can be converted to times; otherwise adds a finding that `kind`
// is not read.
inline bool check_ticks(const ImportContext& context, const CannPart& part, std::string_view kind) {
  if (part.clock) return true;
  context.report.add(FindingId::no_clock, kind, part.name, "no times",
                     "a start log or the frequency of the device's clock is missing, so the times "
                     "of the samples are unknown");
  return false;
}

}  // namespace msprof::cann
