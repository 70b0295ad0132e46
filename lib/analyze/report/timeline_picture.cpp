#include "analyze/report/timeline_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/compare/html_parts.hpp"
#include "base/json_text.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "export/exporter.hpp"
#include "export/trace/trace_writer.hpp"

namespace msprof::report {

namespace {

constexpr std::size_t kMaxDepth = 8;
constexpr std::size_t kMaxArrows = 2000;
constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::size_t kMaxArrowEnds = 200'000;  // kept until the visible ones are known

// Collects the events of a time range: the earliest slices, and the arrows between slices.
class WindowEvents : public TraceWriter {
 public:
  WindowEvents(std::int64_t begin_ns, std::int64_t end_ns) {
    picture_.begin_ns = begin_ns;
    picture_.end_ns = end_ns;
  }

  TimelinePicture picture() {
    keep_first(kMaxSlices);
    make_lanes();
    make_arrows();
    return std::move(picture_);
  }

 private:
  using LaneKey = std::pair<std::int64_t, std::int64_t>;
  struct Found {
    PictureSlice slice;
    LaneKey lane;
  };
  struct ArrowEnd {
    std::string group;  // category, and the text of the arrow if it has one
    std::uint64_t number = 0;
    LaneKey lane;
    std::int64_t time_ns = 0;
  };
  struct Process {
    std::string name;
    std::int64_t sort_index = 0;
  };

  void begin(const TraceEvent& event) override {
    using Kind = TraceEvent::Kind;
    const LaneKey lane{event.lane.pid, event.lane.tid};
    switch (event.kind) {
      case Kind::slice:
        add_slice(event, lane);
        break;
      case Kind::arrow:
        add_arrow_end(event, lane);
        break;
      case Kind::process_name:
        processes_[lane.first].name = valid_utf8(event.name.view());
        break;
      case Kind::process_sort_index:
        processes_[lane.first].sort_index = event.sort_index;
        break;
      case Kind::thread_name:
        threads_[lane] = valid_utf8(event.name.view());
        break;
      default:
        break;
    }
  }
  void add(std::span<const TraceArgument>) override {}

  void add_slice(const TraceEvent& event, LaneKey lane) {
    PictureSlice slice{std::max(event.start_ns, picture_.begin_ns),
                       std::min(event.end_ns(), picture_.end_ns), 0, 0};
    if (slice.end_ns < slice.begin_ns) return;
    slice.name = find_or_add_name(event.name.view());
    found_.push_back({slice, lane});
    if (found_.size() >= 2 * kMaxSlices) keep_first(kMaxSlices);
  }

  void add_arrow_end(const TraceEvent& event, LaneKey lane) {
    auto& ends = event.phase == 's' ? starts_ : ends_;
    if (ends.size() < kMaxArrowEnds) {
      std::string group(event.category.view());
      group += event.arrow_text.view();
      ends.push_back({std::move(group), event.arrow, lane, event.start_ns});
    } else {
      ++picture_.left_out_arrows;
    }
  }

  // Names are limited to the length that a page can show.
  std::size_t find_or_add_name(std::string_view text) {
    std::string name = valid_utf8(text.substr(0, kMaxNameBytes));
    const auto [at, is_new] = name_ids_.try_emplace(std::move(name), picture_.names.size());
    if (is_new) picture_.names.push_back(at->first);
    return at->second;
  }

  // Shortens the time range so that at most `most` slices start in it.
  void keep_first(std::size_t most) {
    if (found_.size() <= most) return;
    const auto first = found_.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(found_.begin(), first, found_.end(), [](const Found& a, const Found& b) {
      return a.slice.begin_ns < b.slice.begin_ns;
    });
    picture_.is_cut = true;
    picture_.end_ns = std::max(first->slice.begin_ns, saturating_add(picture_.begin_ns, 1));
    found_.erase(first, found_.end());
    keep_names();
  }

