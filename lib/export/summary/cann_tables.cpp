#include "export/summary/cann_tables.hpp"
#include "base/number.hpp"

#include <fmt/format.h>

#include "export/scope/scoped_rows.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

namespace {

// Removes trailing zeros of the fraction, but keeps at least `kept` digits.
std::string without_zeros(std::string digits, std::size_t kept) {
  const std::size_t point = digits.find('.');
  if (point == std::string::npos) return digits;
  while (digits.back() == '0' && digits.size() > point + 1 + kept) digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

}  // namespace

std::vector<OutputFile> CannTable::output_files(const Database& db) const {
  if (!has_rows(db, info().exists)) return {};
  OutputFile output_file;
  const std::string time = time_stamp(db);
  output_file.stem = std::string(info().name);
  if (!time.empty()) output_file.stem += "_" + time;
  output_file.slice_at = info().name.size();
  return {output_file};
}

std::vector<TableChunk> chunks_by_id(
    const Database& db, std::string_view source,
    const std::function<void(const Database&, IdRange, RowBuilder&)>& write) {
  constexpr std::int64_t kChunkRows = 1 << 14;
  std::vector<TableChunk> chunks;
  for (const IdRange& ids : chunk_ranges(id_range(db, source), kChunkRows))
    chunks.emplace_back([=](const Database& own, RowBuilder& out) { write(own, ids, out); });
  return chunks;
}

bool has_stars(const Database& db) {
  // platform_version of CANN (cann_device.md 1): 0 to 4, 9 and 12 have no STARS scheduler.
  Statement read = db.prepare(
      "SELECT NOT EXISTS(SELECT 1 FROM device WHERE platform BETWEEN 0 AND 4 OR platform IN (9, "
      "12))");
  return !read.step() || read.integer(0) != 0;
}

std::int64_t most_reduces(const Database& db) {
  Statement read = db.prepare(
      "SELECT ifnull(max(n), 0), ifnull(sum(n), 0), (SELECT count(*) FROM iteration)"
      " FROM (SELECT count(*) AS n FROM iteration_part WHERE is_get_next = 0 GROUP BY "
      "iteration_id)");
  if (!read.step()) return 0;
  const std::int64_t most = read.integer(0);
  const std::int64_t rows = read.integer(1) + read.integer(2);
  constexpr std::int64_t kFewCells = 10'000'000;
  constexpr std::int64_t kCellsPerRow = 64;
  if (most * read.integer(2) > kFewCells + kCellsPerRow * rows)
    throw db.damaged("an iteration has far more all-reduces than the others");
  return most;
}

Reduces::Reduces(const Database& db, std::string_view end_of_sql)
    : read_(db.prepare(
          fmt::format("SELECT iteration.id, part.start_ns, part.end_ns FROM iteration_part AS part"
                      " JOIN iteration ON iteration.id = part.iteration_id WHERE is_get_next = 0{}",
                      end_of_sql))),
      has_row_(read_.step()) {}

void text_or_missing(CellList& out, Texts& texts, std::optional<std::int64_t> name_id) {
  name_id ? out.text(texts(*name_id), text_id(*name_id)) : out.missing();
}

std::uint32_t text_id(std::int64_t name_id, TextForm form) {
  constexpr std::int64_t kForms = 2;
  if (name_id < 0 || name_id >= kTextIds / kForms) return 0;
  return static_cast<std::uint32_t>(name_id * kForms + (form == TextForm::quoted ? 1 : 0));
}

std::string trimmed(int128 numerator, int128 denominator, int decimals) {
  return without_zeros(fixed(numerator, denominator, decimals), 0);
}

std::string format_percent(int128 part, int128 whole, int decimals) {
  return whole == 0 ? "0" : trimmed(part * 100, whole, decimals);
}

std::string trimmed3(int128 numerator, int128 denominator) {
  return trimmed(numerator, denominator, 3);
}

std::string float3(int128 numerator, int128 denominator) {
  return without_zeros(fixed(numerator, denominator, 3), 1);
}

std::string kb_float3(std::int64_t bytes) {
  const int128 thousandths = static_cast<int128>(bytes) * 1000;
  int128 rounded = divide_rounded(thousandths, 1024);
  const int128 rest = thousandths % 1024;
  const bool is_half = rest == 512 || rest == -512;
  if (is_half && rounded % 2 != 0) rounded += rounded > 0 ? -1 : 1;
  return float3(rounded, 1000);
}

std::string kb_exact(std::int64_t bytes) {
  std::string text = fmt::format("{:.15g}", static_cast<double>(bytes) / 1024.0);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace msprof::cann
