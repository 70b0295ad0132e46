// RawKind: one kind of raw file. Knows the file names of the kind and converts its records to rows.
// To add a kind, implement this interface in a file of its dialect and add one line to its
// kinds.def.
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

// Objects available to a kind during an import.
struct ImportContext {
  const Session& session;
  TraceDbWriter& store;
  ImportReport& report;
  const LayoutSet* user_layouts;  // from --layout; may be null
  // Folder for large temporary data; the folder of the store.
  std::filesystem::path work_folder = {};
};

class RawKind {
 public:
  virtual ~RawKind() = default;
  virtual std::string_view name() const = 0;
  virtual bool owns(const RawFile& file) const = 0;
  // Adds the rows of one file. Damaged records are counted, not thrown. Throws Error(partial_data)
  // if the file cannot be read; the importer catches and counts it.
  virtual void import(const ImportContext& context, const RawFile& file) = 0;
  // Called after all files of all kinds have been read.
  virtual void finish(const ImportContext&) {}
};

// The kinds of one import, in the order in which they run, and their shared state.
struct KindSet {
  std::shared_ptr<void> shared;  // outlives the kinds; its type depends on the dialect
  std::vector<std::unique_ptr<RawKind>> kinds;
  // Processes records of several kinds together. Called after the last import(), before finish().
  std::function<void(const ImportContext&)> join;
};

// Returns all kinds listed in kinds.def of the session's dialect.
KindSet builtin_kinds(const Session& session);

// Reads a file of fixed-size records in bounded memory. Calls visit(record, byte offset in the
// file) for every whole record from the current position of `reader`, which is byte `first_offset`.
// Returns the size of an incomplete record at the end, in bytes.
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
