// Timelines of CANN 5 captures, compared event by event with those of the tools of that version.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "export/exporter.hpp"
#include "golden/shared_cases.hpp"
#include "old/old_capture.hpp"

using namespace msprof;
using namespace msprof::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

double parse_number(const json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

// Slices and arrow ends by "phase process thread name", in time order; and the pids of processes.
struct Timeline {
  std::map<std::string, std::vector<json>> events;
  std::map<std::string, std::string> pids;  // by process name

  explicit Timeline(const fs::path& path) {
    const json all = json::parse(read_file(path));
    std::map<std::string, std::string> processes, threads;
    for (const json& event : all) {
      if (event["ph"] != "M") continue;
      const std::string lane = event["pid"].dump() + " " + event["tid"].dump();
      if (event["name"] == "process_name") processes[event["pid"].dump()] = event["args"]["name"];
      if (event["name"] == "thread_name") threads[lane] = event["args"]["name"];
    }
    for (const auto& [pid, name] : processes) pids[name] = pid;
    for (const json& event : all) {
      if (event["ph"] == "M") continue;
      // thread_group has names instead of numbers.
      std::string thread = event["tid"].is_string()
                               ? event["tid"].get<std::string>()
                               : threads[event["pid"].dump() + " " + event["tid"].dump()];
      events[fmt::format("{} {} / {} / {}", event["ph"].get<std::string>(),
                         processes[event["pid"].dump()], thread, event["name"].get<std::string>())]
          .push_back(event);
    }
    for (auto& [key, list] : events) {
      std::sort(list.begin(), list.end(), [](const json& a, const json& b) {
        return parse_number(a["ts"]) < parse_number(b["ts"]);
      });
    }
  }
};

// Events that are allowed to differ, with the reason.
bool is_accepted(const std::string& topic, const std::string& key) {
  // The vendor's arrows led from the end of an iteration, by that iteration's wait, to a
  // nonexistent process; msprof's lead to the next iteration, and the last iteration has none.
  if (key.find("Data_aug Bound") != std::string::npos) return true;
  if (topic != "msprof") return false;
  // The vendor's tools added host-only data in a separate step (msprof_….merged.json), and could
  // not read collectives (defect 8).
  return key.starts_with("X MsprofTx") || key.starts_with("X HCCL");
}

// Arguments that msprof may omit.
bool is_left_out(const std::string& argument) {
  return argument == "Receive Time";  // argument of copies; not exported
}

double time_tolerance(const std::string& topic, const std::string& name, const std::string& what) {
  // The vendor truncates these to whole us, and arguments to whole ns; an end is the sum of two
  // truncated times.
  const bool is_whole = topic == "ai_stack_time" || name == "MemcopyAsync";
  if (is_whole) return what == "End Time" ? 2.001 : 1.001;
  if (what == "Aicore Time(ms)") return 0.0000011;  // the vendor rounds doubles
  return 0.0011;
}

std::string compare_event(const std::string& topic, const json& peer, const json& ours) {
  const std::string name = peer["name"];
  const auto differs = [&](const std::string& what, const json& a, const json& b) {
    const auto is_number = [](const json& value) { return value.is_number(); };
    if (is_number(a) && (is_number(b) || what == "ts"))
      return std::abs(parse_number(a) - parse_number(b)) > time_tolerance(topic, name, what);
    return a != b;
  };
  std::string all;
  // msprof's events have a category where the vendor's have none, because viewers also use it to
  // match arrow ends.
  for (const char* what : {"ts", "dur", "id", "bp", "cat"}) {
    if (!peer.contains(what)) continue;
    if (!ours.contains(what) || differs(what, peer[what], ours[what]))
      all += fmt::format(" {} {} is {}", what, peer[what].dump(), ours.value(what, json()).dump());
  }
  const json wanted = peer.value("args", json::object());
  const json there = ours.value("args", json::object());
  for (const auto& [key, value] : wanted.items()) {
    if (is_left_out(key)) continue;
    if (!there.contains(key) || differs(key, value, there[key]))
      all += fmt::format(" {} {} is {}", key, value.dump(), there.value(key, json()).dump());
  }
  for (const auto& [key, value] : there.items()) {
    if (!wanted.contains(key)) all += fmt::format(" {} is more", key);
  }
  return all;
}

std::vector<std::string> differences(const std::string& topic, const Timeline& peer,
                                     const Timeline& ours) {
  std::vector<std::string> all;
  for (const auto& [key, wanted] : peer.events) {
    if (is_accepted(topic, key)) continue;
    const auto found = ours.events.find(key);
    const std::size_t count = found == ours.events.end() ? 0 : found->second.size();
    if (count != wanted.size()) {
      all.push_back(fmt::format("{}: {} are {}", key, wanted.size(), count));
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::string different = compare_event(topic, wanted[i], found->second[i]);
      if (!different.empty()) all.push_back(key + ":" + different);
    }
  }
  for (const auto& [key, list] : ours.events) {
    if (!is_accepted(topic, key) && !peer.events.contains(key)) all.push_back(key + " is more");
  }
  for (const auto& [name, pid] : peer.pids) {
    // A process without an event is not drawn.
    const auto found = ours.pids.find(name);
    if (found == ours.pids.end() ? name != "All Reduce" : found->second != pid)
      all.push_back("process " + name + " is not " + pid);
  }
  return all;
}

}  // namespace

TEST_CASE(
    "Timelines of CANN 5 equal those of the tools of that time except for listed differences") {
  if (!has_cases_or_skip("old")) return;
  for (const std::string name : {"cann5_a", "cann5_b"}) {
    const fs::path folder = shared_folder() / "cases" / "old" / name;
    const OldCapture capture(prof_in(folder / "input"));
    const TempFolder out;
    const auto store = TraceDb::open(capture.store());
    TimelineOptions options;
    options.scope.model_number = 1;
    options.scope.iteration = 1;
    find_iteration(store->database(), options.scope);
    std::map<std::string, fs::path> written;
    for (const ExportedFile& file : export_timelines(*store, out.path(), options))
      written[file.path.filename()] = file.path;
    for (const std::string& file : names_in(folder / "expected" / "peer" / "timeline")) {
      if (file.find(".merged.") != std::string::npos) continue;
      INFO(name << " " << file);
      REQUIRE(written.contains(file));
      const std::string topic = file.substr(0, file.find("_0_1"));
      CHECK(differences(topic, Timeline(folder / "expected" / "peer" / "timeline" / file),
                        Timeline(written[file])) == std::vector<std::string>{});
    }
  }
}
