#include "analyze/compare/html_table.hpp"

#include <fmt/format.h>

#include "analyze/compare/html_parts.hpp"

namespace msprof::html {

namespace {

// A browser sorts and scrolls so many without a pause.
constexpr std::size_t kMaxTableRows = 1000;

std::string_view class_of(CellKind kind) {
  switch (kind) {
    case CellKind::text:
      return "";
    case CellKind::number:
      return " class=\"n\"";
    case CellKind::change:
      break;
  }
  return " class=\"n change\"";
}

}  // namespace

bool HtmlTable::is_full() const {
  return rows_ >= kMaxTableRows;
}

void HtmlTable::begin(std::span<const std::string> titles) {
  kinds_.resize(titles.size());
  for (std::size_t i = 0; i < titles.size(); ++i)
    head_ += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(kinds_[i]), titles[i]);
}

void HtmlTable::begin_row(std::string_view kind) {
  body_ += kind.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", kind);
}

void HtmlTable::text(std::string_view value) {
  markup(name(value));
}

void HtmlTable::markup(std::string_view html) {
  if (column_ == 0) {
    body_ += fmt::format("<th scope=\"row\">{}</th>", html);
  } else {
    body_ += fmt::format("<td{}>{}</td>", class_of(kinds_[column_]), html);
  }
  ++column_;
}

void HtmlTable::end_row() {
  body_ += "</tr>\n";
  column_ = 0;
  ++rows_;
}

std::string HtmlTable::html(std::size_t total) const {
  const std::string note = total <= rows_ ? ""
                                          : fmt::format("<p class=\"note\">The {} {}.</p>\n", rows_,
                                                        fmt::format(fmt::runtime(rest_), total));
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table id=\"{}\">"
      "<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n{}",
      caption_, id_, caption_, head_, body_, note);
}

}  // namespace msprof::html
