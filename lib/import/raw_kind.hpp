// RawKind: one kind of raw file: the names it owns, and the conversion of its records to rows.
// To read a new kind, implement this in a file of its dialect and add one line to its kinds.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "import/import_report.hpp"
#include "import/record_layout.hpp"
#include "session/session.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof {

// Environment of a kind while a capture is imported.
struct ImportContext {
  const Session& session;
  TraceDbWriter& store;
  ImportReport& report;
  const LayoutSet* user_layouts;  // of --layout; may be null
  // Folder for large temporary data: that of the store.
  std::filesystem::path work_folder = {};
};

class RawKind {
 public:
  virtual ~RawKind() = default;
  virtual std::string_view name() const = 0;
  virtual bool owns(const RawFile& file) const = 0;
  // Rows of one file. A damaged record is counted, never thrown; Error(partial_data) for a file
  // that cannot be read at all is caught and counted by the importer.
  virtual void import(const ImportContext& context, const RawFile& file) = 0;
  // Called after the last file of all kinds.
  virtual void finish(const ImportContext&) {}
};

// The kinds of one import, in the order in which they run, and what they share.
struct KindSet {
  std::shared_ptr<void> shared;  // outlives the kinds; its type is the dialect's business
  std::vector<std::unique_ptr<RawKind>> kinds;
  // Reads what needs the files of several kinds at once: runs after the last import(), before
  // finish().
  std::function<void(const ImportContext&)> join;
};

// All kinds of the lists kinds.def, for the dialect of `session`.
KindSet builtin_kinds(const Session& session);

// A file of fixed-size records, read in bounded memory: calls visit(record, byte offset in the
// file) for every whole record from where `reader` stands (byte `first_offset`). Returns the bytes
// of the incomplete record at the end.
template <typename Visit>
std::uint64_t for_each_record(FileReader& reader, std::uint64_t first_offset,
                              std::size_t record_bytes, Visit&& visit) {
  constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
  std::vector<std::byte> buffer(record_bytes * (kChunkBytes / record_bytes + 1));
  std::uint64_t offset = first_offset;
  while (true) {
    interrupt::check();
    const std::size_t count = reader.read(buffer);
    const std::size_t whole = count / record_bytes * record_bytes;
    for (std::size_t at = 0; at < whole; at += record_bytes) {
      visit(std::span<const std::byte>(buffer.data() + at, record_bytes), offset + at);
    }
    offset += whole;
    if (count < buffer.size()) return count - whole;
  }
}

}  // namespace msprof
