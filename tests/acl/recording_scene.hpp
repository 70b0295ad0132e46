// A recording that tests fill through the recorder, and its import.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "import/importer.hpp"
#include "runtime/acl/prof/recorder.hpp"
#include "runtime/acl/prof/recording.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

// All bits except metrics.
inline constexpr std::uint64_t kAllTaskBits =
    acl::prof_bits::kAclApi | acl::prof_bits::kTaskTime | acl::prof_bits::kTaskTimeL0 |
    acl::prof_bits::kTrainingTrace | acl::prof_bits::kOpAttr;

acl::OpInfo make_op(const std::string& name, const std::string& type, std::uint32_t task_type = 0);

// Starts a recording below `output` and registers it with the recorder; the destructor ends it.
class RunningRecording {
 public:
  explicit RunningRecording(const acl::RecordingOptions& options);
  ~RunningRecording();
  RunningRecording(const RunningRecording&) = delete;
  RunningRecording& operator=(const RunningRecording&) = delete;

  acl::Recording& operator*() { return *recording_; }
  acl::Recording* operator->() { return recording_.get(); }
  std::filesystem::path folder() const { return recording_->folder(); }
  void finish();

 private:
  std::shared_ptr<acl::Recording> recording_;
  bool is_finished_ = false;
};

// Launches an operator at `at_ns` and runs it: 10 ns for the launch, 20 ns delay, 50 ns on the
// device.
inline constexpr std::uint64_t kLaunchNs = 10, kDelayNs = 30, kTaskNs = 50, kStepNs = 100;
void run_op(const acl::OpInfo& op, const acl::TaskIds& ids, std::uint64_t at_ns);

class Imported {
 public:
  explicit Imported(const std::filesystem::path& folder);

  // SELECT `columns` FROM `rest`; a row is formatted as "a|b|NULL".
  std::vector<std::string> rows(const std::string& columns, const std::string& rest) const;
  std::string value(const std::string& columns, const std::string& rest) const;
  Severity verdict() const { return report_.verdict(); }
  std::string text() const { return report_.text(); }
  const ImportReport& report() const { return report_; }
  bool found(FindingId id) const;
  std::filesystem::path store() const { return work_ / "msprof.db"; }

 private:
  TempFolder work_;
  ImportReport report_;
};

}  // namespace msprof::test
