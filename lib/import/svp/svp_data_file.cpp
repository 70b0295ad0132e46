#include "import/svp/svp_data_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <set>

#include "base/file_reader.hpp"
#include "import/svp/svp_models.hpp"

namespace msprof::svp {

namespace {

void check_done(const ImportContext& context, const RawFile& file, SvpFileKind kind) {
  if (!file.done) {
    context.report.add(FindingId::missing_done, kind_name(kind), file.name, "missing .done",
                       "the capture is incomplete; existing records were read");
  } else if (!file.done->file_len_bytes) {
    // unreadable; already reported by the session
    if (context.report.mentions(file.done->name)) return;
    context.report.add(FindingId::done_without_length, kind_name(kind), file.name,
                       ".done without file_len");
  } else if (*file.done->file_len_bytes != file.size_bytes) {
    const bool truncated = file.size_bytes < *file.done->file_len_bytes;
    context.report.add(
        truncated ? FindingId::shorter_than_done : FindingId::longer_than_done, kind_name(kind),
        file.name,
        truncated ? "shorter than the length in its .done" : "longer than the length in its .done",
        fmt::format("{} bytes, file_len is {}", file.size_bytes, *file.done->file_len_bytes));
  } else if (file.size_bytes == 0) {
    context.report.add(FindingId::empty_data, kind_name(kind), file.name,
                       "empty, and file_len in .done is 0");
  }
}

// Returns the possible record sizes: divisors of the file size that are multiples of 8.
std::vector<std::uint64_t> candidate_sizes(std::uint64_t size_bytes) {
  constexpr std::uint64_t kMin = 16;
  constexpr std::uint64_t kMax = 4096;
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = kMin; size <= kMax; size += 8) {
    if (size_bytes % size == 0) sizes.push_back(size);
  }
  return sizes;
}

void report_unknown(const ImportContext& context, const RawFile& file, SvpFileKind kind,
                    const std::string& why) {
  const auto candidates = candidate_sizes(file.size_bytes);
  const std::string sizes = candidates.empty() ? "no multiple of 8 divides the file size"
                                               : fmt::format("{}", fmt::join(candidates, " "));
  context.report.add(FindingId::unknown_layout, kind_name(kind), file.name, "unknown layout",
                     fmt::format("{}; {} bytes, candidate record sizes: {}; infer the layout with "
                                 "msprof layout, or describe it with --layout FILE",
                                 why, file.size_bytes, sizes));
  context.report.add(
      UnknownLayout{std::string(kind_name(kind)), file.name, file.size_bytes, candidates});
}

// Fields by slot, and the columns that are N/A without them.
struct NeededFields {
  SvpFileKind kind;
  std::size_t first;
  std::size_t last;
  std::string_view columns;
};
constexpr NeededFields kNeeded[] = {{SvpFileKind::aicore, 1, 1, "start times of layers"},
                                    {SvpFileKind::aicore, 2, 2, "cycles of layers"},
                                    {SvpFileKind::aicore, 3, 10, "unit loads"},
                                    {SvpFileKind::aicore, 11, 12, "DDR bytes"},
                                    {SvpFileKind::aicpu, 2, 3, "times of CPU layers"},
                                    {SvpFileKind::acl_api, 0, 0, "names of API calls"},
                                    {SvpFileKind::acl_api, 2, 3, "times of API calls"}};
static_assert(kAicoreFields[1] == "start" && kAicoreFields[3] == "mac_busy" &&
              kAicoreFields[10] == "wld" && kAicoreFields[12] == "ddr_write");
static_assert(kAicpuFields[2] == "start" && kAicpuFields[3] == "end");
static_assert(kAclApiFields[0] == "api_id" && kAclApiFields[3] == "end");
static_assert(kAicoreFields.back() == "duration" && kAicpuFields.back() == "duration" &&
              kAclApiFields.back() == "duration");

void report_missing_fields(const ImportContext& context, const RawFile& file, SvpFileKind kind,
                           const RecordLayout& layout) {
  for (const NeededFields& needed : kNeeded) {
    if (needed.kind != kind) continue;
    std::set<std::size_t> found;
    const bool is_span = field_names(kind_name(kind))[needed.last] == "end";
    for (const FieldLayout& field : layout.fields) {
      // A duration replaces the end.
      const bool is_duration = field.slot + 1 == field_names(kind_name(kind)).size();
      const std::size_t slot = is_span && is_duration ? needed.last : field.slot;
      if (slot >= needed.first && slot <= needed.last) found.insert(slot);
    }
    if (found.size() == needed.last - needed.first + 1) continue;
    const std::string columns = fmt::format("{}{}", found.empty() ? "" : "some ", needed.columns);
    context.report.add({FindingId::missing_fields, std::string(kind_name(kind)), file.name,
                        fmt::format("no fields for {}", columns), 1, kNull, "N/A", columns});
  }
}

// Minimum space that the host runtime preallocates, rounded down to whole records
// (runtime/svp/profile/record_file.cpp). A smaller file has no preallocated space.
constexpr std::uint64_t kLeastRoomBytes = std::uint64_t{16} << 10;

bool skip_to(FileReader& reader, std::uint64_t offset) {
  std::vector<std::byte> skipped(offset);
  return reader.read(skipped) == skipped.size();
}

}  // namespace

