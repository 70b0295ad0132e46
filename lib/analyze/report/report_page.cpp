#include "analyze/report/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "analyze/advise/advice.hpp"
#include "analyze/advise/rule_file.hpp"
#include "analyze/capture_info.hpp"
#include "analyze/capture_list.hpp"
#include "analyze/compare/html_parts.hpp"
#include "analyze/compare/html_table.hpp"
#include "analyze/overview.hpp"
#include "analyze/report/finding_words.hpp"
#include "analyze/report/lengths_picture.hpp"
#include "analyze/report/operators.hpp"
#include "analyze/report/report_assets.hpp"
#include "analyze/report/report_words.hpp"
#include "analyze/report/run_section.hpp"
#include "analyze/report/timeline_picture.hpp"
#include "analyze/report/window.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "query/query_db.hpp"

namespace msprof {

namespace {

using namespace html;
using report::ReportWords;

constexpr std::size_t kPageFindings = 50;
constexpr std::size_t kPageEvidence = 5;
constexpr std::size_t kPageCounters = 300;
constexpr std::size_t kPageBoundRows = 50;

template <typename... Values>
std::string filled(std::string_view sentence, const Values&... values) {
  return fmt::format(fmt::runtime(sentence), values...);
}

std::string head_html(const ReportHead& head, const ReportWords& words) {
  return page_head(escaped(head.capture) + " - msprof report", {kStyle, report::kPageStyle},
                   {kScript, report::kZoomScript},
                   fmt::format("lang=\"{}\" data-dark=\"{}\" data-light=\"{}\" data-rows=\"{}\"",
                               words.language, words.dark, words.light, words.all_rows));
}

std::string us_text(std::int64_t ns) {
  return TimeText(static_cast<double>(ns) / 1000).text(static_cast<double>(ns) / 1000);
}

class Page {
 public:
  Page(const TraceDb& store, const ReportHead& head, Language language)
      : store_(store),
        db_(store.database()),
        head_(head),
        language_(language),
        words_(report::report_words(language)),
        info_(capture_info(db_)),
        is_modelled_(info_.unit_loads == UnitLoads::modelled),
        steps_(steps_with_tasks(db_)),
        step_(steps_.empty() ? nullptr : &steps_[slowest(steps_)]),
        window_(report::choose_window(db_, step_, words_)),
        operators_(report::read_operators(db_, step_)),
        advice_(advise(store, builtin_rules())) {}

  std::string html() const {
    const std::string parts = report::run_section(store_, head_, info_, steps_, words_) +
                              timeline() + hottest() + memory() + overlap() + counters() + advice();
    return head_html(head_, words_) + "<body>\n" + header() + contents(parts) + "<main>\n" +
           findings() + parts + page_end({kScript, report::kZoomScript});
  }

 private:
  std::string header() const {
    std::string title;
    for (const ModelInfo& model : info_.models) {
      if (!model.name.empty() && title.find(name(model.name)) == std::string::npos &&
          title.size() < 400) {
        title += (title.empty() ? "" : ", ") + name(model.name);
      }
    }
    if (step_ != nullptr) title = name(*step_->model_name);
    if (title.empty()) title = name(head_.capture);
    std::string figures;
    if (window_ && window_->lengths) {
      const report::Lengths& lengths = *window_->lengths;
      figures += figure("count", step_ != nullptr ? words_.executions : words_.iterations,
                        with_thousands(lengths.count));
      figures += figure("median", words_.median, us_text(lengths.median_ns));
      figures += figure("shortest", words_.shortest, us_text(lengths.shortest_ns));
      figures += figure("longest", words_.longest, us_text(lengths.longest_ns));
    }
    figures += advice_figure();
    return fmt::format(
        "<header>\n<p class=\"brand\">msprof report</p>\n<h1>{}</h1>\n{}"
        "<p id=\"verdict\" class=\"{}\"><strong>{}: {}</strong>{}</p>\n{}"
        "<dl class=\"figures\">\n{}</dl>\n"
        "<button type=\"button\" id=\"theme\" hidden></button>\n</header>\n",
        title, run_line_html(), verdict_class(), words_.verdict, escaped(verdict(), kSentenceWidth),
        head_.is_partial ? fmt::format(": {}", words_.partial_means) : "",
        modelled_note() + inferred_note(), figures);
  }

  std::string run_line_html() const {
    const std::string line = head_.run ? run_line(*head_.run) : "";
    return line.empty() ? "" : fmt::format("<p class=\"run-line\">{}</p>\n", name(line));
  }

  bool is_complete() const { return head_.verdict == "complete"; }

