#include "collect/cann/dynamic_session.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/log_stream.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "collect/arrival.hpp"
#include "collect/cann/cann_injection.hpp"
#include "collect/cann/sample_config.hpp"
#include "collect/local_host.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxTypedBytes = 4096;
constexpr std::chrono::seconds kFirstLimit{30};
constexpr const char* kKeyVariable = "DYNAMIC_PROFILING_KEY_PID";
constexpr const char* kWordsText =
    "start: record into a new folder; stop: stop recording; quit: stop recording and leave the "
    "application running; help: print this help";

const std::vector<std::string>& words() {
  static const std::vector<std::string> all = {"start", "stop", "quit", "help"};
  return all;
}

}  // namespace

std::optional<std::string> TypedLines::next() {
  if (lines_.empty()) read_more();
  if (lines_.empty()) return std::nullopt;
  std::string line = std::move(lines_.back());
  lines_.pop_back();
  return line;
}

void TypedLines::read_more() {
  pollfd fd = {fd_, POLLIN, 0};
  while (!is_at_end_ && ::poll(&fd, 1, 0) > 0) {
    std::array<char, kMaxTypedBytes> part;
    const ssize_t got = ::read(fd_, part.data(), part.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (got <= 0) {
      is_at_end_ = true;
      if (!unread_.empty()) unread_ += '\n';
    } else {
      unread_.append(part.data(), static_cast<std::size_t>(got));
    }
    for (auto end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
      lines_.insert(lines_.begin(), unread_.substr(0, end));
      unread_.erase(0, end + 1);
    }
    // A longer line is not a valid command, so the rest is dropped.
    if (unread_.size() > kMaxTypedBytes) unread_.resize(kMaxTypedBytes);
    if (!lines_.empty()) break;
  }
}

DynamicSession::DynamicSession(CollectorSettings settings, fs::path output)
    : settings_(std::move(settings)),
      output_(std::move(output)),
      typed_(STDIN_FILENO),
      is_terminal_(::isatty(STDIN_FILENO) != 0 &&
                   ::isatty(log::is_on_stdout() ? STDOUT_FILENO : STDERR_FILENO) != 0) {}

// Ends the line of the prompt before a message; the next prompt follows the messages.
template <typename... Args>
void DynamicSession::say(fmt::format_string<Args...> format, Args&&... args) {
  end_prompt();
  log::info(format, std::forward<Args>(args)...);
}

void DynamicSession::note(const std::string& sentence) {
  end_prompt();
  log::warn("{}", sentence);
  notes_.push_back(sentence);
}

// Scripts written for CANN's tool read its answers from stdout (docs/dynamic.md).
void DynamicSession::respond(std::string_view line) {
  if (log::is_on_stdout()) say("{}", line);
}

void DynamicSession::end_prompt() {
  if (is_prompting_) std::fputc('\n', log::is_on_stdout() ? stdout : stderr);
  is_prompting_ = false;
}

void DynamicSession::prompt() {
  const bool is_of_cann = log::is_on_stdout();
  if (is_prompting_ || is_over_ || log::level() < log::Level::normal) return;
  if (!is_terminal_ && !is_of_cann) return;
  std::FILE* const stream = is_of_cann ? stdout : stderr;
  std::fputs(is_of_cann ? "(msprof) " : "start, stop, quit> ", stream);
  std::fflush(stream);
  is_prompting_ = true;
}

void DynamicSession::greet() {
  if (is_terminal_) say("{}", kWordsText);
}

bool DynamicSession::has(pid_t process) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Member& member) { return member.client.process() == process; });
}

bool DynamicSession::is_any_there() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.is_there; });
}

void DynamicSession::add(pid_t process) {
  members_.push_back({DynamicClient(process), {}, true});
  if (wants_recording_) start(members_.back());
}

void DynamicSession::wait(std::chrono::milliseconds limit) const {
  std::vector<pollfd> fds;
  if (!typed_.is_at_end() && !is_over_) fds.push_back({typed_.descriptor(), POLLIN, 0});
  for (const Member& member : members_) {
    if (member.is_there) fds.push_back({member.client.descriptor(), POLLIN, 0});
  }
  ::poll(fds.data(), fds.size(), static_cast<int>(limit.count()));
}