  // Removes names without slices.
  void keep_names() {
    std::vector<std::string> names;
    std::map<std::size_t, std::size_t> places;
    for (Found& one : found_) {
      const auto at = places.try_emplace(one.slice.name, names.size());
      if (at.second) names.push_back(std::move(picture_.names[one.slice.name]));
      one.slice.name = at.first->second;
    }
    picture_.names = std::move(names);
    name_ids_.clear();
    for (std::size_t i = 0; i < picture_.names.size(); ++i) name_ids_.emplace(picture_.names[i], i);
  }

  // Sorts processes by their sort index. Boards have none; there, calls precede devices.
  void make_lanes() {
    std::map<LaneKey, std::vector<PictureSlice>> slices;
    for (const Found& one : found_) slices[one.lane].push_back(one.slice);
    std::vector<LaneKey> keys;
    for (const auto& [key, of_lane] : slices) keys.push_back(key);
    if (keys.size() > kMaxLanes) {
      std::stable_sort(keys.begin(), keys.end(), [&](const LaneKey& a, const LaneKey& b) {
        return slices[a].size() > slices[b].size();
      });
      picture_.left_out_lanes = keys.size() - kMaxLanes;
      keys.resize(kMaxLanes);
    }
    std::sort(keys.begin(), keys.end(), [&](const LaneKey& a, const LaneKey& b) {
      const auto place = [&](const LaneKey& key) {
        const Process& process = processes_[key.first];
        return std::tuple(process.sort_index, !process.name.starts_with("ACL"), key);
      };
      return place(a) < place(b);
    });
    for (const LaneKey& key : keys) {
      lane_places_[key] = picture_.lanes.size();
      PictureLane lane;
      lane.process = processes_[key.first].name;
      const auto thread = threads_.find(key);
      lane.thread = thread == threads_.end() ? std::to_string(key.second) : thread->second;
      lane.slices = std::move(slices[key]);
      set_depths(lane);
      picture_.slices += lane.slices.size();
      picture_.lanes.push_back(std::move(lane));
    }
  }

  void set_depths(PictureLane& lane) const {
    std::stable_sort(lane.slices.begin(), lane.slices.end(),
                     [](const PictureSlice& a, const PictureSlice& b) {
                       return std::pair(a.begin_ns, b.end_ns) < std::pair(b.begin_ns, a.end_ns);
                     });
    std::vector<std::int64_t> open;
    for (PictureSlice& slice : lane.slices) {
      slice.end_ns = std::min(slice.end_ns, picture_.end_ns);
      while (!open.empty() && open.back() <= slice.begin_ns) open.pop_back();
      slice.depth = std::min(open.size(), kMaxDepth - 1);
      open.push_back(slice.end_ns);
      lane.depth = std::max(lane.depth, slice.depth + 1);
    }
  }

  void make_arrows() {
    std::map<std::pair<std::string, std::uint64_t>, const ArrowEnd*> begins;
    for (const ArrowEnd& start : starts_) begins[{start.group, start.number}] = &start;
    for (const ArrowEnd& end : ends_) {
      const auto begin = begins.find({end.group, end.number});
      if (begin == begins.end()) continue;
      const auto from = lane_places_.find(begin->second->lane);
      const auto to = lane_places_.find(end.lane);
      const auto is_shown = [&](std::int64_t time) {
        return time >= picture_.begin_ns && time <= picture_.end_ns;
      };
      if (from == lane_places_.end() || to == lane_places_.end() ||
          !is_shown(begin->second->time_ns) || !is_shown(end.time_ns)) {
        continue;
      }
      if (picture_.arrows.size() >= kMaxArrows) {
        ++picture_.left_out_arrows;
        continue;
      }
      picture_.arrows.push_back({from->second, begin->second->time_ns, to->second, end.time_ns});
    }
  }

