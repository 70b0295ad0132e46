// An aicore, aicpu or acl_api file opened with the layout that it has, or reported and left alone.
// For those three kinds.
#pragma once

#include <optional>

#include "base/file_reader.hpp"
#include "import/raw_kind.hpp"
#include "import/record_loop.hpp"
#include "session/svp_session.hpp"

namespace msprof::svp {

// What the header says: 16 bytes, "MSVP", version 1 (u16), record size (u16), kind (u32), 0 (u32).
enum class ReferenceKind : std::uint32_t { aicore = 1, aicpu = 2, acl_api = 3 };

struct SvpDataFile {
  FileReader reader;  // at the first record
  const RecordLayout* layout;
  std::uint64_t first_offset;  // of the first record in the file
  std::uint64_t record_bytes;  // may be larger than the layout's
  bool has_reference_header;   // false: a layout that the user described
};

// Checks the `.done` first. Empty, with a finding, when there is nothing to read or the layout is
// unknown.
std::optional<SvpDataFile> open_data_file(const ImportContext& context, const RawFile& file,
                                          FileKind kind, ReferenceKind reference_kind);

// Counts the bytes behind the last whole record.
void report_trailing(const ImportContext& context, const RawFile& file, FileKind kind,
                     std::uint64_t trailing_bytes, std::uint64_t file_bytes);

template <typename Visit>
std::uint64_t for_each_record_of(SvpDataFile& data, Visit&& visit) {
  return for_each_record(data.reader, data.first_offset, data.record_bytes, visit);
}

// Why a span cannot be true; empty when it can, or when the layout does not give both ends.
std::string_view why_impossible_span(std::int64_t start_ns, std::int64_t end_ns);

}  // namespace msprof::svp