void DynamicSession::look(bool waits_for_first) {
  hear();
  while (!is_over_) {
    const bool waits = waits_for_first && members_.empty() && Clock::now() < held_until_;
    if (held_ && waits) break;
    if (held_) {
      if (members_.empty())
        say("no process has called aclInit for {} s: recording starts as soon as one does",
            kFirstLimit.count());
      held_.reset();
      start();
      continue;
    }
    const auto line = typed_.next();
    if (!line) {
      if (typed_.is_at_end()) quit();
      break;
    }
    if (is_terminal_) is_prompting_ = false;  // the user's newline ended the prompt
    if (waits_for_first && members_.empty() && trim(*line) == "start") {
      held_ = *line;
      held_until_ = Clock::now() + kFirstLimit;
      continue;
    }
    obey(std::string(trim(*line)));
  }
}

void DynamicSession::obey(const std::string& line) {
  if (line.empty()) return;
  if (line == "start") return start();
  if (line == "stop") return stop();
  if (line == "quit" || line == "q") return quit();
  if (line == "help") return say("{}", kWordsText);
  const std::string shown = shorten(printable(line), 40);
  const std::string near = did_you_mean(line.substr(0, kMaxTypedBytes), words());
  say("unknown command '{}'{}", shown, near.empty() ? "; enter start, stop, quit or help" : near);
}

void DynamicSession::start() {
  if (wants_recording_) {
    respond("[WARNING] dynamic profiling already started......");
    return say("already recording: enter stop first");
  }
  wants_recording_ = true;
  for (Member& member : members_) start(member);
  // If all applications refused, the next start tries again.
  if (is_any_there())
    wants_recording_ = std::any_of(members_.begin(), members_.end(),
                                   [](const Member& one) { return !one.folder.empty(); });
  if (!wants_recording_) respond("[ERROR] dynamic profiling start failed......");
}

void DynamicSession::start(Member& member) {
  if (!member.is_there) return;
  std::error_code error;
  const fs::path program =
      fs::read_symlink(fs::path("/proc") / std::to_string(member.client.process()) / "exe", error);
  const std::string config =
      sample_config(settings_, {program.string(), {}}, output_.string(), ::getpid());
  const DynamicAnswer answer = member.client.start(config);
  if (!answer.is_good)
    return note(fmt::format("{} is not recorded: {}", member.client.name(), answer.text));
  was_started_ = true;
  const std::string name = fs::path(answer.text).filename().string();
  member.folder = output_ / (is_capture_name(name) ? name : "unnamed");
  say("recording {} into {}", member.client.name(), printable(name));
  if (!std::exchange(has_answered_, true)) respond("dynamic profiling start success......");
}

void DynamicSession::stop() {
  if (!wants_recording_) {
    respond("[WARNING] dynamic profiling has not started......");
    return say("not recording: enter start first");
  }
  wants_recording_ = false;
  has_answered_ = false;
  for (Member& member : members_) {
    if (member.folder.empty()) continue;
    const DynamicAnswer answer = member.client.stop();
    if (!answer.is_good)
      note(fmt::format("{} did not stop normally: {}", member.client.name(), answer.text));
    end_folder(member);
  }
  respond("dynamic profiling stop success......");
}

void DynamicSession::end_folder(Member& member) {
  std::error_code error;
  const fs::path folder = std::exchange(member.folder, fs::path());
  if (folder.empty()) return;
  if (fs::is_directory(folder, error)) {
    complete_.push_back(folder);
    return;
  }
  note(fmt::format(
      "{} has recorded into {}, which is on another file system that msprof cannot access",
      member.client.name(), folder.string()));
}

void DynamicSession::hear() {
  for (Member& member : members_) {
    std::string said;
    if (!member.is_there || member.client.is_there(said)) continue;
    member.is_there = false;
    if (said.empty())
      say("{} has ended", member.client.name());
    else
      note(fmt::format("{}: {}", member.client.name(), said));
    end_folder(member);
  }
}

void DynamicSession::quit() {
  if (is_over_) return;
  is_over_ = true;
  if (is_terminal_) is_prompting_ = false;
  wants_recording_ = false;
  held_.reset();
  for (Member& member : members_) {
    if (!member.is_there) continue;
    const DynamicAnswer answer = member.client.quit();
    if (!answer.is_good && !member.folder.empty())
      note(fmt::format("{} did not stop normally: {}", member.client.name(), answer.text));
    member.is_there = false;
    end_folder(member);
  }
  respond("dynamic profiling quit success......");
}

