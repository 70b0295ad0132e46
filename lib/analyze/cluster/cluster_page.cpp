#include "analyze/cluster/cluster_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analyze/compare/html_table.hpp"
#include "base/atomic_file.hpp"
#include "base/json_text.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "cluster/collectives.hpp"
#include "cluster/products/step_times.hpp"
#include "store/row_cursor.hpp"

namespace msprof {

namespace {

using cluster::ClusterView;
using html::escaped;

constexpr std::size_t kPageRows = 30;  // per table
constexpr std::int64_t kNsPerPageUs = 1'000;

// Groups consecutive indices into at most `most` bins of equal size.
class Bins {
 public:
  Bins(std::size_t count, std::size_t most)
      : size_(std::max<std::size_t>((count + most - 1) / std::max<std::size_t>(most, 1), 1)),
        count_((count + size_ - 1) / size_) {}
  std::size_t of(std::size_t place) const { return place / size_; }
  std::size_t size() const { return size_; }
  std::size_t count() const { return count_; }

 private:
  std::size_t size_;
  std::size_t count_;
};

struct MapCell {
  std::int64_t rank = kNull;  // for a bin with several ranks: the one with the longest step
  std::int64_t begin_ns = 0;  // in the clock of the reference host
  std::int64_t duration_ns = 0;
  std::int64_t computing_ns = 0;
  std::int64_t not_overlapped_ns = 0;
  std::int64_t free_ns = 0;
};

// Grid of ranks by steps.
class HeatMap {
 public:
  HeatMap(const ClusterView& view, const ClusterSummary& summary)
      : view_(view),
        summary_(summary),
        columns_(summary.steps.size(), kMaxMapColumns),
        rows_(view.members().size(),
              std::min(kMaxMapRows, kMaxMapCells / std::max<std::size_t>(columns_.count(), 1))) {
    for (const auto& member : view.members()) members_.push_back(member.id);
    std::sort(members_.begin(), members_.end(), [&view](std::int64_t a, std::int64_t b) {
      return view.product_rank(a) < view.product_rank(b);
    });
    places_.resize(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i)
      places_[static_cast<std::size_t>(members_[i] - 1)] = i;
    cells_.resize(rows_.count() * columns_.count());
    first_begin_.resize(columns_.count(), kNull);
    fill();
  }

  const Bins& rows() const { return rows_; }
  const Bins& columns() const { return columns_; }

  // Returns {"steps": […], "ranks": […], "hosts": […], "cells": [[…]]}: one row per rank, six
  // numbers per cell: rank, start relative to the earliest rank of the step, duration, computing,
  // communication not overlapped, and free, in us; null if the rank has no such step.
  std::string json() const {
    std::string out = "{\"steps\":[";
    for (std::size_t i = 0; i < columns_.count(); ++i) {
      if (i > 0) out += ',';
      append_json_string(out, step_label(i));
    }
    out += "],\"ranks\":[";
    for (std::size_t i = 0; i < rows_.count(); ++i) {
      if (i > 0) out += ',';
      append_json_string(out, rank_label(i));
    }
    out += "],\"hosts\":[";
    for (std::size_t i = 0; i < rows_.count(); ++i) {
      if (i > 0) out += ',';
      append_json_string(out, printable(view_.host_name(view_.member(members_[i * rows_.size()]))));
    }
    out += "],\"cells\":[";
    for (std::size_t row = 0; row < rows_.count(); ++row) {
      out += row == 0 ? "\n[" : ",\n[";
      for (std::size_t column = 0; column < columns_.count(); ++column) {
        if (column > 0) out += ',';
        append_cell(out, cells_[row * columns_.count() + column], first_begin_[column]);
      }
      out += ']';
    }
    out += "]}";
    return strip_page_tags(std::move(out));
  }

 private:
  // "<" could end the script element.
  static std::string strip_page_tags(std::string json) {
    for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at))
      json.replace(at, 1, "\\u003c");
    return json;
  }

  static void append_cell(std::string& out, const MapCell& cell, std::int64_t first_ns) {
    if (cell.rank == kNull) {
      out += "null";
      return;
    }
    const auto us = [](std::int64_t ns) {
      return static_cast<std::int64_t>(divide_rounded(ns, kNsPerPageUs));
    };
    const std::int64_t begin = cell.begin_ns == kNull || first_ns == kNull
                                   ? 0
                                   : saturating_subtract(cell.begin_ns, first_ns);
    fmt::format_to(std::back_inserter(out), "[{},{},{},{},{},{}]", cell.rank, us(begin),
                   us(cell.duration_ns), us(cell.computing_ns), us(cell.not_overlapped_ns),
                   us(cell.free_ns));
  }

