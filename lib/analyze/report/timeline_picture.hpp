// TimelinePicture: the slices of a stretch of time as an SVG that any browser shows, and as data
// for the script that zooms in it. For report_page().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyze/report/report_words.hpp"
#include "store/database.hpp"

namespace msprof::report {

struct Slice {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t name = 0;
  std::size_t depth = 0;  // 0: in no other slice of its lane
};

// A thread of a timeline.
struct Lane {
  std::string process;
  std::string thread;
  std::vector<Slice> slices;  // by begin
  std::size_t depth = 1;      // rows that it takes
};

// From a call to what it started: places in `lanes`.
struct Arrow {
  std::size_t from_lane = 0;
  std::int64_t from_ns = 0;
  std::size_t to_lane = 0;
  std::int64_t to_ns = 0;
};

struct TimelinePicture {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<std::string> names;
  std::vector<Lane> lanes;
  std::vector<Arrow> arrows;
  std::size_t slices = 0;
  std::size_t left_out_lanes = 0;
  std::size_t left_out_arrows = 0;
  bool is_cut = false;  // at the slices that a page may have: end_ns is where
};

inline constexpr std::size_t kMaxSlices = 20'000;
inline constexpr std::size_t kMaxLanes = 40;

// What the timelines of a capture draw from `begin_ns` to `end_ns`, on one clock.
TimelinePicture timeline_picture(const Database& db, std::int64_t begin_ns, std::int64_t end_ns);

// An SVG, and behind it the data, both HTML.
std::string picture_html(const TimelinePicture& picture, const Words& words);

}  // namespace msprof::report
