#include "analyze/report/lengths_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "analyze/compare/html_parts.hpp"

namespace msprof::report {

namespace {

constexpr std::size_t kFewest = 3;
constexpr std::size_t kMaxBars = 240;
constexpr double kBarsWidth = 1000;  // in drawing units; stretched to fit
constexpr double kBarsHeight = 64;
constexpr double kMaxBarWidth = 24;

std::string time_text(std::int64_t ns) {
  const double us = static_cast<double>(ns) / 1000;
  return html::TimeText(us).text(us);
}

}  // namespace

std::string lengths_html(const Lengths& lengths, std::string_view caption,
                         const ReportWords& words) {
  const std::size_t count = lengths.all_ns.size();
  if (count < kFewest || lengths.longest_ns <= 0) return "";
  const std::size_t of_a_bar = (count + kMaxBars - 1) / kMaxBars;
  const std::size_t bars = (count + of_a_bar - 1) / of_a_bar;
  const double place = std::min(kBarsWidth / static_cast<double>(bars), kMaxBarWidth);
  const auto bar_height = [&](std::int64_t ns) {
    return kBarsHeight * static_cast<double>(std::max<std::int64_t>(ns, 0)) /
           static_cast<double>(lengths.longest_ns);
  };
  std::string drawing;
  for (std::size_t i = 0; i < bars; ++i) {
    const auto begin = lengths.all_ns.begin() + static_cast<std::ptrdiff_t>(i * of_a_bar);
    const auto end =
        lengths.all_ns.begin() + static_cast<std::ptrdiff_t>(std::min(count, (i + 1) * of_a_bar));
    const double height = std::max(bar_height(*std::max_element(begin, end)), 0.5);
    drawing +=
        fmt::format("<rect{} x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\"/>",
                    lengths.chosen / of_a_bar == i ? " class=\"chosen\"" : "",
                    static_cast<double>(i) * place, kBarsHeight - height, place * 0.8, height);
  }
  const double median = kBarsHeight - bar_height(lengths.median_ns);
  drawing += fmt::format("<line x1=\"0\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kBarsWidth,
                         median, median);
  std::string text(caption);
  if (of_a_bar > 1) text += ": " + fmt::format(fmt::runtime(words.lengths_each), of_a_bar);
  return fmt::format(
      "<figure id=\"lengths\"><figcaption>{}</figcaption>\n<svg viewBox=\"0 0 {} {}\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}: {} {}, {} {}, {} "
      "{}\">{}</svg></figure>\n",
      text, kBarsWidth, kBarsHeight, text, words.median, time_text(lengths.median_ns),
      words.shortest, time_text(lengths.shortest_ns), words.longest, time_text(lengths.longest_ns),
      drawing);
}

}  // namespace msprof::report
