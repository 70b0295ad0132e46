#include "golden/timeline_file.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

namespace msprof::test {

namespace {

namespace fs = std::filesystem;

std::string plain_text(const fs::path& path) {
  if (path.extension() != ".gz") return read_file(path);
  const RunResult result = run_program("/bin/gzip", {"-dc", path.string()});
  REQUIRE(result.exit_code == 0);
  return result.out;
}

Lines sorted(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string json_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

TimelineFile::TimelineFile(const fs::path& path) : events_(Json::parse(plain_text(path))) {}

// Returns `member` of the metadata event `what` of a process (and a thread).
std::string TimelineFile::named(const Json& pid, const Json& tid, const std::string& what,
                                const std::string& member) const {
  for (const Json& event : events_) {
    if (event.at("name") == what && event.at("pid") == pid && event.at("tid") == tid)
      return json_text(event.at("args").at(member));
  }
  return "none";
}

std::string TimelineFile::process_name(const Json& event) const {
  return named(event.at("pid"), 0, "process_name", "name");
}

std::string TimelineFile::thread_name(const Json& event) const {
  return named(event.at("pid"), event.at("tid"), "thread_name", "name");
}

Lines TimelineFile::processes() const {
  Lines lines;
  for (const Json& event : events_) {
    if (event.at("name") != "process_name") continue;
    const Json& pid = event.at("pid");
    lines.push_back(json_text(event.at("args").at("name")) + "|" +
                    named(pid, 0, "process_labels", "labels") + "|" +
                    named(pid, 0, "process_sort_index", "sort_index") + "|" + pid.dump());
  }
  std::sort(lines.begin(), lines.end(), [](const std::string& a, const std::string& b) {
    return a.substr(a.rfind('|')) < b.substr(b.rfind('|'));
  });
  // Each layer of a shared process repeats its name.
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

Lines TimelineFile::threads(const std::string& process) const {
  std::map<std::int64_t, std::string> by_tid;
  for (const Json& event : events_) {
    if (event.at("name") != "thread_name" || process_name(event) != process) continue;
    const Json& tid = event.at("tid");
    by_tid[tid.get<std::int64_t>()] =
        tid.dump() + "|" + json_text(event.at("args").at("name")) + "|" +
        named(event.at("pid"), tid, "thread_sort_index", "sort_index");
  }
  Lines lines;
  for (const auto& [tid, line] : by_tid) lines.push_back(line);
  return lines;
}

Lines TimelineFile::slices(const std::string& process) const {
  Lines lines;
  for (const Json& event : events_) {
    if (event.at("ph") != "X" || process_name(event) != process) continue;
    lines.push_back(thread_name(event) + "|" + json_text(event.at("name")) + "|" +
                    json_text(event.at("ts")) + "|" + event.at("dur").dump());
  }
  std::stable_sort(lines.begin(), lines.end(), [](const std::string& a, const std::string& b) {
    const auto key = [](const std::string& line) {
      const std::size_t dur = line.rfind('|'), ts = line.rfind('|', dur - 1);
      return std::pair(line.substr(0, line.find('|')), line.substr(ts + 1, dur - ts - 1));
    };
    return key(a) < key(b);
  });
  return lines;
}

Json TimelineFile::slice(const std::string& process, const std::string& name) const {
  Json found;
  int times = 0;
  for (const Json& event : events_) {
    if (event.at("ph") != "X" || event.at("name") != name || process_name(event) != process)
      continue;
    found = event;
    ++times;
  }
  INFO(process << ": " << name);
  REQUIRE(times == 1);
  return found;
}

Lines TimelineFile::arrows() const {
  std::map<std::string, std::string> starts;
  const auto key = [](const Json& event) {
    return json_text(event.at("cat")) + "|" + json_text(event.at("id")) + "|" +
           json_text(event.at("name"));
  };
  for (const Json& event : events_) {
    if (event.at("ph") == "s")
      starts[key(event)] = thread_name(event) + " " + json_text(event.at("ts"));
  }
  Lines lines;
  for (const Json& event : events_) {
    if (event.at("ph") != "f" && event.at("ph") != "t") continue;
    const auto start = starts.find(key(event));
    lines.push_back(json_text(event.at("cat")) + "|" +
                    (start == starts.end() ? "nowhere" : start->second) + "|" + thread_name(event) +
                    " " + json_text(event.at("ts")));
  }
  return sorted(lines);
}

Lines TimelineFile::counters(const std::string& process) const {
  Lines lines;
  for (const Json& event : events_) {
    if (event.at("ph") != "C" || process_name(event) != process) continue;
    lines.push_back(json_text(event.at("ts")) + "|" + event.at("args").dump());
  }
  return sorted(lines);
}

std::size_t TimelineFile::count(const std::string& phase) const {
  return static_cast<std::size_t>(std::count_if(
      events_.begin(), events_.end(), [&](const Json& event) { return event.at("ph") == phase; }));
}

fs::path timeline_path(const ProfCapture& capture) {
  return capture.prof.products() / "msprof_20231114221320.json";
}

TimelineFile export_timeline(const ProfCapture& capture, Lines words) {
  words.insert(words.begin(), {"export", "timeline", "-q"});
  const RunResult result = capture.run(words);
  INFO(result.err << result.out);
  REQUIRE(result.exit_code == 0);
  return TimelineFile(timeline_path(capture));
}

std::string span(std::uint64_t begin_ns, const std::string& dur_us) {
  return moment(begin_ns) + "|" + dur_us;
}

}  // namespace msprof::test