  TimelinePicture picture_;
  std::vector<Found> found_;
  std::unordered_map<std::string, std::size_t> name_ids_;
  std::map<std::int64_t, Process> processes_;
  std::map<LaneKey, std::string> threads_;
  std::map<LaneKey, std::size_t> lane_places_;
  std::vector<ArrowEnd> starts_;
  std::vector<ArrowEnd> ends_;
};

// The drawing. Lengths are in px, but x is in percent of the width or in units of 1/kUnits of it.
constexpr int kAxisHeight = 20;
constexpr int kHeadHeight = 17;
constexpr int kRowHeight = 18;
constexpr int kBarHeight = 16;
constexpr int kGap = 6;
constexpr std::int64_t kUnits = 20'000;   // per total width
constexpr std::size_t kMaxTitled = 1500;  // slices with a tooltip
constexpr std::size_t kColours = 8;
constexpr int kTitleWidth = 48;
constexpr int kNameWidth = 72;
constexpr int kShortNameWidth = 24;
constexpr std::size_t kMaxLongNames = 4000;
constexpr double kLabelPercent = 3;       // minimum width of a slice in percent to show its name
constexpr double kWideLabelPercent = 10;  // the same on a phone
constexpr std::size_t kMaxDrawnArrows = 300;

// The colour depends on the name without digits, so that slices of one kind look alike.
std::size_t name_colour(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) {
    if (c >= '0' && c <= '9') continue;
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  return hash % kColours;
}

constexpr std::int64_t kNsPerUs = 1000;
constexpr std::int64_t kNsPerMs = 1'000'000;

// Returns 1, 2 or 5 times a power of ten, such that the axis has at most seven intervals.
std::int64_t tick_step_ns(std::int64_t span_ns) {
  constexpr std::int64_t kParts = 7;
  std::int64_t power = 1;
  while (true) {
    for (const std::int64_t step : {power, 2 * power, 5 * power}) {
      if (span_ns / step < kParts) return step;
    }
    if (power > INT64_MAX / 100) return span_ns;
    power *= 10;
  }
}

class Drawing {
 public:
  Drawing(const TimelinePicture& picture, const ReportWords& words)
      : picture_(picture), words_(words) {
    int y = kAxisHeight;
    for (const PictureLane& lane : picture.lanes) {
      tops_.push_back(y);
      y += kHeadHeight + static_cast<int>(lane.depth) * kRowHeight + kGap;
    }
    height_ = y;
    choose_titled();
  }

  std::string svg() const {
    std::string svg = fmt::format(
        "<svg id=\"timeline\" role=\"img\" aria-labelledby=\"timeline-title\" width=\"100%\" "
        "height=\"{}\">\n<title id=\"timeline-title\">{}</title>\n<g id=\"drawn\">{}",
        height_, html::escaped(words_.timeline_title), axis());
    for (std::size_t i = 0; i < picture_.lanes.size(); ++i) svg += lane_svg(i);
    return svg + arrows() + "</g></svg>\n";
  }

 private:
  double span_ns() const {
    return std::max<double>(
        static_cast<double>(picture_.end_ns) - static_cast<double>(picture_.begin_ns), 1);
  }
  double part(std::int64_t time_ns) const {
    const double after = static_cast<double>(saturating_subtract(time_ns, picture_.begin_ns));
    return std::clamp(after / span_ns(), 0.0, 1.0);
  }
  std::int64_t unit(std::int64_t time_ns) const {
    return static_cast<std::int64_t>(part(time_ns) * static_cast<double>(kUnits));
  }

  // Selects the longest slices for tooltips.
  void choose_titled() {
    std::vector<std::int64_t> lengths;
    for (const PictureLane& lane : picture_.lanes) {
      for (const PictureSlice& slice : lane.slices)
        lengths.push_back(saturating_subtract(slice.end_ns, slice.begin_ns));
    }
    if (lengths.size() <= kMaxTitled) return;
    const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(kMaxTitled);
    std::nth_element(lengths.begin(), last, lengths.end(), std::greater<>());
    longer_than_ns_ = *last;
  }
  bool has_title(const PictureSlice& slice) const {
    return saturating_subtract(slice.end_ns, slice.begin_ns) > longer_than_ns_;
  }

