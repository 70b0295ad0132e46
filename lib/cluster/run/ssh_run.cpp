#include "cluster/run/ssh_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/atomic_file.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "board/session/shell.hpp"
#include "cluster/run/cluster_task.hpp"
#include "cluster/run/pool.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

using Clock = std::chrono::steady_clock;

// Arguments: $1 msprof, $2 name of the folder for parts, $3 processes, then folders. Prints a line
// "part CODE REPORT_BYTES PART_BYTES", followed by the report and the part. Ends when its input is
// closed: the client is gone then.
constexpr const char* kHostScript = R"sh(
msprof=$1
work=${XDG_CACHE_HOME:-$HOME/.cache}/msprof/cluster/$2
jobs=$3
shift 3
[ "$jobs" = 0 ] || set -- "$@" --jobs "$jobs"
umask 077
mkdir -p "$work" || exit 71
rm -f "$work/node.part" "$work/report.json"
exec 3<&0
"$msprof" cluster "$@" --output "$work" --part "$work/node.part" --json \
  </dev/null >"$work/report.json" 3<&- &
child=$!
{ cat >/dev/null; kill -TERM $child; } <&3 >/dev/null 2>&1 &
watch=$!
wait $child
code=$?
kill $watch 2>/dev/null
exec 3<&-
bytes() { if [ -f "$1" ]; then echo $(($(wc -c <"$1"))); else echo 0; fi; }
report=$(bytes "$work/report.json")
part=$(bytes "$work/node.part")
echo "part $code $report $part"
[ "$report" = 0 ] || cat "$work/report.json"
[ "$part" = 0 ] || cat "$work/node.part"
)sh";
const BoardScript kRunThere = {"summarizing captures", kHostScript};

constexpr std::uint64_t kMaxReportBytes = 256 << 20;
constexpr std::uint64_t kMaxLogBytes = 64 << 20;
constexpr std::size_t kMaxHeader = 200;
constexpr std::chrono::milliseconds kHostPoll{100};
constexpr std::chrono::seconds kHostFarewell{15};
constexpr int kNotFound = 127;

// Parses the stdout of the script: header line, report, and part, which is streamed to a file.
class Answer {
 public:
  explicit Answer(const fs::path& target) : target_(target) {}

  void take(std::string_view bytes) {
    if (!has_header_) bytes = take_header(bytes);
    const std::size_t of_report =
        std::min<std::size_t>(bytes.size(), report_bytes_ - report.size());
    report += bytes.substr(0, of_report);
    bytes.remove_prefix(of_report);
    if (bytes.empty()) return;
    if (bytes.size() > part_bytes_ - part_read_) bad("received more data than announced");
    if (!file_) file_.emplace(target_);
    file_->write(bytes);
    part_read_ += bytes.size();
  }

  // Commits the part. Returns false if there is none. Throws Error(partial_data) if it is
  // truncated.
  bool finish() {
    if (!has_header_) bad("no answer");
    if (report.size() != report_bytes_ || part_read_ != part_bytes_)
      bad("its answer is incomplete");
    if (file_) file_->commit();
    return file_.has_value();
  }
  bool has_header() const { return has_header_; }

  std::uint64_t code = 0;
  std::string report;

 private:
  [[noreturn]] static void bad(const char* what) { throw Error(Exit::partial_data, what); }

  std::string_view take_header(std::string_view bytes) {
    const auto end = bytes.find('\n');
    header_ += bytes.substr(0, end);
    if (header_.size() > kMaxHeader) bad("its answer is invalid");
    if (end == std::string_view::npos) return {};
    const auto words = split(header_, ' ');
    const bool is_well = words.size() == 4 && words[0] == "part" && parse_u64(words[1], code) &&
                         parse_u64(words[2], report_bytes_) && parse_u64(words[3], part_bytes_);
    if (!is_well || report_bytes_ > kMaxReportBytes) bad("its answer is invalid");
    std::error_code error;
    const fs::space_info space = fs::space(target_.parent_path(), error);
    if (!error && part_bytes_ > space.available)
      bad("its rank summary is larger than the free disk space here");
    has_header_ = true;
    return bytes.substr(end + 1);
  }

  fs::path target_;
  std::optional<AtomicFile> file_;
  std::string header_;
  bool has_header_ = false;
  std::uint64_t report_bytes_ = 0;
  std::uint64_t part_bytes_ = 0;
  std::uint64_t part_read_ = 0;
};

struct HostEnd {
  RunReport report;
  bool has_part = false;
  std::string lost;  // reason why the host returned no result
};

class HostRun {
 public:
  HostRun(const BoardConfig& host, const SshRunOptions& options, const fs::path& folder,
          const std::string& work_name, std::mutex& login)
      : host_(host), options_(options), folder_(folder), work_name_(work_name), login_(login) {}

  HostEnd run() {
    HostEnd end;
    for (int tries = 0; tries <= options_.retries; ++tries) {
      try {
        return run_once();
      } catch (const ConnectionLost& error) {
        end.lost = error.what();
      } catch (const std::exception& error) {
        end.lost = error.what();
        break;
      }
      if (interrupt::received() != 0) break;
    }
    return end;
  }

