// A timeline of a PROF folder as facts that tests compare. For the CANN golden tests.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "golden/cann_fixture.hpp"

namespace msprof::test {

// Keeps the order of members.
using Json = nlohmann::ordered_json;

class TimelineFile {
 public:
  explicit TimelineFile(const std::filesystem::path& path);  // .json or .json.gz
  explicit TimelineFile(Json events) : events_(std::move(events)) {}

  const Json& events() const { return events_; }
  // "name|label|sort index|pid", by pid.
  Lines processes() const;
  // "tid|name|sort index" of one process, by tid.
  Lines threads(const std::string& process) const;
  // "thread|name|ts|dur" of its slices, by thread and time.
  Lines slices(const std::string& process) const;
  // The only slice with that name.
  Json slice(const std::string& process, const std::string& name) const;
  std::string args(const std::string& process, const std::string& name) const {
    return slice(process, name).at("args").dump();
  }
  // "category|thread ts|thread ts" for each arrow, by its ends; "nowhere" replaces a missing start.
  Lines arrows() const;
  // "ts|args" of a process's counters.
  Lines counters(const std::string& process) const;
  std::size_t count(const std::string& phase) const;

 private:
  std::string process_name(const Json& event) const;
  std::string thread_name(const Json& event) const;
  std::string named(const Json& pid, const Json& tid, const std::string& what,
                    const std::string& member) const;
  Json events_;
};

// Runs export timeline <words> on a capture; returns the one file named msprof_<time>.json.
TimelineFile export_timeline(const ProfCapture& capture, Lines words = {});
std::filesystem::path timeline_path(const ProfCapture& capture);

// Expected ts and dur of a slice that starts `begin_ns` after the start of the collection:
// "1700000000000001.000|2.0".
std::string span(std::uint64_t begin_ns, const std::string& dur_us);

}  // namespace msprof::test
