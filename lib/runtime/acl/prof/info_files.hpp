// The metadata files of a PROF folder: devices, options and clocks. For Recording. Source:
// cann_host.md 1.1, 1.7.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/acl/prof/recording.hpp"

namespace msprof::acl {

// A moment on the clock of the records and on the wall clock.
struct ClockMoment {
  std::uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC: runtime::monotonic_ns()
  std::uint64_t wall_us = 0;       // since 1970, exactly the same moment
};
ClockMoment now();

// Returns a name like "PROF_000001_20240515160507111_02333394ABCDEFGH"; empty if no random bytes
// are available.
std::string folder_name(std::uint32_t number, const ClockMoment& begin);

// Each returns one line. `device` empty: for the folder host/.
std::string info_json(const RecordingOptions& options, std::optional<std::uint16_t> device);
std::string sample_json(const RecordingOptions& options, std::optional<std::uint16_t> device,
                        const std::string& folder);
std::string start_info(const ClockMoment& begin);
// Records missing from a recording: those lost because there was no space, and the oldest, removed
// at the storage limit.
struct Losses {
  std::uint64_t lost = 0;
  std::uint64_t removed = 0;
};
std::string end_info(const ClockMoment& end, const std::optional<Losses>& losses);
std::string host_start_log(const ClockMoment& begin);
std::string dev_start_log(const ClockMoment& begin);

}  // namespace msprof::acl
