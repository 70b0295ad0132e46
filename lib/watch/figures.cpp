#include "watch/figures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/words.hpp"

namespace msprof::watch {

namespace {

constexpr std::size_t kLeastLines = 4;
constexpr std::size_t kMaxParts = 5;
constexpr int kNameColumns = 36;
constexpr int kLeastNameColumns = 10;
// A disk that becomes full later than this is not reported.
constexpr double kInSightSeconds = 6 * 3600;

std::string decimals(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 1000 ? 1 : 0);
}

std::string time_text(double ns) {
  if (ns < 1e6) return decimals(ns / 1e3) + " us";
  return ns < 1e9 ? decimals(ns / 1e6) + " ms" : decimals(ns / 1e9) + " s";
}

double mean_ns(const SlowPart& part) {
  return part.count == 0 ? 0 : part.total_ns / static_cast<double>(part.count);
}

std::string share_text(const SlowPart& part, double all_ns) {
  return all_ns > 0 ? fmt::format("{:.1f}%", part.total_ns * 100 / all_ns) : "-";
}

std::string padded(std::string_view text, int width) {
  std::string cell = shorten(text, width);
  cell.append(static_cast<std::size_t>(std::max(width - display_width(cell), 0)), ' ');
  return cell;
}

std::string title_line(const RunFigures& figures, int width) {
  std::string title = fmt::format("-- {} on {}, {} ", printable(figures.name),
                                  printable(figures.host), duration_text(figures.seconds));
  const int left = width - display_width(title);
  if (left > 0) title.append(static_cast<std::size_t>(left), '-');
  return shorten(title, width);
}

std::string count_text(const RunFigures& figures) {
  const RecordFigures& records = figures.records;
  std::string text;
  if (figures.count_per_second)
    text = fmt::format("{} {}s/s, ", decimals(*figures.count_per_second), records.unit);
  return text + fmt::format("{} {} so far", with_thousands(records.count),
                            word_for(records.count, records.unit));
}

std::string bytes_text(const RunFigures& figures) {
  std::string text =
      fmt::format("{}, {}", counted(figures.files, "file"), human_bytes(figures.bytes));
  if (figures.bytes_per_second) text += fmt::format(" (+{})", rate_text(*figures.bytes_per_second));
  return text;
}

std::string disk_text(const RunFigures& figures) {
  if (!figures.free_bytes) return "";
  std::string text = fmt::format("{} free", human_bytes(*figures.free_bytes));
  if (const auto left = seconds_until_full(figures))
    text += fmt::format(", full in {}", duration_text(*left));
  return text;
}

// Formats name, count, mean, total, share; a narrow terminal shows only name, mean and share.
std::string part_line(int width, const std::vector<std::string>& cells) {
  const bool is_wide = width >= 72;
  int name_columns = width - (is_wide ? 48 : 22);
  name_columns = std::clamp(name_columns, kLeastNameColumns, kNameColumns);
  std::string line = " " + padded(cells[0], name_columns);
  if (is_wide) line += fmt::format("{:>13}", cells[1]);
  line += fmt::format("{:>12}", cells[2]);
  if (is_wide) line += fmt::format("{:>12}", cells[3]);
  line += fmt::format("{:>8}", cells[4]);
  return shorten(line, width);
}

void add_parts(const RunFigures& figures, int width, std::size_t most_lines,
               std::vector<std::string>& lines) {
  const RecordFigures& records = figures.records;
  if (records.slowest.empty() || lines.size() + 2 > most_lines) return;
  lines.push_back(part_line(
      width, {fmt::format("slowest {}s so far", records.part), "count", "mean", "total", "share"}));
  for (std::size_t i = 0; i < records.slowest.size() && i < kMaxParts; ++i) {
    if (lines.size() >= most_lines) return;
    const SlowPart& part = records.slowest[i];
    const bool has_time = part.total_ns > 0;
    lines.push_back(part_line(
        width, {printable(part.name), with_thousands(part.count),
                has_time ? time_text(mean_ns(part)) : "-",
                has_time ? time_text(part.total_ns) : "-", share_text(part, records.all_ns)}));
  }
}

}  // namespace

std::optional<double> seconds_until_full(const RunFigures& figures) {
  if (figures.seconds_until_full || figures.is_freed) return figures.seconds_until_full;
  if (!figures.free_bytes || !figures.bytes_per_second || *figures.bytes_per_second < 1)
    return std::nullopt;
  const double left = static_cast<double>(*figures.free_bytes) / *figures.bytes_per_second;
  return left < kInSightSeconds ? std::optional(left) : std::nullopt;
}

std::vector<std::string> figure_lines(const RunFigures& figures, int width,
                                      std::size_t most_lines) {
  most_lines = std::max(most_lines, kLeastLines);
  width = std::max(width, 1);
  const RecordFigures& records = figures.records;
  std::vector<std::string> lines = {title_line(figures, width)};
  const auto add = [&](const std::string& text) {
    if (lines.size() < most_lines) lines.push_back(shorten(" " + text, width));
  };
  if (records.has_records) add(count_text(figures));
  add(bytes_text(figures));
  if (const std::string disk = disk_text(figures); !disk.empty())
    add(fmt::format("{}: {}", figures.disk, disk));
  if (!figures.transfer_label.empty())
    add(transfer_text(figures.transfer_label, figures.transfer, std::max(width - 1, 1)));
  if (records.unread_bytes > 0)
    add(fmt::format("{} not read yet", human_bytes(records.unread_bytes)));
  if (!records.note.empty()) add(printable(records.note));
  add_parts(figures, width, most_lines, lines);
  return lines;
}

std::string figure_sentence(const RunFigures& figures) {
  const RecordFigures& records = figures.records;
  std::string text = fmt::format("{}: ", duration_text(figures.seconds));
  if (records.has_records) text += count_text(figures) + ", ";
  if (!records.slowest.empty()) {
    const SlowPart& part = records.slowest.front();
    const std::string mean = part.total_ns > 0 ? ", mean " + time_text(mean_ns(part)) : "";
    text += fmt::format("slowest {} {} ({}{}), ", records.part, printable(part.name),
                        share_text(part, records.all_ns), mean);
  }
  text += bytes_text(figures);
  if (const std::string disk = disk_text(figures); !disk.empty())
    text += fmt::format(", {}: {}", figures.disk, disk);
  if (!figures.transfer_label.empty())
    text += ", " + transfer_text(figures.transfer_label, figures.transfer, 0);
  if (records.unread_bytes > 0)
    text += fmt::format(", {} not read yet", human_bytes(records.unread_bytes));
  return text;
}

}  // namespace msprof::watch
