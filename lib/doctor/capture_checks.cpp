#include "doctor/capture_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include "analyze/capture_info.hpp"
#include "base/atomic_file.hpp"
#include "base/findings.hpp"
#include "base/folder_listing.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "collect/arrival.hpp"
#include "export/products.hpp"
#include "export/scope/export_style.hpp"
#include "import/importer.hpp"
#include "session/session.hpp"
#include "session/svp_session.hpp"
#include "store/database.hpp"
#include "store/schema.hpp"
#include "store/trace_db.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Findings with the same id, kind and reason.
struct CaptureFinding {
  std::string id;           // as in findings.def
  bool is_partial = false;  // data is missing or damaged
  std::string kind;
  std::string evidence;  // a sentence
  std::string remedy;
};

constexpr int kMaxShownText = 160;  // columns of text quoted from the capture

// This project's runtime writes each record immediately, and .done files even without finalize.
constexpr std::string_view kCutShortHere =
    "the application was killed, or ended by _exit: the last record of each file may be lost";

std::string with_folder(std::string_view remedy, const std::string& folder) {
  std::string text;
  for (const char c : remedy) c == '@' ? text += shell_word(folder) : text += c;
  return text;
}

std::string shown(std::string_view text) {
  return shorten(printable(text), kMaxShownText);
}

// Returns the file names of a finding, sorted.
std::string read_file_names(const Database& db, const Statement& row, std::int64_t named) {
  Statement read = db.prepare(
      "SELECT file FROM import_log WHERE id = ?1 AND ifnull(kind, '') = ?2 AND reason = ?3"
      " AND file IS NOT NULL ORDER BY file LIMIT ?4");
  read.bind(1, row.text(1)).bind(2, row.text(2)).bind(3, row.text(3)).bind(4, named);
  std::vector<std::string> names;
  while (read.step()) names.push_back(shown(read.text(0)));
  return fmt::format("{}", fmt::join(names, ", "));
}

// `row` is a row of read_findings().
std::string make_evidence(const Database& db, const Statement& row, std::optional<FindingId> id,
                          std::string_view cause) {
  constexpr std::int64_t kMaxNamed = 6;
  const std::string reason = shown(row.text(3));
  const std::int64_t count = row.integer(4);
  const std::int64_t files = row.integer(5);
  std::string text = reason;
  if (id == FindingId::damaged_record)
    text = fmt::format("{}: {}", counted(static_cast<std::uint64_t>(count), "record"), reason);
  if (id == FindingId::records_missing)
    text = fmt::format("{} {}", with_thousands(static_cast<std::uint64_t>(count)), reason);
  if (id == FindingId::trailing_bytes)
    text = counted(static_cast<std::uint64_t>(count), "trailing byte");
  if (!row.text(6).empty()) {
    const std::int64_t named = std::min(files, id == FindingId::unread_kind ? kMaxNamed : 1);
    text += fmt::format(" ({}{})", named > 1 ? read_file_names(db, row, named) : shown(row.text(6)),
                        files > named ? fmt::format(" and {} more", files - named) : "");
  }
  const std::string detail = cause.empty() ? shown(row.text(7)) : std::string(cause);
  if (!detail.empty()) text += ": " + detail;
  return text;
}

// Returns the findings that deserve a check, with `folder` (the capture) in their remedies; skips
// other notes. `is_of_our_runtime`: this project's runtime made the capture; it loses less in an
// interrupted run than a board's.
std::vector<CaptureFinding> read_findings(const Database& db, const std::string& folder,
                                          bool is_of_our_runtime) {
  std::vector<CaptureFinding> findings;
  Statement read = db.prepare(
      "SELECT severity, id, ifnull(kind, ''), reason, sum(count), count(*),"
      " ifnull(min(file), ''), ifnull(max(detail), '') FROM import_log"
      " WHERE id NOT IN ('', 'no_product')"
      " GROUP BY severity, id, kind, reason"
      " ORDER BY severity = 'partial' DESC, severity DESC, id, kind, reason LIMIT 200");
  while (read.step()) {
    CaptureFinding finding;
    finding.is_partial = read.text(0) == "partial";
    finding.kind = shown(read.text(2));
    const auto id = find_finding(read.text(1));
    const FindingInfo& damage = finding_info(FindingId::damaged_record);
    // An unknown id, from another version, counts as damage.
    const FindingInfo& info = id ? finding_info(*id) : damage;
    // Only import prints notes without a remedy.
    if (!finding.is_partial && !(id && info.remedy)) continue;
    std::string_view cause = id ? info.cause : "";
    if (id == FindingId::missing_done && is_of_our_runtime) cause = kCutShortHere;
    finding.id = std::string(read.text(1));
    finding.evidence = make_evidence(db, read, id, cause);
    finding.remedy = with_folder(info.remedy.value_or(*damage.remedy), folder);
    findings.push_back(std::move(finding));
  }
  return findings;
}