  // Returns ticks at round times; 0 is the start of the time range.
  std::string axis() const {
    const std::int64_t span =
        std::max<std::int64_t>(saturating_subtract(picture_.end_ns, picture_.begin_ns), 1);
    const std::int64_t step = tick_step_ns(span);
    const std::int64_t unit = step >= kNsPerMs ? kNsPerMs : step >= kNsPerUs ? kNsPerUs : 1;
    const std::string_view unit_name = unit == kNsPerMs ? "ms" : unit == kNsPerUs ? "us" : "ns";
    std::string text;
    for (std::int64_t time = 0; time <= span; time += step) {
      const double place = 100.0 * static_cast<double>(time) / static_cast<double>(span);
      const std::string_view anchor = time == 0 ? "start" : place > 96 ? "end" : "middle";
      text += fmt::format(
          "<line x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=\"{1}\" y2=\"{2}\"/>"
          "<text class=\"tick\" x=\"{0:.2f}%\" y=\"13\" text-anchor=\"{3}\">{4} {5}</text>",
          place, kAxisHeight - 4, height_, anchor, time / unit, unit_name);
      if (time > span - step) break;
    }
    return text;
  }

  std::string lane_svg(std::size_t place) const {
    const PictureLane& lane = picture_.lanes[place];
    const int height = static_cast<int>(lane.depth) * kRowHeight;
    std::string text = fmt::format(
        "<text class=\"lane\" x=\"2\" y=\"{}\">{} · {}</text>\n"
        "<svg class=\"bars\" x=\"0\" y=\"{}\" width=\"100%\" height=\"{}\" viewBox=\"0 0 {} {}\" "
        "preserveAspectRatio=\"none\">",
        tops_[place] + 13, html::escaped(lane.process, 60), html::escaped(lane.thread, 60),
        tops_[place] + kHeadHeight, height, kUnits, height);
    std::string paths[kColours];
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> drawn;  // by colour and depth
    std::string titled;
    std::string labels;
    for (const PictureSlice& slice : lane.slices) {
      const std::string& name = picture_.names[slice.name];
      const std::size_t colour = name_colour(name);
      const std::int64_t x = unit(slice.begin_ns);
      const std::int64_t width = std::max<std::int64_t>(unit(slice.end_ns) - x, 1);
      const int y = static_cast<int>(slice.depth) * kRowHeight;
      if (!has_title(slice)) {
        std::int64_t& drawn_to = drawn[{colour, slice.depth}];
        if (x + width <= drawn_to) continue;  // already covered by that colour
        drawn_to = x + width;
        paths[colour] += fmt::format("M{} {}h{}v{}h-{}z", x, y, width, kBarHeight, width);
        continue;
      }
      titled += fmt::format(
          "<rect class=\"c{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{} {} us</title>"
          "</rect>\n",
          colour, x, y, width, kBarHeight, html::escaped(name, kTitleWidth),
          us_from_ns(saturating_subtract(slice.end_ns, slice.begin_ns)));
      const double percent = 100 * (part(slice.end_ns) - part(slice.begin_ns));
      if (percent < kLabelPercent) continue;
      labels += fmt::format(
          "<svg{} x=\"{:.3f}%\" y=\"{}\" width=\"{:.3f}%\" height=\"{}\"><text class=\"on\" "
          "x=\"3\" y=\"12\">{}</text></svg>\n",
          percent < kWideLabelPercent ? " class=\"narrow\"" : "", 100 * part(slice.begin_ns),
          tops_[place] + kHeadHeight + y, percent, kBarHeight, html::escaped(name, kTitleWidth));
    }
    for (std::size_t i = 0; i < kColours; ++i) {
      if (!paths[i].empty()) text += fmt::format("<path class=\"c{}\" d=\"{}\"/>\n", i, paths[i]);
    }
    return text + titled + "</svg>\n" + labels;
  }