  std::string step_label(std::size_t bin) const {
    const auto name = [this](std::size_t place) {
      const std::int64_t step = summary_.steps[place].step;
      return step == kNull ? std::string("whole run") : std::to_string(step);
    };
    const std::size_t first = bin * columns_.size();
    const std::size_t last = std::min(first + columns_.size(), summary_.steps.size()) - 1;
    return first == last ? name(first) : name(first) + "–" + name(last);
  }
  std::string rank_label(std::size_t bin) const {
    const std::size_t first = bin * rows_.size();
    const std::size_t last = std::min(first + rows_.size(), members_.size()) - 1;
    const auto rank = [this](std::size_t place) {
      return std::to_string(view_.product_rank(members_[place]));
    };
    return first == last ? rank(first) : rank(first) + "–" + rank(last);
  }

  void fill() {
    if (cells_.empty()) return;
    RowCursor<cluster::RankStepRow> rows(view_.part().db());
    std::size_t step = 0;
    while (rows.next()) {
      if (summary_.has_steps && rows->step == kNull) continue;
      while (step < summary_.steps.size() && summary_.steps[step].step != rows->step) ++step;
      if (step == summary_.steps.size()) throw view_.part().damaged("its steps are not in order");
      const std::size_t column = columns_.of(step);
      const std::size_t place =
          places_[static_cast<std::size_t>(view_.member(rows->member_id).id - 1)];
      MapCell& cell = cells_[rows_.of(place) * columns_.count() + column];
      if (cell.rank != kNull && cell.duration_ns >= rows->duration_ns) continue;
      cell = {view_.product_rank(rows->member_id),
              view_.aligned(rows->begin_ns, rows->member_id),
              rows->duration_ns,
              rows->computing_ns,
              rows->not_overlapped_ns,
              rows->free_ns};
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      std::int64_t& first = first_begin_[i % columns_.count()];
      if (cells_[i].rank != kNull) first = cluster::earlier(first, cells_[i].begin_ns);
    }
  }

  const ClusterView& view_;
  const ClusterSummary& summary_;
  Bins columns_;
  Bins rows_;
  std::vector<std::int64_t> members_;  // sorted by rank
  std::vector<std::size_t> places_;    // index in members_, by member id - 1
  std::vector<MapCell> cells_;         // row-major
  std::vector<std::int64_t> first_begin_;
};

std::string header(const ClusterSummary& summary) {
  const StepSum& mean = summary.mean;
  const auto percent = [&mean](int128 StepSum::*part) {
    return fmt::format("{:.1f} %", mean.percent(part));
  };
  return html::page_header(
      "msprof cluster", escaped(cluster_line(summary)), "",
      lacking_lines(summary).empty() ? "All ranks are present and complete" : "Data is missing",
      html::figure(summary.has_steps ? "Mean step" : "Mean run",
                   fmt::format("{:.3f} ms", mean.mean_ms(&StepSum::duration_ns))) +
          html::figure("Computing", percent(&StepSum::computing_ns)) +
          html::figure("Communication not overlapped", percent(&StepSum::not_overlapped_ns)) +
          html::figure("Free", percent(&StepSum::free_ns)));
}

std::string lacking_section(const ClusterSummary& summary) {
  std::string items;
  for (const std::string& line : lacking_lines(summary))
    items += fmt::format("<li>{}</li>\n", escaped(line, html::kSentenceWidth));
  return html::warnings_section("Missing data", items);
}

std::string findings_section(const std::vector<ClusterFinding>* findings) {
  if (findings == nullptr) return "";
  std::string items;
  for (const ClusterFinding& finding : *findings) {
    items += fmt::format("<li class=\"{}\"><strong>{}</strong>\n", finding.severity,
                         escaped(finding.what, html::kSentenceWidth));
    for (const std::string& line : finding.evidence)
      items += fmt::format("<p class=\"note\">{}</p>\n", escaped(line, html::kSentenceWidth));
    if (!finding.remedy.empty())
      items += fmt::format("<p>{}</p>\n", escaped(finding.remedy, html::kSentenceWidth));
    items += "</li>\n";
  }
  return "<section aria-labelledby=\"h-findings\">\n<h2 id=\"h-findings\">Findings</h2>\n" +
         (items.empty()
              ? std::string("<p>No slow rank, host or link was found, and steps do not grow.</p>\n")
              : "<ol id=\"findings\">\n" + items + "</ol>\n") +
         "</section>\n";
}