// Header of an SQLite file: magic, and user_version as 4 bytes, big-endian.
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kVersionAt = 60;
constexpr std::size_t kHeadBytes = 64;

std::optional<std::int64_t> read_schema_version(const fs::path& store) {
  std::string head(kHeadBytes, '\0');
  std::ifstream file(store, std::ios::binary);
  if (!file.read(head.data(), static_cast<std::streamsize>(head.size()))) return std::nullopt;
  if (!head.starts_with(kMagic)) return std::nullopt;
  std::int64_t version = 0;
  for (std::size_t i = kVersionAt; i < kHeadBytes; ++i)
    version = version * 256 + static_cast<unsigned char>(head[i]);
  return version;
}

// Adds the check "store": missing, made from other files, made by another version, or damaged.
// `damaged`: it could not be read completely. `capture` is for the remedy.
void check_store(CheckList& list, const fs::path& store, bool damaged, const std::string& capture) {
  const std::string again = fmt::format("msprof import -dir {}", shell_word(capture));
  std::error_code error;
  if (!fs::exists(store, error)) {
    return list.ok("store", "no store yet: the raw files were read into a temporary one");
  }
  if (!damaged && TraceDb::open(store)) {
    return list.warn("store",
                     fmt::format("{} is outdated: raw files were added, removed or changed after "
                                 "it was made; they were read again for this check",
                                 store.string()),
                     again);
  }
  const auto version = read_schema_version(store);
  if (version && *version > kSchemaVersion) {
    return list.warn(
        "store",
        fmt::format("{} was made by a newer msprof (schema {}, this msprof supports {})",
                    store.string(), *version, kSchemaVersion),
        fmt::format("use that msprof, or import again with this one: {}", again));
  }
  if (version && *version > 0 && *version < kSchemaVersion) {
    return list.warn("store",
                     fmt::format("{} was made by an older msprof (schema {}, current {})",
                                 store.string(), *version, kSchemaVersion),
                     again);
  }
  list.warn("store", fmt::format("{} is damaged or not an msprof store", store.string()), again);
}

// Cause and remedy if files of a kind are missing. If RawNeeds lists alternatives ("a|b"), `kind`
// is the first.
struct Absence {
  std::string_view kind;
  std::string_view cause;
  std::string_view remedy;
};

constexpr Absence kAbsences[] = {
    {"aicore",
     "no aicore.* file in data/: no model was executed, the model was converted without profiling "
     "support, or aic_metrics is not set",
     "convert the model with atc … --online_model_type=2, and set \"aic_metrics\": "
     "\"ArithmeticUtilization\" in acl.json (--aac_metrics ArithmeticUtilization)"},
    {"acl_api", "no acl_api.* file in data/: acl_api is off in acl.json, or no model was executed",
     "\"acl_api\": \"on\" in acl.json (msprof collect --acl_api on)"},
    {"stars_soc", "no task log of a device: no task ran, or tasks were not recorded",
     "collect with --task-time=on (acl.json: \"task_time\": \"on\")"},
    {"task_track", "no task_track file in host/data: the host's records were not saved or copied",
     "collect with --task-time=on, and also copy the host folder"},
    {"node_basic_info",
     "no node_basic_info file in host/data: operators were not recorded, as with task-time l0",
     "collect with --task-time=l1"},
    {"api_event", "no api_event file in host/data: the host's calls were not recorded or copied",
     "collect with --ascendcl=on --runtime-api=on, and also copy the host folder"},
    {"ts_track", "no model step was recorded", "collect with --task-time=on"},
    {"fusion_op_info", "no model with fused operators was loaded", ""},
    {"msproftx", "the application marks no ranges, or they were not recorded",
     "collect with --msproftx=on, and mark ranges with aclprofMark or mstx"},
    {"hccl_info", "no collective was recorded", "collect with --hccl=on on several devices"},
    {"aicpu", "no operator of the AI CPU was recorded", "collect with --aicpu=on"},
    {"task_memory_info", "allocations were not recorded", "collect with --task-memory=on"},
    {"data_preprocess", "no data queue was recorded", "collect with --aicpu=on"},
    {"l2_cache", "the L2 cache was not recorded", "collect with --l2=on"},
    {"memmng_info", "runtime allocations were not recorded: needs CANN of July 2026 or later",
     "collect with --runtime-api=on"},
    {"memcpy_ext_info", "runtime copies were not recorded: needs CANN of July 2026 or later",
     "collect with --runtime-api=on"},
    {"stream_sq_info", "stream queues were not recorded: needs CANN of May 2026 or later", ""},
    {"lpm_freq", "the device reported no frequency changes", ""},
};

