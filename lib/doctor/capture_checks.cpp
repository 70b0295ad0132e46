#include "doctor/capture_checks.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>

#include "analyze/capture_facts.hpp"
#include "analyze/verdict.hpp"
#include "base/text.hpp"
#include "collect/arrival.hpp"
#include "doctor/capture_findings.hpp"
#include "doctor/product_checks.hpp"
#include "doctor/store_state.hpp"
#include "import/importer.hpp"
#include "session/session.hpp"
#include "store/trace_db.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kFullBytes = 1'000'000;

// Its files begin with the name of their form.
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

// A folder of ours outside of the capture, gone with this.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "msprof-doctor-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error(Exit::cannot_write,
                  fmt::format("cannot make a folder in {}: {}; TMPDIR names another place",
                              fs::temp_directory_path().string(), errno_text(errno)));
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

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

  // The vendor's runtime makes the folder first and its files when a model is loaded.
  void fail_as_capture(const Error& error) {
    std::error_code ignored;
    const bool is_job = folder_.filename().string().starts_with("JOB");
    if (error.code() == Exit::nothing_to_do && is_job && fs::is_directory(folder_, ignored)) {
      return list_.fail("capture",
                        "the folder of a run that recorded nothing: no info.json.N and no data",
                        std::string(kNothingRecorded), Exit::nothing_to_do);
    }
    list_.fail("capture", error);
  }

  void check_disk() {
    const auto free = free_bytes_of(folder_);
    if (!free || *free >= kFullBytes) return;
    list_.warn(
        "disk",
        fmt::format("{} free where the capture is: a run that wrote there may have lost its end",
                    human_bytes(*free)),
        fmt::format("df -h {}; free space, and run again", folder_.string()));
  }

  // A folder of the host beside those of devices, either without a single file of data.
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
                 "df -h and ls -ld on the machine of the run; free space or mend the rights, and "
                 "run again",
                 Exit::partial_data);
    } else if (of_host && !of_device) {
      list_.warn("device", "no data of a device: nothing ran on one, or its folder was not copied",
                 "copy the whole folder again; else see that the application runs on the NPU");
    }
  }

  // False where the store does not fit the raw files, or cannot be read; that is then said.
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
      layout_ = layout_of(store_);
    } catch (const Error& error) {
      // A store can come from elsewhere with its capture.
      if (error.code() == Exit::interrupted) throw;
      damaged = true;
    }
    check_store(list_, store_, damaged, folder_.string());
    return false;
  }

  void check_raw_files(const Session& session) {
    const ScratchFolder scratch;
    const fs::path own = scratch.path() / "msprof.db";
    ImportOptions options;
    options.inspect = note_empty_products;
    options.layout_json = layout_;
    options.layout_file = "of the last import";
    import_session(session, own, options);
    const auto db = TraceDb::open(own);
    if (!db) throw Error(Exit::internal_error, "the temporary store cannot be read back");
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
    if (finding.partial) {
      list.fail(name, finding.evidence, finding.remedy, Exit::partial_data);
    } else {
      list.warn(name, finding.evidence, finding.remedy);
    }
  }

  static void check_counters(const Database& db, CheckList& list) {
    Statement read =
        db.prepare("SELECT EXISTS(SELECT 1 FROM task), EXISTS(SELECT 1 FROM task_pmu)");
    if (!read.step() || read.integer(0) == 0) return;
    if (read.integer(1) != 0) return list.ok("counters", "tasks have the counters of their cores");
    list.warn("counters", "no counter of a core was recorded: op_summary has times and no ratios",
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
      list.fail("profile",
                "no product has data: the files are there, and nothing of them can be used",
                "see the checks above", Exit::partial_data);
    } else {
      list.fail("profile", "no product has data: nothing was recorded",
                std::string(kNothingRecorded), Exit::nothing_to_do);
    }
  }

  static constexpr std::string_view kNothingRecorded =
      "execute a model between svp_acl_init(\"acl.json\") and svp_acl_finalize; convert it with "
      "atc … --online_model_type=2; \"switch\": \"on\" in acl.json; AI-ISP off on the board; then "
      "run again";

  CheckList& list_;
  fs::path folder_;
  fs::path store_;
  std::string layout_;  // that the last import was told
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
