#include "cluster/run/slurm_client.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace msprof::cluster {

namespace {

constexpr std::chrono::seconds kToolLimit{120};
constexpr std::size_t kGroupSize = 8;  // captures per task; one typical training node has as many
constexpr std::size_t kJobShare = 2;   // use at most one half of the cluster's job limit

std::string ask(const std::vector<std::string>& arguments) {
  const ToolAnswer answer = run_tool(arguments, kToolLimit);
  if (answer.has_succeeded()) return answer.out;
  throw Error(Exit::board_unreachable,
              fmt::format("Slurm: {} failed: {}", arguments.front(), answer.reason()));
}

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

bool is_number(std::string_view text) {
  std::uint64_t number = 0;
  return parse_u64(text, number);
}

}  // namespace

SlurmLimits parse_limits(const std::string& text) {
  SlurmLimits limits;
  for (const std::string_view line : split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, equals));
    std::uint64_t value = 0;
    if (!parse_u64(trim(line.substr(equals + 1)), value)) continue;
    if (key == "MaxArraySize") limits.max_array_size = value;
    if (key == "MaxJobCount") limits.max_job_count = value;
  }
  return limits;
}

bool SlurmNode::is_usable() const {
  // A suffix after the state: "*" means not responding (unusable), "~" powered down (usable).
  if (state.ends_with('*')) return false;
  return state.starts_with("idle") || state.starts_with("mix") || state.starts_with("alloc") ||
         state.starts_with("comp") || state.starts_with("plnd");
}

std::vector<SlurmNode> parse_nodes(const std::string& text) {
  std::vector<SlurmNode> nodes;
  std::set<std::string> seen;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_words(line);
    SlurmNode node;
    if (words.size() != 3 || !parse_u64(words[1], node.cpus)) continue;
    node.name = words[0];
    node.state = words[2];
    if (seen.insert(node.name).second) nodes.push_back(std::move(node));
  }
  return nodes;
}

SlurmGroups plan_groups(std::size_t captures, std::size_t nodes, const SlurmLimits& limits,
                        std::size_t size) {
  SlurmGroups groups;
  if (captures == 0) return groups;
  const std::uint64_t allowed =
      std::max<std::uint64_t>(1, std::min(limits.max_array_size, limits.max_job_count / kJobShare));
  const auto divided = [](std::size_t a, std::size_t b) { return a / b + (a % b != 0 ? 1 : 0); };
  const std::size_t fair = divided(captures, std::max<std::size_t>(1, nodes));
  groups.size = size != 0 ? size : std::clamp<std::size_t>(fair, 2, kGroupSize);
  groups.size = std::max(groups.size, divided(captures, static_cast<std::size_t>(allowed)));
  groups.count = divided(captures, groups.size);
  return groups;
}

std::string index_list(const std::set<std::size_t>& indices) {
  std::string list;
  for (auto at = indices.begin(); at != indices.end();) {
    const std::size_t first = *at;
    std::size_t last = first;
    while (++at != indices.end() && *at == last + 1) ++last;
    list += fmt::format("{}{}", list.empty() ? "" : ",", first);
    if (last != first) list += fmt::format("-{}", last);
  }
  return list;
}

SlurmLimits SlurmClient::limits() const {
  return parse_limits(ask({"scontrol", "show", "config"}));
}

std::vector<SlurmNode> SlurmClient::nodes(const std::string& list) const {
  std::vector<std::string> arguments = {"sinfo", "-h", "-N", "-o", "%N %c %t"};
  if (!list.empty()) arguments.push_back("--nodes=" + list);
  return parse_nodes(ask(arguments));
}

std::vector<std::string> SlurmClient::expand_nodes(const std::string& list) const {
  if (list.empty() || list.starts_with('-'))
    throw Error(Exit::usage, fmt::format("'{}' is not a node list", printable(list)));
  const std::string answer = ask({"scontrol", "show", "hostnames", list});
  std::vector<std::string> names;
  for (const std::string_view line : split(answer, '\n')) {
    if (!trim(line).empty()) names.emplace_back(trim(line));
  }
  return names;
}

SlurmClient::JobNodes SlurmClient::read_job_nodes(const std::string& job) const {
  if (!is_number(job))
    throw Error(Exit::usage, fmt::format("'{}' is not a Slurm job number", printable(job)));
  const ToolAnswer answer = run_tool({"scontrol", "show", "job", "--oneliner", job}, kToolLimit);
  JobNodes nodes;
  for (const std::string_view word :
       split_words(answer.has_succeeded() ? answer.out.substr(0, 1 << 16) : "")) {
    if (word.starts_with("NodeList=")) nodes.list = word.substr(9);
    if (word.starts_with("JobState=")) nodes.is_running = word.substr(9) == "RUNNING";
  }
  if (nodes.list.empty() || nodes.list == "(null)") {
    throw Error(Exit::nothing_to_do,
                fmt::format("Slurm has no nodes for job {}: {}. Give them with --nodelist", job,
                            answer.has_succeeded() ? "it has not started" : answer.reason()));
  }
  return nodes;
}

std::string SlurmClient::submit(const SlurmJob& job) const {
  std::vector<std::string> arguments = {"sbatch", "--parsable"};
  arguments.insert(arguments.end(), job.arguments.begin(), job.arguments.end());
  arguments.insert(arguments.end(), extra_.begin(), extra_.end());
  arguments.push_back(job.script.string());
  arguments.insert(arguments.end(), job.words.begin(), job.words.end());
  const std::string answer = ask(arguments);
  // "4711" or "4711;cluster".
  const std::string_view first = trim(std::string_view(answer).substr(0, answer.find(';')));
  if (!is_number(first)) {
    throw Error(Exit::board_unreachable,
                fmt::format("Slurm: sbatch did not print a job number: {}", printable(answer)));
  }
  return std::string(first);
}

std::optional<std::map<std::string, std::size_t>> SlurmClient::queued(
    const std::vector<std::string>& jobs) const {
  // Lists all own jobs instead of `jobs`: squeue fails for job numbers that the controller has
  // forgotten. Prints one line per task.
  const ToolAnswer answer = run_tool({"squeue", "-h", "-r", "--me", "-o", "%F"}, kToolLimit);
  if (!answer.has_succeeded()) {
    log::verbose("squeue: {}", answer.reason());
    return std::nullopt;
  }
  std::map<std::string, std::size_t> tasks;
  for (const std::string& job : jobs) tasks[job] = 0;
  for (const std::string_view line : split(answer.out, '\n')) {
    const auto at = tasks.find(std::string(trim(line)));
    if (at != tasks.end()) ++at->second;
  }
  return tasks;
}

void SlurmClient::cancel(const std::vector<std::string>& jobs) const {
  if (jobs.empty()) return;
  std::vector<std::string> arguments = {"scancel", "--quiet"};
  arguments.insert(arguments.end(), jobs.begin(), jobs.end());
  try {
    const ToolAnswer answer = run_tool(arguments, kToolLimit, true);
    if (!answer.has_succeeded())
      log::warn("cannot cancel the jobs {}: {}", listed(jobs), answer.reason());
  } catch (const Error& error) {
    log::warn("{}", error.what());
  }
}

}  // namespace msprof::cluster