class Products {
 public:
  Products(CheckList& list, const Database& db, const std::vector<CaptureFinding>& findings)
      : list_(list), findings_(findings) {
    Statement read = db.prepare(
        "SELECT kind, sum(count) FROM import_log WHERE category = 'imported' GROUP BY kind");
    while (read.step()) totals_[std::string(read.text(0))] = read.integer(1);
    is_old_ = is_old_capture(db);
    auto tables = default_tables(db);
    std::erase_if(tables, [&](const auto& table) {
      return !is_of_its_time(db, table->info()) && !table->has_files(db);
    });
    sort_out(db, "summary", tables);
    if (!is_old_) sort_out(db, "timeline", timeline_layers(db));
  }

  void check() {
    if (!with_data_.empty())
      list_.ok("products", fmt::format("data for {}", fmt::join(with_data_, ", ")));
    for (const Product& product : without_data_) check_one(product);
  }

 private:
  struct Product {
    std::string name;  // "summary op_summary"
    RawNeeds needs;
  };

  template <typename List>
  void sort_out(const Database& db, std::string_view what, const List& products) {
    for (const auto& product : products) {
      const std::string_view name = product->name();
      if (!product->has_files(db)) {
        without_data_.push_back({fmt::format("{} {}", what, name), product->info().needs});
      } else if (std::find(with_data_.begin(), with_data_.end(), name) == with_data_.end()) {
        with_data_.push_back(name);
      }
    }
  }

  bool has_records(std::string_view group) const {
    const auto kinds = split(group, '|');
    return std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) {
      const auto total = totals_.find(std::string(kind));
      return total != totals_.end() && total->second > 0;
    });
  }

  bool has_files(std::string_view group) const {
    const auto kinds = split(group, '|');
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](std::string_view kind) { return totals_.contains(std::string(kind)); });
  }

  // Returns the first damage in files of one of these kinds.
  const CaptureFinding* find_damage(std::string_view group) const {
    const auto kinds = split(group, '|');
    const auto found =
        std::find_if(findings_.begin(), findings_.end(), [&](const CaptureFinding& finding) {
          return finding.is_partial &&
                 std::find(kinds.begin(), kinds.end(), finding.kind) != kinds.end();
        });
    return found == findings_.end() ? nullptr : &*found;
  }

  void check_one(const Product& product) {
    const std::string& name = product.name;
    const RawNeeds& needs = product.needs;
    if (needs.kinds.empty()) return list_.skip(name, "no data: it was not recorded");
    const auto groups = split(needs.kinds, ' ');
    const auto lacking = std::find_if(groups.begin(), groups.end(),
                                      [&](std::string_view group) { return !has_records(group); });
    if (lacking == groups.end()) return none_fits(name, needs);
    if (const CaptureFinding* damage = find_damage(*lacking)) {
      return list_.fail(name, fmt::format("no data: {}: {}", damage->kind, damage->evidence),
                        damage->remedy, Exit::partial_data);
    }
    if (has_files(*lacking)) {
      return missing(name, needs,
                     fmt::format("no data: the files of {} contain no records", *lacking), "");
    }
    const std::string_view kind = split(*lacking, '|').front();
    const auto* absence = std::find_if(std::begin(kAbsences), std::end(kAbsences),
                                       [&](const Absence& one) { return one.kind == kind; });
    if (absence == std::end(kAbsences)) return list_.skip(name, "no data was recorded");
    // No remedy for old captures: it would name current options.
    missing(name, needs, fmt::format("no data: {}", absence->cause),
            is_old_ ? std::string_view() : absence->remedy);
  }

  void missing(const std::string& name, const RawNeeds& needs, std::string evidence,
               std::string_view remedy) {
    if (needs.every_run) {
      list_.warn(name, std::move(evidence), std::string(remedy));
    } else {
      list_.skip(name, std::move(evidence), std::string(remedy));
    }
  }

  // All files exist but no row was produced.
  void none_fits(const std::string& name, const RawNeeds& needs) {
    for (const std::string_view kind :
         {"tasks", "info.json", "type_info_dic", "capture", "start_info"}) {
      const CaptureFinding* damage = find_damage(kind);
      if (damage == nullptr) continue;
      return list_.fail(name, fmt::format("no data: {}: {}", damage->kind, damage->evidence),
                        damage->remedy, Exit::partial_data);
    }
    if (!needs.every_run) return list_.skip(name, "no data: the run had no such events");
    list_.warn(name, "no data: records exist, but none belongs to a task",
               "are the host and device folders from the same run? Copy the whole folder again");
  }

  CheckList& list_;
  const std::vector<CaptureFinding>& findings_;
  bool is_old_ = false;
  std::vector<std::string_view> with_data_;
  std::vector<Product> without_data_;
  std::map<std::string, std::int64_t> totals_;  // number of records by kind; 0: files without
                                                // records
};