 private:
  HostEnd run_once() {
    BoardShell shell(host_.login);
    {
      // Serialized, because connecting may prompt for a password or host key.
      const std::lock_guard<std::mutex> one(login_);
      shell.connect();
    }
    const fs::path part = folder_ / "node.part";
    std::error_code ignored;
    fs::remove(part, ignored);
    Answer answer(part);
    AtomicFile log(folder_ / "log");
    std::uint64_t log_bytes = 0;
    std::string errors;
    std::vector<std::string> words = {options_.msprof, work_name_, std::to_string(options_.jobs)};
    words.insert(words.end(), options_.folders.begin(), options_.folders.end());
    const auto command = shell.start(
        kRunThere, words, [&](std::string_view bytes) { answer.take(bytes); },
        [&](std::string_view bytes) {
          log_bytes += bytes.size();
          if (log_bytes <= kMaxLogBytes) log.write(bytes);
          errors.append(bytes);
          if (errors.size() > 4096) errors.erase(0, errors.size() - 4096);
        });
    const std::optional<CommandEnd> ended = wait_for(*command);
    log.commit();
    if (!ended) throw Error(Exit::interrupted, "interrupted");
    HostEnd end;
    if (!answer.has_header() || answer.code == kNotFound) {
      throw Error(Exit::board_unreachable,
                  answer.has_header()
                      ? fmt::format("{} not found; use --remote-msprof PATH", options_.msprof)
                      : fmt::format("ended without an answer: {}", printable(trim(errors))));
    }
    end.has_part = answer.finish();
    end.report = parse_host_report(answer.report, host_.login.name());
    if (!end.has_part && end.report.results.empty() && end.report.lost.empty())
      end.lost = fmt::format("msprof on the host ended with exit code {}: {}", answer.code,
                             printable(trim(errors)));
    return end;
  }

  // Returns empty after Ctrl-C, after asking the host to stop.
  static std::optional<CommandEnd> wait_for(SshCommand& command) {
    std::optional<Clock::time_point> limit;
    for (;;) {
      if (auto end = command.wait(kHostPoll)) return limit ? std::nullopt : end;
      if (interrupt::received() == 0) continue;
      if (!limit) {
        command.close_input();
        limit = Clock::now() + kHostFarewell;
      }
      if (Clock::now() > *limit) return std::nullopt;
    }
  }

  const BoardConfig& host_;
  const SshRunOptions& options_;
  fs::path folder_;
  std::string work_name_;
  std::mutex& login_;
};

}  // namespace

std::vector<BoardConfig> parse_hosts(std::string_view text, const std::string& name,
                                     const std::string& user) {
  std::vector<BoardConfig> hosts;
  std::set<std::string> seen;
  std::size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    BoardConfig host;
    host.login.user = user;
    try {
      set_host(host, line);
    } catch (const Error& error) {
      throw error.with_context(fmt::format("{}, line {}", name, number));
    }
    if (!seen.insert(host.login.name()).second) {
      throw Error(Exit::usage,
                  fmt::format("{}, line {}: {} is listed twice", name, number, host.login.name()));
    }
    hosts.push_back(std::move(host));
  }
  if (hosts.empty()) throw Error(Exit::usage, fmt::format("{} lists no hosts", name));
  return hosts;
}

RunReport parse_host_report(const std::string& text, const std::string& host) {
  RunReport report;
  try {
    const json document = json::parse(text);
    for (const json& one : document.value("captures", json::array())) {
      CaptureResult result;
      result.capture.folder = one.at("folder").get<std::string>();
      const std::string outcome = one.at("outcome").get<std::string>();
      result.outcome = outcome == "failed"    ? PartOutcome::failed
                       : outcome == "partial" ? PartOutcome::partial
                       : outcome == "made"    ? PartOutcome::made
                                              : PartOutcome::current;
      result.exit = result.outcome == PartOutcome::partial  ? Exit::partial_data
                    : result.outcome == PartOutcome::failed ? Exit::nothing_to_do
                                                            : Exit::ok;
      result.reason = one.value("reason", "");
      result.node = host;
      report.results.push_back(std::move(result));
    }
    for (const json& one : document.value("problems", json::array())) {
      report.problems.push_back(
          {one.at("path").get<std::string>(),
           fmt::format("{} (on {})", one.at("reason").get<std::string>(), host)});
    }
    const std::string error = document.value("error", "");
    if (!error.empty() && report.results.empty()) report.lost.push_back({host, error});
  } catch (const json::exception& error) {
    throw Error(Exit::partial_data, fmt::format("its report is invalid: {}", error.what()));
  }
  return report;
}

RunReport run_over_ssh(const fs::path& output, const std::vector<BoardConfig>& hosts,
                       const SshRunOptions& options, std::vector<fs::path>& node_parts) {
  // Depends only on the output and the folders, so that a repeated run finds its existing parts.
  std::string of_run = output.native();
  for (const std::string& folder : options.folders) of_run += "\n" + folder;
  const std::string work_name = fmt::format("{:016x}", fnv1a(of_run));
  std::vector<fs::path> folders;
  for (const BoardConfig& host : hosts) {
    folders.push_back(node_folder(output, host.login.name()));
    create_output_folder(folders.back());
  }
  std::vector<HostEnd> ends(hosts.size());
  std::mutex login;
  std::atomic<std::size_t> done{0};
  {
    CountedProgress progress("hosts", hosts.size());
    auto runs = std::async(std::launch::async, [&] {
      in_parallel(hosts.size(), options.parallel, [&](std::size_t i, std::size_t) {
        if (interrupt::received() == 0)
          ends[i] = HostRun(hosts[i], options, folders[i], work_name, login).run();
        ++done;
      });
    });
    while (runs.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
      progress.update(done, 0);
    runs.get();
  }
  interrupt::check();
  RunReport report;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (CaptureResult& one : ends[i].report.results) report.results.push_back(std::move(one));
    for (SearchProblem& one : ends[i].report.problems) report.problems.push_back(std::move(one));
    for (LostNode& one : ends[i].report.lost) report.lost.push_back(std::move(one));
    if (!ends[i].lost.empty()) report.lost.push_back({hosts[i].login.name(), ends[i].lost});
    if (ends[i].has_part) node_parts.push_back(folders[i] / "node.part");
  }
  return report;
}

}  // namespace msprof::cluster