std::optional<SvpDataFile> open_data_file(const ImportContext& context, const RawFile& file,
                                          SvpFileKind kind, ReferenceKind reference_kind) {
  check_done(context, file, kind);
  if (file.size_bytes == 0) {
    context.report.count_file(kind_name(kind), 0);
    return std::nullopt;
  }
  std::array<std::byte, kReferenceHeaderBytes> bytes = {};
  const std::size_t count = FileReader(file.path).read(bytes);
  const auto header = read_reference_header(std::span(bytes).first(count));
  const RecordLayout* layout = header ? LayoutSet::reference().find(kind_name(kind))
                               : context.user_layouts == nullptr
                                   ? nullptr
                                   : context.user_layouts->find(kind_name(kind));
  const auto unknown = [&](const std::string& why) {
    report_unknown(context, file, kind, why);
    return std::nullopt;
  };
  if (layout == nullptr) return unknown("not the reference layout");
  std::uint64_t record_bytes = layout->record_bytes;
  if (header) {
    if (!header->is_whole) return unknown("header truncated");
    if (header->version != kReferenceVersion)
      return unknown(fmt::format("reference header with unknown version {}", header->version));
    if (header->kind != static_cast<std::uint32_t>(reference_kind))
      return unknown(fmt::format("reference header of another kind: {}", header->kind));
    if (header->record_bytes < layout->record_bytes) {
      return unknown(
          fmt::format("reference header with a record size of {} bytes", header->record_bytes));
    }
    if (header->record_bytes > layout->record_bytes) {
      context.report.add(FindingId::longer_records, kind_name(kind), file.name,
                         "records longer than expected",
                         fmt::format("{} bytes, of which {} are read", header->record_bytes,
                                     layout->record_bytes));
    }
    record_bytes = header->record_bytes;
  }
  const bool has_space = header && !file.done && file.size_bytes + record_bytes > kLeastRoomBytes;
  SvpDataFile result{FileReader(file.path), layout,   layout->header_bytes, record_bytes,
                     header.has_value(),    has_space};
  if (!skip_to(result.reader, layout->header_bytes))
    return unknown("shorter than the layout's header");
  if (!header) {
    const bool is_inferred = context.user_layouts->is_inferred();
    context.report.note_layout(is_inferred ? LayoutOrigin::inferred : LayoutOrigin::described);
    report_missing_fields(context, file, kind, *layout);
  }
  return result;
}

std::optional<ReferenceHeader> read_reference_header(std::span<const std::byte> bytes) {
  constexpr std::uint32_t kMagic = 0x5056534d;
  ByteCursor cursor(bytes);
  if (cursor.read<std::uint32_t>() != kMagic) return std::nullopt;
  ReferenceHeader header;
  header.is_whole = bytes.size() >= kReferenceHeaderBytes;
  header.version = cursor.read<std::uint16_t>();
  header.record_bytes = cursor.read<std::uint16_t>();
  header.kind = cursor.read<std::uint32_t>();
  return header;
}

bool is_unwritten(std::span<const std::byte> record) {
  return ByteCursor(record.subspan(kReferenceStartOffset)).read<std::uint64_t>() == 0;
}

void add_end(std::int64_t start_ns, std::int64_t duration_ns, std::int64_t& end_ns) {
  if (end_ns != kNull || start_ns == kNull || duration_ns == kNull) return;
  if (__builtin_add_overflow(start_ns, duration_ns, &end_ns)) end_ns = INT64_MAX;
}

std::string_view why_impossible_span(std::int64_t start_ns, std::int64_t end_ns) {
  // Limit for clocks that count from boot or from 1970: it is reached in the year 2043.
  constexpr std::int64_t kMaxStartNs = std::int64_t{1} << 61;
  if (start_ns != kNull && start_ns > kMaxStartNs) return "impossible time";
  if (start_ns == kNull || end_ns == kNull) return {};
  if (end_ns < start_ns) return "end before start";
  if (end_ns - start_ns > kMaxDurationNs) return "duration above 2^53 ns";
  return {};
}

void report_trailing(const ImportContext& context, const RawFile& file, SvpFileKind kind,
                     std::uint64_t trailing_bytes, std::uint64_t file_bytes) {
  if (trailing_bytes == 0) return;
  context.report.add({FindingId::trailing_bytes, std::string(kind_name(kind)), file.name,
                      "trailing bytes", static_cast<std::int64_t>(trailing_bytes),
                      static_cast<std::int64_t>(file_bytes - trailing_bytes), "", ""});
}

}  // namespace msprof::svp