  std::string_view verdict() const {
    if (head_.is_partial) return words_.partial;
    if (is_complete()) return words_.complete;
    return words_.without.empty() ? std::string_view(head_.verdict) : words_.without;
  }
  std::string_view verdict_class() const {
    if (head_.is_partial) return "partial";
    return is_complete() ? "complete" : "without";
  }

  // Returns the number of findings of each severity.
  std::string advice_figure() const {
    std::string text;
    for (const auto severity : {RuleSeverity::problem, RuleSeverity::hint, RuleSeverity::info}) {
      const auto count = std::count_if(
          advice_.findings.begin(), advice_.findings.end(),
          [&](const AdviceFinding& finding) { return finding.rule->severity == severity; });
      if (count == 0) continue;
      text += fmt::format("{}<span class=\"{}\">{} {}</span>", text.empty() ? "" : " · ",
                          severity_name(severity),
                          words_.severity[static_cast<std::size_t>(severity)], count);
    }
    return text.empty() ? "" : figure("findings", words_.advice, text);
  }

  // Returns links to the sections, generated from their headings.
  std::string contents(std::string_view parts) const {
    constexpr std::string_view kBefore = "<h2 id=\"";
    std::string links;
    for (auto at = parts.find(kBefore); at != parts.npos; at = parts.find(kBefore, at)) {
      at += kBefore.size();
      const auto id_end = parts.find('"', at);
      const auto text_end = parts.find('<', id_end);
      if (text_end == parts.npos) break;
      links += fmt::format("<a href=\"#{}\">{}</a>\n", parts.substr(at, id_end - at),
                           parts.substr(id_end + 2, text_end - id_end - 2));
      at = text_end;
    }
    return fmt::format("<nav aria-label=\"{}\">\n{}</nav>\n", words_.contents, links);
  }

  std::string modelled_note() const {
    if (!is_modelled_) return "";
    return fmt::format("<p class=\"modelled-note\">{}</p>\n", words_.modelled);
  }

  std::string inferred_note() const {
    if (info_.layout_origin != LayoutOrigin::inferred) return "";
    return fmt::format("<p class=\"modelled-note\" id=\"inferred\">{}</p>\n", words_.inferred);
  }

  // Returns the problems reported by the import.
  std::string findings() const {
    Statement read = db_.prepare(
        "SELECT severity, kind, file, reason, count, id FROM import_log"
        " WHERE severity IN ('partial', 'without') ORDER BY severity, rowid");
    std::string items;
    std::size_t count = 0;
    while (read.step()) {
      if (++count > kPageFindings) continue;
      const std::string where =
          fmt::format("{}{}{}", read.text(1),
                      read.text(1).empty() || read.text(2).empty() ? "" : " ", read.text(2));
      const std::string reason = fmt::format(
          "{}{}", read.text(3), read.integer(4) > 1 ? fmt::format(" (x {})", read.integer(4)) : "");
      const std::string_view chinese =
          language_ == Language::zh ? report::chinese_finding(read.text(5)) : std::string_view();
      items += fmt::format("<li>{}{}{}</li>\n", where.empty() ? "" : name(where),
                           where.empty() ? "" : ": ",
                           chinese.empty() ? escaped(reason, kSentenceWidth)
                                           : fmt::format("{} <span lang=\"en\">({})</span>",
                                                         chinese, escaped(reason, kSentenceWidth)));
    }
    if (count > kPageFindings)
      items += fmt::format("<li>{}</li>\n", filled(words_.more, count - kPageFindings));
    return warnings_section(words_.verdict, items);
  }

  std::string timeline() const {
    if (!window_) return section("timeline", words_.timeline, paragraph(words_.no_timeline));
    auto picture = report::timeline_picture(db_, window_->begin_ns, window_->end_ns);
    if (picture.is_cut && window_->late_begin_ns > window_->begin_ns)
      picture = report::timeline_picture(db_, window_->late_begin_ns, window_->end_ns);
    if (picture.slices == 0)
      return section("timeline", words_.timeline, paragraph(words_.no_timeline));
    std::string content;
    if (window_->lengths) {
      content = report::lengths_html(
          *window_->lengths, step_ != nullptr ? words_.lengths : words_.lengths_of_iterations,
          words_);
    }
    content += fmt::format("<p id=\"window\">{}</p>\n", escaped(window_->what, kSentenceWidth));
    content += report::picture_html(picture, words_);
    content += fmt::format("<p class=\"note\" id=\"under\" hidden>{}</p>\n", words_.zoom_hint);
    content +=
        note(filled(words_.window_times, us_from_ns(picture.begin_ns), us_from_ns(picture.end_ns)));
    if (picture.is_cut) content += note(filled(words_.cut, picture.slices));
    if (picture.left_out_lanes > 0)
      content += note(filled(words_.lanes_out, picture.left_out_lanes));
    if (picture.left_out_arrows > 0)
      content += note(filled(words_.arrows_out, picture.left_out_arrows));
    return section("timeline", words_.timeline, content);
  }

