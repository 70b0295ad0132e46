// RawKind: one kind of raw file: which names it owns, and how its records become rows.
// To read a new kind, implement this in a file of its dialect and add one line to kinds.def.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "import/import_report.hpp"
#include "import/record_layout.hpp"
#include "session/session.hpp"
#include "store/trace_db.hpp"

namespace msprof {

// What a kind works with while a capture is imported.
struct ImportContext {
  const Session& session;
  TraceDbWriter& store;
  ImportReport& report;
  const LayoutSet* user_layouts;  // of --layout; may be null
  // Where large temporary data may go: the folder of the store.
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
  // After the last file of all kinds.
  virtual void finish(const ImportContext&) {}
};

// The kinds of one import, in the order in which they run, and what they share.
struct KindSet {
  std::shared_ptr<void> shared;  // outlives the kinds; its type is the dialect's business
  std::vector<std::unique_ptr<RawKind>> kinds;
  // What needs the files of several kinds at once: runs after the last import(), before finish().
  std::function<void(const ImportContext&)> join;
};

// THE list of kinds, for the dialect of `session`.
KindSet builtin_kinds(const Session& session);

}  // namespace msprof
