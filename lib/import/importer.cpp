#include "import/importer.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "derive/passes.hpp"
#include "import/raw_kind.hpp"
#include "session/capture_walk.hpp"
#include "store/database.hpp"
#include "store/new_database.hpp"
#include "store/run_summary.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Names the data that is missing if a file of this kind is not read, for "complete without ...".

struct UnreadKind {
  std::string_view stem;  // prefix or suffix of the kind's name; the first match is used
  std::string_view product;
  std::string_view why = "";  // why the records cannot be read, if that is known
};

constexpr std::string_view kNoLayout = "the record layout is unknown";

// Source: cann_system.md 1.1, 1.2.
constexpr UnreadKind kUnread[] = {
    {"ctrlcpu", "samples of the control CPU"},
    {"instr.pc_sampling", "program counters of the cores", kNoLayout},
    {"nano_stars_profile", "tasks of a nano chip"},
    {"model_exeom", "names of the models of a nano chip"},
    {"dpu_hccl_info", "transfers of data units"},
    {"host_platform_uncore", "counters of the host's processor", kNoLayout},
    {"diagnostic", "diagnostic records of the driver", kNoLayout},
    {"nts_pmu", "counters of the NTS", kNoLayout},
    {"nts_task", "tasks of the NTS", kNoLayout},
    {"aicpu.hscb", "HSCB records of the AI CPUs", kNoLayout},
    {"hscb", "HSCB records", kNoLayout},
    {"adprof", "records of adprof", kNoLayout},
    {"stars_block", "logs of blocks", kNoLayout},
    {"Multi_Thread", "threads that load models"},
    {"memory_application", "memory requested by the application"},
    {"acl_api_", "API call statistics written by the collector"},
    {".dbg", "names of the operators of a nano chip"},
    {"ts_track.aiv_data", "task scheduler records of the vector cores"},
    // Source: cann5_classic.md 2, 7.
    {"Framework.host.model_", "loads and times of models of the graph engine of 2020", kNoLayout},
    {"Framework.single_op", "operators of single-operator calls of CANN 5", kNoLayout},
    {"Runtime.runtime.data", "runtime calls of the first Ascend 310",
     "only the start and end of its records are known, not the call"},
    {"Runtime.runtime", "runtime tasks of the first Ascend 310", kNoLayout},
    {"Framework", "operators of a CANN 5 host"},
    {"runtime", "runtime calls of a CANN 5 host"},
    {"AclModule", "API calls of a CANN 5 host"},
    {"Msprof", "ranges of a CANN 5 application"},
    {"HCCL", "collectives of a CANN 5 host"},
    {"cont", "cont files of recurrent networks"},
};

// Returns null if unknown. `stem` is the file name without class, device and slice.
const UnreadKind* find_unread(std::string_view stem) {
  const auto* found =
      std::find_if(std::begin(kUnread), std::end(kUnread), [&](const UnreadKind& kind) {
        return stem.starts_with(kind.stem) || stem.ends_with(kind.stem);
      });
  return found == std::end(kUnread) ? nullptr : found;
}

void import_kind(RawKind& kind, const ImportContext& context, std::vector<bool>& owned,
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
      context.report.add(FindingId::unreadable_file, kind.name(), files[i].name, "unreadable",
                         error.what());
    }
    done_bytes += files[i].size_bytes;
    progress.update(done_bytes);
  }
}

// Replaces the process id in names such as "17-Threads.data", which are one kind.
std::string unread_kind_name(const std::string& stem) {
  const std::size_t digits = stem.find_first_not_of("0123456789");
  const bool has_process = digits != 0 && digits != std::string::npos && stem[digits] == '-';
  return has_process ? "PID" + stem.substr(digits) : stem;
}

// Reports every non-empty file that no kind reads.
void report_unread(const ImportContext& context, const std::vector<bool>& owned) {
  const auto& files = context.session.raw_files();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (owned[i] || files[i].size_bytes == 0 || context.report.mentions(files[i].name)) continue;
    const std::string kind = unread_kind_name(context.session.file_stem(files[i]));
    // A file that is not a slice has no stem; its whole name identifies its kind.
    const UnreadKind* known = find_unread(kind.empty() ? files[i].path.filename().string() : kind);
    const std::string lacks = known != nullptr ? std::string(known->product)
                              : kind.empty()   ? "files of unknown kind"
                                               : fmt::format("files of {}", printable(kind));
    std::string detail = "would contain " + lacks;
    if (known != nullptr && !known->why.empty()) detail += fmt::format("; {}", known->why);
    context.report.add({FindingId::unread_kind, kind.empty() ? "capture" : kind, files[i].name,
                        "present, not read", 1, kNull, detail, lacks});
  }
}

