#include "export/scope/pcie_records.hpp"

namespace msprof {

namespace {

// Initial value of a minimum, kept while no transfer was seen. The vendor's tool compares the
// maximum with it.
constexpr std::int64_t kUnseenPcieMinimum = std::int64_t{0xFFFFF} * 1'000'000;

std::size_t pcie_index(const CounterTrack& track) {
  return track.counter == "Min" ? 0 : track.counter == "Max" ? 1 : 2;
}

}  // namespace

bool PcieRecords::next() {
  while (has_sample_) {
    gather();
    const auto& posted = record_.values[0];
    if (posted[1].value_or(0) >= posted[0].value_or(kUnseenPcieMinimum)) return true;
  }
  return false;
}

void PcieRecords::gather() {
  record_ = PcieRecord{};
  record_.track = samples_->track;
  record_.time_ns = samples_->time_ns;
  // Samples of a record are in the order of its values, so a lower index starts the next record.
  std::size_t last = 0;
  bool is_first = true;
  do {
    const CounterTrack& track = *samples_->track;
    const auto group = static_cast<std::size_t>(track.part.value_or(0));
    if (group < PcieRecord::kGroups) {
      const std::size_t place = group * 3 + pcie_index(track);
      if (track.device != record_.track->device || samples_->time_ns != record_.time_ns ||
          (!is_first && place <= last))
        return;
      record_.values[group][pcie_index(track)] = samples_->value;
      last = place;
      is_first = false;
    }
    has_sample_ = samples_.next();
  } while (has_sample_);
}

}  // namespace msprof