  static std::string paragraph(std::string_view text) {
    return fmt::format("<p>{}</p>\n", escaped(text, kSentenceWidth));
  }
  static std::string note(std::string_view text) {
    return fmt::format("<p class=\"note\">{}</p>\n", escaped(text, kSentenceWidth));
  }

  // Allows line breaks in long column titles.
  static std::string broken_at_underscores(const std::string& html) {
    std::string result;
    for (const char c : html) {
      result += c;
      if (c == '_') result += "<wbr>";
    }
    return result;
  }

  static void put_cell(HtmlTable& out, const report::OperatorCell& cell, double full) {
    if (cell.text.empty()) return out.missing();
    if (!cell.is_number) return out.markup(escaped(cell.text, kCellWidth));
    const auto value = full > 0 ? report::parse_number(cell.text) : std::nullopt;
    if (!value) return out.number(escaped(cell.text));
    out.bar(escaped(cell.text), *value / full);
  }

  // Returns a table of the operators for which `takes` is true.
  template <typename Takes>
  std::string table(std::string id, std::string_view caption, std::size_t most,
                    Takes&& takes) const {
    std::vector<std::string> titles;
    std::vector<CellKind> kinds;
    for (std::size_t i = 0; i < operators_.columns.size(); ++i) {
      const std::string& column = operators_.columns[i];
      const auto& modelled = operators_.modelled_columns;
      const bool is_modelled =
          std::find(modelled.begin(), modelled.end(), column) != modelled.end();
      titles.push_back(broken_at_underscores(escaped(column)) + (is_modelled ? " *" : ""));
      const bool is_number =
          std::any_of(operators_.rows.begin(), operators_.rows.end(),
                      [i](const auto& one) { return i < one.size() && one[i].is_number; });
      kinds.push_back(is_number ? CellKind::number : CellKind::text);
    }
    HtmlTable out(std::move(id),
                  std::string(caption) + (operators_.modelled_columns.empty()
                                              ? ""
                                              : " (*: " + std::string(words_.modelled) + ")"),
                  std::string(words_.table_rest));
    out.set_kinds(kinds);
    out.begin(titles);
    std::size_t total = 0;
    for (std::size_t i = 0; i < operators_.rows.size(); ++i) {
      if (!takes(operators_.costs[i])) continue;
      if (++total > most || out.is_full()) continue;
      out.begin_row();
      for (std::size_t k = 0; k < operators_.rows[i].size(); ++k)
        put_cell(out, operators_.rows[i][k], k < operators_.full.size() ? operators_.full[k] : 0);
      out.end_row();
    }
    return out.html(total);
  }

  std::string hottest() const {
    const std::string content =
        operators_.rows.empty()
            ? paragraph(words_.no_operators)
            : table("ops", words_.hottest_caption, SIZE_MAX, [](const auto&) { return true; });
    return section("ops", operators_.are_layers ? words_.hottest_layers : words_.hottest, content);
  }

  std::string memory() const {
    if (!operators_.knows_memory_bound) return "";
    const auto is_bound = [](const report::Operators::Cost& cost) {
      return cost.memory_bound && *cost.memory_bound > 1;
    };
    std::size_t count = 0;
    double time_us = 0;
    for (const auto& cost : operators_.costs) {
      if (!is_bound(cost)) continue;
      ++count;
      time_us += cost.time_us;
    }
    if (count == 0)
      return section("memory", words_.memory,
                     paragraph(filled(words_.memory_none, noun())) + modelled_note());
    const double share = operators_.total_us > 0 ? 100 * time_us / operators_.total_us : 0;
    return section("memory", words_.memory,
                   paragraph(filled(words_.memory_some, count, operators_.costs.size(), noun(),
                                    html::fixed(share, 1))) +
                       table("bound", words_.memory_caption, kPageBoundRows, is_bound));
  }

  std::string_view noun() const { return operators_.are_layers ? words_.layers : words_.operators; }

