// TimelinePicture holds the slices of a time range. It is drawn as an SVG for any browser, and
// written as data for the zoom script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyze/report/report_words.hpp"
#include "store/database.hpp"

namespace msprof::report {

struct PictureSlice {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t name = 0;
  std::size_t depth = 0;  // 0: not inside another slice of its lane
};

// One thread of a timeline.
struct PictureLane {
  std::string process;
  std::string thread;
  std::vector<PictureSlice> slices;  // sorted by start
  std::size_t depth = 1;             // number of rows
};

// From a call to its work; lanes index TimelinePicture::lanes.
struct PictureArrow {
  std::size_t from_lane = 0;
  std::int64_t from_ns = 0;
  std::size_t to_lane = 0;
  std::int64_t to_ns = 0;
};

struct TimelinePicture {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<std::string> names;
  std::vector<PictureLane> lanes;
  std::vector<PictureArrow> arrows;
  std::size_t slices = 0;
  std::size_t left_out_lanes = 0;
  std::size_t left_out_arrows = 0;
  bool is_cut = false;  // true if the slice limit was reached; the picture ends at end_ns
};

inline constexpr std::size_t kMaxSlices = 20'000;
inline constexpr std::size_t kMaxLanes = 40;

// Reads everything that the timelines of a capture show from `begin_ns` to `end_ns`.
TimelinePicture timeline_picture(const Database& db, std::int64_t begin_ns, std::int64_t end_ns);

// Returns HTML: the SVG, followed by the data.
std::string picture_html(const TimelinePicture& picture, const ReportWords& words);

}  // namespace msprof::report
