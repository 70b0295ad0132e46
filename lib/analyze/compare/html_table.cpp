#include "analyze/compare/html_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/compare/html_parts.hpp"

namespace msprof::html {

namespace {

// Browsers can sort and scroll this many rows without delay.
constexpr std::size_t kMaxTableRows = 1000;

std::string_view cell_class(CellKind kind) {
  switch (kind) {
    case CellKind::text:
      return "";
    case CellKind::number:
      return "n";
    case CellKind::change:
      break;
  }
  return "n change";
}

}  // namespace

bool HtmlTable::is_full() const {
  return rows_ >= kMaxTableRows;
}

void HtmlTable::begin(std::span<const std::string> titles) {
  kinds_.resize(titles.size());
  for (std::size_t i = 0; i < titles.size(); ++i)
    head_ += fmt::format("<th scope=\"col\"{}>{}</th>", class_attribute(cell_class(kinds_[i])),
                         titles[i]);
}

void HtmlTable::begin_row(std::string_view css_class) {
  body_ += fmt::format("<tr class=\"{}\">", css_class);
}

void HtmlTable::text(std::string_view value) {
  markup(name(value));
}

void HtmlTable::markup(std::string_view html) {
  cell(html, column_ < kinds_.size() ? cell_class(kinds_[column_]) : "");
}

void HtmlTable::bar(std::string_view digits, double part) {
  constexpr double kParts = 20;  // CSS classes b1 to b20 in page.css
  const double filled = std::isfinite(part) ? std::clamp(part, 0.0, 1.0) * kParts : 0;
  const auto twentieths = static_cast<int>(std::lround(filled));
  if (twentieths == 0) return number(digits);
  cell(digits, fmt::format("n b{}", twentieths));
}

void HtmlTable::cell(std::string_view html, std::string_view css_class) {
  if (column_ == 0) {
    body_ += fmt::format("<th scope=\"row\">{}</th>", html);
  } else {
    body_ += fmt::format("<td{}>{}</td>", class_attribute(css_class), html);
  }
  ++column_;
}

void HtmlTable::end_row() {
  body_ += "</tr>\n";
  column_ = 0;
  ++rows_;
}

std::string HtmlTable::html(std::size_t total) const {
  const std::string note = total <= rows_
                               ? ""
                               : fmt::format("<p class=\"note\">{}</p>\n",
                                             fmt::format(fmt::runtime(rest_), rows_, total));
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table id=\"{}\">"
      "{}<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n{}",
      caption_, id_,
      is_caption_shown_ ? fmt::format("<caption>{}</caption>\n", caption_) : std::string(), head_,
      body_, note);
}

}  // namespace msprof::html