// Adds one check for all products with data, and one for each product without: a failure if damage
// explains it, else a warning if every run has the product, else skipped (ranges of an application,
// collectives).
void check_products(CheckList& list, const Database& db,
                    const std::vector<CaptureFinding>& findings) {
  Products(list, db, findings).check();
}

constexpr std::uint64_t kFullBytes = 1'000'000;

// Files of this project's runtime start with a format name.
bool is_of_our_runtime(const Session& session) {
  constexpr std::string_view kForm = "MSVP";
  const auto& files = session.raw_files();
  return session.dialect() == Dialect::svp &&
         std::any_of(files.begin(), files.end(), [&](const RawFile& file) {
           std::string head(kForm.size(), '\0');
           std::ifstream stream(file.path, std::ios::binary);
           stream.read(head.data(), static_cast<std::streamsize>(head.size()));
           return head == kForm;
         });
}

class CaptureDoctor {
 public:
  CaptureDoctor(CheckList& list, const fs::path& folder, const fs::path& store)
      : list_(list), folder_(folder), store_(store) {}

  void check() {
    const auto session = open();
    if (!session) return;
    check_disk();
    check_parts(*session);
    if (!check_store_at_hand(*session)) check_raw_files(*session);
  }

 private:
  std::unique_ptr<Session> open() {
    try {
      auto session = Session::open(folder_);
      list_.ok("capture", fmt::format("{} raw {}, {}", session->raw_files().size(),
                                      session->raw_files().size() == 1 ? "file" : "files",
                                      dialect_name(session->dialect())));
      return session;
    } catch (const Error& error) {
      fail_as_capture(error);
      return nullptr;
    }
  }