  std::string arrows() const {
    std::string text;
    const std::size_t drawn = std::min(picture_.arrows.size(), kMaxDrawnArrows);
    for (std::size_t i = 0; i < drawn; ++i) {
      const PictureArrow& arrow = picture_.arrows[i];
      text += fmt::format(
          "<line class=\"arrow\" x1=\"{0:.3f}%\" y1=\"{1}\" x2=\"{2:.3f}%\" y2=\"{3}\"/>"
          "<circle class=\"arrow\" cx=\"{2:.3f}%\" cy=\"{3}\" r=\"2.5\"/>",
          100 * part(arrow.from_ns), middle(arrow.from_lane), 100 * part(arrow.to_ns),
          middle(arrow.to_lane));
    }
    return text;
  }
  int middle(std::size_t lane) const { return tops_[lane] + kHeadHeight + kBarHeight / 2; }

  const TimelinePicture& picture_;
  const ReportWords& words_;
  std::vector<int> tops_;
  int height_ = 0;
  std::int64_t longer_than_ns_ = -1;
};

// Returns JSON for use in a page, without "<", which could end the script element.
std::string page_json(std::string_view text) {
  const std::string json = json_string(text);
  std::string safe;
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

// Times are ns since the start of the range; slice starts are relative to the previous slice.
std::string data_html(const TimelinePicture& picture) {
  const auto after = [&](std::int64_t time_ns) {
    return saturating_subtract(std::max(time_ns, picture.begin_ns), picture.begin_ns);
  };
  std::string text = fmt::format(
      "<script type=\"application/json\" id=\"timeline-data\">{{\"span\":{},\"names\":[",
      std::max<std::int64_t>(after(picture.end_ns), 1));
  const int width = picture.names.size() > kMaxLongNames ? kShortNameWidth : kNameWidth;
  for (std::size_t i = 0; i < picture.names.size(); ++i)
    text += (i == 0 ? "" : ",") + page_json(shorten(printable_on_page(picture.names[i]), width));
  text += "],\n\"colours\":[";
  for (std::size_t i = 0; i < picture.names.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ",", name_colour(picture.names[i]));
  text += "],\n\"lanes\":[";
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const PictureLane& lane = picture.lanes[i];
    text += fmt::format(
        "{}{{\"name\":{},\"depth\":{},\"slices\":[", i == 0 ? "" : ",\n",
        page_json(shorten(printable_on_page(lane.process + " · " + lane.thread), kNameWidth)),
        lane.depth);
    std::int64_t last = 0;
    for (std::size_t k = 0; k < lane.slices.size(); ++k) {
      const PictureSlice& slice = lane.slices[k];
      const std::int64_t begin = after(slice.begin_ns);
      text += fmt::format("{}{},{},{},{}", k == 0 ? "" : ",", begin - last,
                          after(slice.end_ns) - begin, slice.depth, slice.name);
      last = begin;
    }
    text += "]}";
  }
  text += "],\n\"arrows\":[";
  for (std::size_t i = 0; i < picture.arrows.size(); ++i) {
    const PictureArrow& arrow = picture.arrows[i];
    text += fmt::format("{}{},{},{},{}", i == 0 ? "" : ",", arrow.from_lane, after(arrow.from_ns),
                        arrow.to_lane, after(arrow.to_ns));
  }
  return text + "]}</script>\n";
}

}  // namespace

TimelinePicture timeline_picture(const Database& db, std::int64_t begin_ns, std::int64_t end_ns) {
  ExportScope scope;
  scope.range_begin_ns = begin_ns;
  scope.range_end_ns = std::max(begin_ns, end_ns);
  WindowEvents events(scope.range_begin_ns, scope.range_end_ns);
  write_timeline_events(db, scope, events);
  return events.picture();
}

std::string picture_html(const TimelinePicture& picture, const ReportWords& words) {
  return fmt::format(
             "<div id=\"zoom\" class=\"zoom\" role=\"group\" aria-label=\"{}\" data-in=\"{}\" "
             "data-out=\"{}\" data-left=\"{}\" data-right=\"{}\" data-whole=\"{}\" hidden></div>\n"
             "<div id=\"picture\">",
             words.timeline, words.zoom_in, words.zoom_out, words.left, words.right, words.whole) +
         Drawing(picture, words).svg() + "</div>\n" + data_html(picture);
}

}  // namespace msprof::report