std::vector<fs::path> DynamicSession::take_complete() {
  // The caller prints messages about the folders.
  if (!complete_.empty()) end_prompt();
  return std::exchange(complete_, {});
}

std::vector<std::string> DynamicSession::take_notes() {
  return std::exchange(notes_, {});
}

void DynamicCompanion::begin(const RunPaths& paths, RunCommand& command) {
  const char* const own = std::getenv("HOME");
  home_ = own == nullptr ? "/" : own;
  for (const std::string& entry : command.environment) {
    if (entry.starts_with("HOME=")) home_ = entry.substr(5);
  }
  command.environment.push_back(fmt::format("{}={}", kKeyVariable, ::getpid()));
  // Typed input is for the session, not the application.
  command.without_input = true;
  session_.emplace(settings_, paths.output);
  session_->greet();
}

void DynamicCompanion::find_applications() {
  for (const pid_t process : find_dynamic_processes(home_, ::getpid())) {
    const bool is_known = session_->has(process) ||
                          std::find(refused_.begin(), refused_.end(), process) != refused_.end();
    if (is_known) continue;
    try {
      session_->add(process);
    } catch (const Error& error) {
      // The process has just ended, or another session is connected to it.
      log::verbose("{}", error.what());
      refused_.push_back(process);
    }
  }
}

std::vector<fs::path> DynamicCompanion::tick() {
  if (session_->is_over()) return {};
  session_->prompt();
  find_applications();
  if (interrupt::received() != 0)
    session_->quit();
  else
    session_->look(true);
  return session_->take_complete();
}

std::vector<std::string> DynamicCompanion::finish() {
  session_->end_prompt();
  std::vector<std::string> notes = session_->take_notes();
  if (!session_->was_started()) log::info("nothing was recorded: start was not entered in time");
  session_.reset();
  return notes;
}

void run_dynamic_session(const DynamicRequest& request, CollectResult& result) {
  const fs::path output = fs::weakly_canonical(fs::current_path() / request.output.value_or("."));
  const Staging staging(output);
  const fs::path folder = staging.path() / "dynamic";
  fs::create_directories(folder);
  DynamicSession session(request.settings, folder);
  for (const pid_t process : request.processes) {
    session.add(process);
    result.main += (result.main.empty() ? "" : ", ") + process_name(process);
  }
  result.host_facts = facts_here();
  result.begin_ns = wall_clock_ns();
  const auto begin = Clock::now();
  const interrupt::DeferSecondSignal deferred;
  const auto publish = [&] {
    for (const fs::path& capture : session.take_complete()) {
      for (std::string& note : check_done_files(capture)) result.notes.push_back(std::move(note));
      const fs::path path = staging.publish(capture, capture.filename().string());
      result.captures.push_back({path, has_data_folder(path), process_label(path)});
      const std::string& label = result.captures.back().label;
      log::info("capture: {}{}", path.string(), label.empty() ? "" : fmt::format(" ({})", label));
    }
  };
  log::info("connected to {}", result.main);
  session.greet();
  for (;;) {
    if (interrupt::received() != 0) {
      result.outcome.was_interrupted = true;
      session.quit();
    } else {
      session.look(false);
    }
    publish();
    if (session.is_over() || !session.is_any_there()) break;
    session.prompt();
    session.wait(std::chrono::milliseconds(100));
  }
  session.end_prompt();
  for (std::string& note : session.take_notes()) result.notes.push_back(std::move(note));
  result.outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  result.end_ns = wall_clock_ns();
  result.steps.push_back({"session", result.outcome.seconds});
  result.exit_code = result.outcome.was_interrupted ? Exit::interrupted : Exit::ok;
  if (!result.notes.empty()) result.exit_code = gravest(result.exit_code, Exit::partial_data);
  const bool has_data = std::any_of(result.captures.begin(), result.captures.end(),
                                    [](const CollectedCapture& one) { return one.has_data; });
  if (has_data) return;
  result.exit_code = gravest(result.exit_code, Exit::nothing_to_do);
  result.problem = session.was_started() ? "the session left no PROF folder"
                                         : "nothing was recorded: start was not entered";
  log::error("{}", result.problem);
}

}  // namespace msprof
