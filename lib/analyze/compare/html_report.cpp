#include "analyze/compare/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/compare/html_parts.hpp"
#include "analyze/compare/html_sections.hpp"
#include "analyze/compare/html_waterfall.hpp"
#include "analyze/compare/run_profile.hpp"

namespace msprof {

namespace {

using namespace html;

constexpr std::size_t kMaxWarnings = 50;

// Returns "mish → leaky_relu": models, or captures if the models are unknown.
std::string subject(const Comparison& comparison, std::string_view arrow) {
  std::string base = names(comparison.base.models, " + ");
  std::string now = names(comparison.now.models, " + ");
  if (base.empty() || now.empty()) {
    base = names(comparison.base.captures, ", ");
    now = names(comparison.now.captures, ", ");
  }
  return base == now ? base : base + std::string(arrow) + now;
}

std::string without_tags(std::string text) {
  for (const std::string_view tag : {"<bdi>", "</bdi>", "<i>", "</i>"}) {
    for (auto at = text.find(tag); at != std::string::npos; at = text.find(tag, at))
      text.erase(at, tag.size());
  }
  return text;
}

std::string verdict_text(const Comparison& comparison) {
  const Change& total = comparison.total;
  const std::string percent = fixed(std::abs(total.percent().value_or(NAN)), 1);
  switch (comparison.verdict) {
    case Verdict::faster:
      return fmt::format("NEW is {} % faster", percent);
    case Verdict::slower:
      return fmt::format("NEW is {} % slower", percent);
    case Verdict::noise:
      break;
  }
  return total.delta() == 0 ? "No change" : "No change beyond noise";
}

std::string header(const Comparison& comparison) {
  const Change& total = comparison.total;
  const TimeText times = time_text(total.base.value_or(0), total.now.value_or(0));
  return page_header("msprof compare", subject(comparison, " <span aria-label=\"to\">→</span> "),
                     verdict_name(comparison.verdict), verdict_text(comparison),
                     figure("base-total", "BASE, " + escaped(per_unit(comparison.unit)),
                            times.text(total.base.value_or(0))) +
                         figure("new-total", "NEW, " + escaped(per_unit(comparison.unit)),
                                times.text(total.now.value_or(0))) +
                         figure("change", "Change",
                                fmt::format("{} ({} %)", times.signed_text(total.delta()),
                                            signed_fixed(total.percent(), 1))) +
                         figure("noise", "Noise, up to", times.text(total.noise)));
}

std::string warnings(const Comparison& comparison) {
  std::string items;
  const std::size_t shown = std::min(comparison.warnings.size(), kMaxWarnings);
  for (std::size_t i = 0; i < shown; ++i)
    items += fmt::format("<li>{}</li>\n", escaped(comparison.warnings[i].shown(), kSentenceWidth));
  if (shown < comparison.warnings.size())
    items += fmt::format("<li>{} more</li>\n", comparison.warnings.size() - shown);
  return warnings_section("Warnings", items);
}

std::string side_row(std::string_view what, const std::string& base, const std::string& now) {
  const bool differs = base != now && what != "Captures" && what != "Run";
  return fmt::format("<tr{}><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
                     differs ? " class=\"differs\"" : "", what, base, now);
}

// Returns an empty text if all values are measured.
std::string source_row(const ComparedSide& base, const ComparedSide& now) {
  const auto text = [](const ComparedSide& side) {
    return std::string(side.unit_loads == UnitLoads::modelled ? kModelledNote : "all measured");
  };
  if (base.unit_loads == UnitLoads::measured && now.unit_loads == UnitLoads::measured) return "";
  return side_row("Source", text(base), text(now));
}

// Returns a table row: when, where and how the runs were made; empty if unknown.
std::string run_row(const ComparedSide& base, const ComparedSide& now) {
  const auto text = [](const ComparedSide& side) {
    std::string lines;
    for (const std::string& run : side.runs)
      lines += (lines.empty() ? "" : "<br>") + escaped(run, kSentenceWidth);
    return lines.empty() ? std::string("-") : lines;
  };
  if (base.runs.empty() && now.runs.empty()) return "";
  return side_row("Run", text(base), text(now));
}

// Returns an empty text unless the record layout of a side was inferred.
std::string layout_row(const ComparedSide& base, const ComparedSide& now) {
  const auto text = [](const ComparedSide& side) {
    return std::string(side.layout_origin == LayoutOrigin::inferred ? kInferredNote : "known");
  };
  if (base.layout_origin != LayoutOrigin::inferred && now.layout_origin != LayoutOrigin::inferred)
    return "";
  return side_row("Record layout", text(base), text(now));
}

std::string sides(const Comparison& comparison) {
  const ComparedSide& base = comparison.base;
  const ComparedSide& now = comparison.now;
  const auto text = [](const std::string& one) { return one.empty() ? "-" : name(one); };
  const auto list = [](const auto& all) { return all.empty() ? "-" : names(all, ", "); };
  const auto batch = [](const ComparedSide& side) {
    return side.batches.empty() ? "-" : batch_text(side.batches);
  };
  const auto pictures = [](const ComparedSide& side) {
    return side.pictures ? std::to_string(*side.pictures) : "-";
  };
  return "<section aria-labelledby=\"h-sides\">\n<h2 id=\"h-sides\">What was compared</h2>\n"
         "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"What was compared\">\n"
         "<table id=\"sides\"><thead><tr><td></td><th scope=\"col\">BASE</th>"
         "<th scope=\"col\">NEW</th></tr></thead>\n<tbody>\n" +
         side_row("Captures", list(base.captures), list(now.captures)) + run_row(base, now) +
         side_row("Models", list(base.models), list(now.models)) +
         side_row("Chip", text(base.chip), text(now.chip)) +
         side_row("Frequency, MHz", fixed(base.frequency_mhz, 0), fixed(now.frequency_mhz, 0)) +
         side_row("Batch", batch(base), batch(now)) +
         side_row("Devices", std::to_string(base.devices), std::to_string(now.devices)) +
         side_row("Executions", std::to_string(base.executions), std::to_string(now.executions)) +
         side_row("Pictures", pictures(base), pictures(now)) + source_row(base, now) +
         layout_row(base, now) + "</tbody></table></div>\n</section>\n";
}

template <typename Changes, typename Label>
std::string changes_waterfall(const Comparison& comparison, const Changes& changes, std::string id,
                              std::string what, Label&& label) {
  const bool differs = std::any_of(changes.begin(), changes.end(),
                                   [](const auto& change) { return change.time.delta() != 0; });
  if (!differs) return "";
  Waterfall waterfall;
  waterfall.id = std::move(id);
  waterfall.title = fmt::format("From BASE to NEW by {}, {}; the scale does not start at zero",
                                what, escaped(per_unit(comparison.unit)));
  waterfall.what = std::move(what);
  waterfall.base_us = comparison.total.base.value_or(0);
  waterfall.new_us = comparison.total.now.value_or(0);
  for (const auto& change : changes)
    waterfall.bars.push_back({label(change), change.time.delta(), change.time.is_noise()});
  return waterfall_html(waterfall);
}

std::string pictures(const Comparison& comparison) {
  const Change& total = comparison.total;
  return "<section aria-labelledby=\"h-picture\">\n<h2 id=\"h-picture\">What changed</h2>\n" +
         totals_html(total.base.value_or(0), total.now.value_or(0), total.noise,
                     comparison.verdict == Verdict::noise) +
         "<p class=\"legend\" aria-hidden=\"true\"><span class=\"faster\">faster</span> "
         "<span class=\"slower\">slower</span> <span class=\"noise\">within noise</span></p>\n" +
         changes_waterfall(comparison, comparison.ops, "by-op", "operators",
                           [](const OpChange& op) { return op_name(op); }) +
         changes_waterfall(comparison, comparison.types, "by-type", "types",
                           [](const TypeChange& type) { return name(type.type); }) +
         "</section>\n";
}

}  // namespace

std::string html_report(const Comparison& comparison) {
  std::string page = page_head(without_tags(subject(comparison, " → ")) + " - msprof compare",
                               {kStyle}, {kScript}) +
                     "<body>\n" + header(comparison) + "<main>\n";
  page += warnings(comparison);
  page += pictures(comparison);
  page += noise_paragraph(comparison.noise_basis);
  page += sides(comparison);
  page += controls();
  page += ops_section(comparison);
  page += types_section(comparison);
  page += ratios_section(comparison);
  page += calls_section(comparison);
  page += ranges_section(comparison);
  page += counters_section(comparison);
  return page + page_end({kScript});
}

}  // namespace msprof