  // The vendor's runtime creates the folder first, and writes files only when a model is loaded.
  void fail_as_capture(const Error& error) {
    const bool is_job = own_name(folder_).starts_with("JOB");
    const bool is_known_job = error.code() == Exit::nothing_to_do && is_job;
    if (!is_known_job || !list_names(folder_ / "data").empty()) {
      return list_.fail("capture", error);
    }
    const auto names = list_names(folder_);
    const bool has_info = std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return svp::parse_info_json_name(name).has_value();
    });
    list_.fail(
        "capture",
        fmt::format("the run recorded no data: {}",
                    has_info ? "it has info.json.N and no data" : "no info.json.N and no data"),
        std::string(kNothingRecorded), Exit::nothing_to_do);
  }

  void check_disk() {
    const auto free = read_free_bytes(folder_);
    if (!free || *free >= kFullBytes) return;
    list_.warn("disk",
               fmt::format("only {} free on the disk of the capture: a run that wrote there may "
                           "have lost its last records",
                           human_bytes(*free)),
               fmt::format("df -h {}; free space, then run again", folder_.string()));
  }

  // Reports a host folder, or a set of device folders, without data files.
  void check_parts(const Session& session) {
    const auto has_files = [&](std::string_view part) {
      return std::any_of(session.raw_files().begin(), session.raw_files().end(),
                         [&](const RawFile& file) { return file.name.starts_with(part); });
    };
    const bool of_host = has_files("host/");
    const bool of_device = has_files("device_");
    std::error_code ignored;
    if (of_device && !of_host && fs::is_directory(folder_ / "host", ignored)) {
      list_.fail("host", "host/data is empty: the disk was full, or the folder was not writable",
                 "df -h and ls -ld on the machine of the run; free space or correct the "
                 "permissions, and run again",
                 Exit::partial_data);
    } else if (of_host && !of_device) {
      list_.warn("device", "no device data: no task ran on a device, or its folder was not copied",
                 "copy the whole folder again, or check that the application runs on the NPU");
    }
  }

  // Returns false, after reporting it, if the store does not match the raw files or cannot be read.
  bool check_store_at_hand(const Session& session) {
    bool damaged = false;
    try {
      if (const auto db = current_store(session, store_)) {
        CheckList found = list_.empty_copy();
        check_content(session, db->database(), found);
        list_.ok("store", fmt::format("{} is up to date", store_.string()));
        list_.append(std::move(found));
        return true;
      }
    } catch (const Error& error) {
      // The store is untrusted, like its capture.
      if (error.code() == Exit::interrupted) throw;
      damaged = true;
    }
    check_store(list_, store_, damaged, folder_.string());
    return false;
  }

  void check_raw_files(const Session& session) {
    const TemporaryFolder scratch(fs::temp_directory_path() / "msprof_doctor", {},
                                  " (set TMPDIR to use another folder)");
    const fs::path own = scratch.path() / "msprof.db";
    ImportOptions options;
    options.inspect = note_empty_products;
    options.layout = choose_layout(session, store_, layout_places());
    import_session(session, own, options);
    const auto db = TraceDb::open(own);
    if (!db) throw Error(Exit::internal_error, "cannot read the temporary store");
    check_content(session, db->database(), list_);
  }

  void check_content(const Session& session, const Database& db, CheckList& list) const {
    const auto findings = read_findings(db, folder_.string(), is_of_our_runtime(session));
    for (const CaptureFinding& finding : findings) add(finding, list);
    check_counters(db, list);
    check_anything(session, db, list);
    check_products(list, db, findings);
  }

  static void add(const CaptureFinding& finding, CheckList& list) {
    const bool of_all = finding.kind.empty() || finding.kind == "capture";
    const std::string name = of_all ? "raw files" : finding.kind;
    if (finding.is_partial) {
      list.fail(name, finding.evidence, finding.remedy, Exit::partial_data);
    } else {
      list.warn(name, finding.evidence, finding.remedy);
    }
  }

  static void check_counters(const Database& db, CheckList& list) {
    Statement read =
        db.prepare("SELECT EXISTS(SELECT 1 FROM task), EXISTS(SELECT 1 FROM task_pmu)");
    if (!read.step() || read.integer(0) == 0) return;
    if (read.integer(1) != 0) return list.ok("counters", "tasks have core counters");
    constexpr const char* kNoRatios =
        "no core counters were recorded: op_summary has times but no ratios";
    // The options that would have recorded them no longer exist.
    if (is_old_capture(db)) return list.skip("counters", kNoRatios);
    list.warn("counters", kNoRatios,
              "set aic_metrics in acl.json, or collect with --aic-metrics=PipeUtilization (boards: "
              "--aac_metrics ArithmeticUtilization)");
  }

  static void check_anything(const Session& session, const Database& db, CheckList& list) {
    if (has_any_product(db)) return;
    const bool has_data = std::any_of(
        session.raw_files().begin(), session.raw_files().end(), [](const RawFile& file) {
          return file.size_bytes > 0 && file.name.find("data/") != std::string::npos &&
                 !file.name.ends_with(".info");
        });
    if (has_data) {
      list.fail("profile", "no product has data: files exist, but contain no usable data",
                "see the checks above", Exit::partial_data);
    } else {
      const bool is_of_board = session.dialect() == Dialect::svp;
      list.fail("profile", "no product has data: no data was recorded",
                std::string(is_of_board ? kNothingRecorded : kNoRecords), Exit::nothing_to_do);
    }
  }

  static constexpr std::string_view kNothingRecorded =
      "execute a model between svp_acl_init(\"acl.json\") and svp_acl_finalize; convert it with "
      "atc … --online_model_type=2; \"switch\": \"on\" in acl.json; AI-ISP off on the board; then "
      "run again";

  static constexpr std::string_view kNoRecords =
      "copy the whole folder again; if it is complete, run again with a model on the device while "
      "it records";

  CheckList& list_;
  fs::path folder_;
  fs::path store_;
};

}  // namespace

void check_capture(CheckList& list, const fs::path& folder, const fs::path& products) {
  list.begin(fs::weakly_canonical(folder).filename().string());
  try {
    CaptureDoctor(list, folder, store_path(products)).check();
  } catch (const Error& error) {
    list.fail("reading", error);
  }
}

}  // namespace msprof