  // Returns a table with the result of SQL over the views.
  std::string sql_table(std::string id, std::string_view caption, std::string_view rest,
                        std::string_view sql, std::size_t most,
                        std::initializer_list<std::string_view> names,
                        std::size_t text_columns) const {
    const std::vector<std::string> titles(names.begin(), names.end());
    const QueryDb query(store_);
    Statement read = query.prepare(sql);
    HtmlTable out(std::move(id), std::string(caption), std::string(rest));
    std::vector<CellKind> kinds(titles.size(), CellKind::number);
    std::fill_n(kinds.begin(), text_columns, CellKind::text);
    out.set_kinds(kinds);
    out.begin(titles);
    std::size_t total = 0;
    while (read.step()) {
      if (++total > most) continue;
      out.begin_row();
      for (std::size_t i = 0; i < titles.size(); ++i) {
        const int column = static_cast<int>(i);
        if (read.is_null(column)) {
          out.missing();
        } else if (i < text_columns) {
          out.markup(escaped(read.text(column), kCellWidth));
        } else {
          out.number(read.is_integer(column) ? std::to_string(read.integer(column))
                                             : html::fixed(read.real(column)));
        }
      }
      out.end_row();
    }
    return total == 0 ? "" : out.html(total);
  }

  std::string overlap() const {
    const std::string content = sql_table(
        "overlap-table", words_.overlap_caption, words_.counters_rest,
        "SELECT CAST(device_id AS TEXT), kind, count(*), sum(duration_us),"
        " 100.0 * sum(duration_us) / (SELECT sum(o.duration_us) FROM v_overlap AS o"
        " WHERE o.device_id = v_overlap.device_id AND o.kind != 'communication')"
        " FROM v_overlap GROUP BY device_id, kind ORDER BY device_id, kind",
        kPageCounters, {words_.device, words_.kind, words_.count, words_.time_us, words_.share}, 2);
    return content.empty() ? "" : section("overlap", words_.overlap, content);
  }

  std::string counters() const {
    const std::string content = sql_table(
        "counter-table", words_.counters_caption, words_.counters_rest,
        "SELECT kind || ifnull(' ' || subject, ''), counter, unit, CAST(device_id AS TEXT),"
        " samples, mean, min, max FROM v_counter_tracks WHERE samples > 0"
        " ORDER BY kind, device_id, subject, counter, track_id",
        kPageCounters,
        {words_.counter, words_.kind, words_.unit, words_.device, words_.samples, words_.mean,
         words_.least, words_.most},
        4);
    return content.empty() ? "" : section("counters", words_.counters, content);
  }

  std::string advice() const {
    std::string content;
    for (const AdviceFinding& finding : advice_.findings) content += finding_html(finding);
    if (advice_.findings.empty()) content += paragraph(words_.nothing_found);
    content += note(filled(words_.checked, advice_.checked(), advice_.without_data.size()));
    return section("advice", words_.advice, content);
  }

  std::string finding_html(const AdviceFinding& finding) const {
    std::string text = fmt::format(
        "<article class=\"finding {}\"><h3><span class=\"severity\">{}</span> {}</h3>\n<p>{}</p>\n",
        severity_name(finding.rule->severity),
        words_.severity[static_cast<std::size_t>(finding.rule->severity)],
        escaped(finding.title.in(language_), kSentenceWidth),
        escaped(finding.advice.in(language_), kSentenceWidth));
    const std::size_t shown = std::min(kPageEvidence, finding.evidence.size());
    if (shown > 0) text += "<ul>\n";
    for (std::size_t i = 0; i < shown; ++i) text += evidence_html(finding.evidence[i]);
    if (finding.evidence_count > shown)
      text += fmt::format("<li>{}</li>\n",
                          filled(words_.evidence_more, finding.evidence_count - shown));
    return text + (shown > 0 ? "</ul>\n" : "") + "</article>\n";
  }

  std::string evidence_html(const Evidence& evidence) const {
    std::string text = name(evidence.name);
    if (evidence.count) text += ", " + filled(words_.times, *evidence.count);
    if (evidence.time_us) text += fmt::format(", {} us", html::fixed(*evidence.time_us));
    if (evidence.share_percent)
      text += fmt::format(", {} %", html::fixed(*evidence.share_percent, 1));
    for (const EvidenceValue& value : evidence.values) {
      text += fmt::format(", {} {}", escaped(value.name),
                          value.number ? number_text(*value.number) : escaped(value.text));
    }
    return fmt::format("<li>{}</li>\n", text);
  }

  static constexpr int kCellWidth = 72;

  const TraceDb& store_;
  const Database& db_;
  const ReportHead& head_;
  Language language_;
  const ReportWords& words_;
  CaptureInfo info_;
  bool is_modelled_;
  std::vector<StepInfo> steps_;
  const StepInfo* step_;
  std::optional<report::Window> window_;
  report::Operators operators_;
  Advice advice_;
};

}  // namespace

std::string report_page(const TraceDb& store, const ReportHead& head, Language language) {
  return Page(store, head, language).html();
}

}  // namespace msprof
