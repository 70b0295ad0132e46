#include "import/importer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "derive/passes.hpp"
#include "import/raw_kind.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

Finding from_session(const SessionFinding& finding) {
  const bool partial = finding.severity == SessionFinding::Severity::partial;
  const bool not_read = finding.reason.find("not read") != std::string::npos;
  return {partial ? Severity::partial : Severity::note,
          not_read ? Category::not_read : Category::other,
          finding.kind,
          finding.file,
          finding.reason,
          1,
          kNull,
          finding.detail};
}

void import_files_of(RawKind& kind, const ImportContext& context, std::vector<bool>& owned,
                     Progress& progress, std::uint64_t& done_bytes) {
  const auto& files = context.session.raw_files();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (owned[i] || !kind.owns(files[i])) continue;
    owned[i] = true;
    interrupt::check();
    try {
      kind.import(context, files[i]);
    } catch (const Error& error) {
      if (error.code() != Exit::partial_data) throw;
      context.report.add({Severity::partial, Category::other, std::string(kind.name()),
                          files[i].name, "unreadable", 1, kNull, error.what()});
    }
    done_bytes += files[i].size_bytes;
    progress.update(done_bytes);
  }
}

// What no kind reads is said, never passed over.
void report_unread(const ImportContext& context, const std::vector<bool>& owned) {
  const auto& files = context.session.raw_files();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (owned[i] || context.report.mentions(files[i].name)) continue;
    context.report.add({Severity::note, Category::not_read, "capture", files[i].name,
                        "present, not read", 1, kNull, ""});
  }
}

std::string previous_layout(const fs::path& store) {
  const auto old = TraceDb::open(store);
  return old ? old->meta(meta::kLayout) : std::string();
}

}  // namespace

fs::path store_path(const fs::path& product_folder) {
  return product_folder / "sqlite" / "msprof.db";
}

ImportReport import_session(const Session& session, const fs::path& store,
                            const ImportOptions& options) {
  const std::string layout = options.keep_layout ? previous_layout(store) : options.layout_json;
  std::optional<LayoutSet> user_layouts;
  if (!layout.empty()) user_layouts = LayoutSet::parse(layout, options.layout_file);

  create_output_folder(store.parent_path());
  remove_stale_temporaries(store.parent_path());
  std::uint64_t total_bytes = 0;
  for (const auto& file : session.raw_files()) total_bytes += file.size_bytes;
  TraceDbWriter writer(store, total_bytes);
  ImportReport report;
  const ImportContext context{session, writer, report, user_layouts ? &*user_layouts : nullptr,
                              store.parent_path()};

  for (const auto& finding : session.findings()) report.add(from_session(finding));
  KindSet set = builtin_kinds(session);
  std::vector<bool> owned(session.raw_files().size(), false);
  Progress progress(fmt::format("importing {}", printable(session.name())), total_bytes);
  std::uint64_t done_bytes = 0;
  for (auto& kind : set.kinds) import_files_of(*kind, context, owned, progress, done_bytes);
  if (set.join) set.join(context);
  for (auto& kind : set.kinds) kind->finish(context);
  report_unread(context, owned);

  run_derive_passes(writer);
  writer.set_meta(meta::kDialect, dialect_name(session.dialect()));
  if (options.inspect) options.inspect(writer.readable(), report);

  writer.set_meta(meta::kCapture, session.name());
  writer.set_meta(meta::kVerdict, report.partial() ? "partial" : "complete");
  writer.set_meta(meta::kLayout, layout);
  for (const auto& file : session.file_states()) writer.add(file);
  report.write_log(writer);
  writer.publish();
  return report;
}

std::optional<TraceDb> current_store(const Session& session, const fs::path& store) {
  auto db = TraceDb::open(store);
  if (!db || db->raw_files() != session.file_states()) return std::nullopt;
  return db;
}

}  // namespace msprof