// A layout stored in a capture is untrusted input: its errors also name the remedy.
LayoutSet parse_layouts(const LayoutChoice& layout) {
  try {
    return LayoutSet::parse(layout.json, layout.in_words());
  } catch (const Error& error) {
    if (layout.source != LayoutSource::store && layout.source != LayoutSource::run) throw;
    throw Error(error.code(),
                fmt::format("{}; give --layout FILE, or ignore the layout with import --force",
                            error.what()));
  }
}

// Imports all kinds. On return their memory is free again, for the derived tables.
void import_kinds(const ImportContext& context, Progress& progress) {
  const KindSet set = builtin_kinds(context.session);
  std::vector<bool> owned(context.session.raw_files().size(), false);
  std::uint64_t done_bytes = 0;
  for (const auto& kind : set.kinds) import_kind(*kind, context, owned, progress, done_bytes);
  if (set.join) set.join(context);
  for (const auto& kind : set.kinds) kind->finish(context);
  report_unread(context, owned);
}

// Throws if the existing store was made with a layout and the new one would contain less.
void refuse_less(const fs::path& store, const ImportReport& report, const LayoutChoice& layout) {
  const std::size_t lost = report.unknown_layouts().size();
  if (lost == 0 || layout.source == LayoutSource::command_line) return;
  const std::string before = read_stored_layout(store).json;
  if (before.empty() || before == layout.json) return;
  throw Error(
      FindingId::less_than_before,
      fmt::format("{} was made with a layout; {} {} cannot be read: give --layout FILE, or replace "
                  "the store with --force",
                  store.string(), layout.json.empty() ? "without it" : "with " + layout.in_words(),
                  counted(lost, "file")));
}

// Returns freed memory to the system; otherwise it adds to the peak of a following export.
void release_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

ImportReport import_files(const Session& session, const fs::path& store,
                          const ImportOptions& options) {
  const LayoutChoice& layout = options.layout;
  std::optional<LayoutSet> user_layouts;
  if (!layout.json.empty()) user_layouts = parse_layouts(layout);

  check_replaceable(store);
  create_output_folder(store.parent_path());
  std::uint64_t total_bytes = 0;
  for (const auto& file : session.raw_files()) total_bytes += file.size_bytes;
  TraceDbWriter writer(store, total_bytes);
  ImportReport report;
  report.set_layout({layout.file, std::string(source_name(layout.source))});
  const ImportContext context{session, writer, report, user_layouts ? &*user_layouts : nullptr,
                              store.parent_path()};

  for (const auto& finding : session.findings())
    report.add(finding.id, finding.kind, finding.file, finding.reason, finding.detail);
  Progress progress(fmt::format("importing {}", printable(session.name())), total_bytes);
  import_kinds(context, progress);
  if (!options.force) refuse_less(store, report, layout);

  run_derive_passes(writer);
  writer.set_meta(meta::kDialect, dialect_name(session.dialect()));
  if (options.inspect) options.inspect(writer.readable(), report);

  writer.set_meta(meta::kCapture, session.name());
  if (const auto rank = find_rank(session)) writer.set_meta(meta::kRank, std::to_string(*rank));
  writer.set_meta(meta::kVerdict, verdict_name(report.verdict()));
  writer.set_meta(meta::kVerdictText, verdict_text(report.verdict(), report.lacking()));
  if (!layout.json.empty()) writer.set_meta(meta::kLayoutTried, layout_id(layout));
  if (report.layout() != nullptr) {
    writer.set_meta(meta::kLayout, layout.json);
    writer.set_meta(meta::kLayoutFile, layout.file);
    writer.set_meta(meta::kLayoutSource, source_name(layout.source));
  }
  writer.set_meta(meta::kUnitLoads, unit_loads_name(report.unit_loads()));
  writer.set_meta(meta::kLayoutOrigin, layout_origin_name(report.layout_origin()));
  for (const auto& file : session.file_states()) writer.add(file);
  if (const std::int64_t repaired = writer.repaired_texts(); repaired > 0)
    report.add(FindingId::repaired_texts, "", "", "texts that are not valid UTF-8",
               "invalid bytes are replaced by U+FFFD", repaired);
  report.write_log(writer);
  if (options.keep_report) options.keep_report(report);
  writer.publish();
  return report;
}

}  // namespace

fs::path store_path(const fs::path& product_folder) {
  return product_folder / "sqlite" / "msprof.db";
}

ImportReport import_session(const Session& session, const fs::path& store,
                            const ImportOptions& options) {
  ImportReport report = import_files(session, store, options);
  release_memory();
  return report;
}

std::optional<TraceDb> current_store(const Session& session, const fs::path& store) {
  auto db = TraceDb::open(store);
  if (!db || db->raw_files() != session.file_states()) return std::nullopt;
  return db;
}

}  // namespace msprof