std::string map_section(const HeatMap& map) {
  std::string note;
  if (map.rows().size() > 1 || map.columns().size() > 1) {
    note = fmt::format(
        "<p class=\"note\" id=\"binned\">A cell shows the longest step of {} {} in {} {}.</p>\n",
        map.rows().size(), map.rows().size() == 1 ? "rank" : "neighbouring ranks",
        map.columns().size(), map.columns().size() == 1 ? "step" : "steps");
  }
  return "<section aria-labelledby=\"h-map\">\n<h2 id=\"h-map\">Ranks and "
         "steps</h2>\n<noscript><p>The pictures need JavaScript; the tables below do "
         "not.</p></noscript>\n<div id=\"pictures\" hidden>\n" +
         note +
         "<div class=\"choices\" role=\"group\" aria-label=\"Colour of the map\" id=\"choices\">"
         "</div>\n<div class=\"map\" tabindex=\"0\" role=\"application\" id=\"map-box\" "
         "aria-label=\"Map of ranks and steps: arrow keys choose a cell\">"
         "<canvas id=\"map\"></canvas></div>\n<p id=\"scale\"></p>\n"
         "<p id=\"cell\" aria-live=\"polite\"></p>\n"
         "<h2>The ranks in step <span id=\"step-name\"></span></h2>\n"
         "<p class=\"legend\"><span class=\"computing\">computing</span> <span class=\"waiting\">"
         "communication not overlapped</span> <span class=\"free\">free</span></p>\n"
         "<div class=\"map\" tabindex=\"0\" role=\"region\" aria-label=\"The ranks in the chosen "
         "step\"><canvas id=\"waterfall\"></canvas></div>\n</div>\n</section>\n";
}

std::string table_section(const ClusterTable& table) {
  const auto& rows = table.rows.rows;
  std::vector<std::string> titles;
  std::vector<CellKind> kinds;
  for (std::size_t i = 0; i < table.rows.columns.size(); ++i) {
    titles.push_back(escaped(table.rows.columns[i]));
    const bool is_number = i > 0 && !rows.empty() && i < rows[0].size() && rows[0][i].is_number();
    kinds.push_back(is_number ? CellKind::number : CellKind::text);
  }
  const std::string title = escaped(table.title);
  html::HtmlTable out(std::string(table.name), title, "");
  out.hide_caption();
  out.set_kinds(std::move(kinds));
  out.begin(titles);
  for (const auto& row : rows) {
    out.begin_row();
    for (const Cell& one : row.cells()) {
      const std::string text = cell_text(one);
      out.cell(one.is_number() ? text : html::name(text), one.is_number() ? "n" : "");
    }
    out.end_row();
  }
  return html::section(table.name, title, out.html(rows.size()));
}

}  // namespace

std::string cluster_page(const ClusterView& view, const ClusterSummary& summary,
                         const std::vector<ClusterFinding>* findings) {
  const HeatMap map(view, summary);
  std::string page = html::page_head(escaped(cluster_line(summary)) + " - msprof cluster",
                                     {html::kStyle, kClusterStyle}, {kClusterScript}) +
                     "<body>\n" + header(summary) + "<main>\n";
  page += lacking_section(summary);
  page += findings_section(findings);
  if (!summary.steps.empty()) page += map_section(map);
  for (const ClusterTable& table : cluster_tables(view, summary, kPageRows))
    page += table_section(table);
  return page + html::page_end({kClusterScript},
                               fmt::format("<script type=\"application/json\" id=\"data\">{}"
                                           "</script>\n",
                                           map.json()));
}

cluster::ClusterProducts write_cluster_outputs(const cluster::Part& part,
                                               const std::filesystem::path& folder,
                                               cluster::ClusterProductOptions options) {
  const cluster::HostClocks clocks = cluster::host_clocks(part);
  options.shifts = clock_shifts(clocks);
  cluster::ClusterProducts products = cluster::write_vendor_files(part, folder, options);
  if (options.shifts.size() < clocks.hosts().size()) {
    products.notes.push_back(
        fmt::format("the clocks of {} of {} hosts could not be aligned: their collectives have "
                    "unaligned start times",
                    clocks.hosts().size() - options.shifts.size(), clocks.hosts().size()));
  }
  const ClusterView view(part, options.shifts);
  const std::vector<ClusterFinding> findings = cluster_findings(part);
  write_text_file(folder / cluster::kClusterPage,
                  cluster_page(view, cluster_summary(view), &findings));
  products.files.push_back(folder / cluster::kClusterPage);
  return products;
}

}  // namespace msprof
