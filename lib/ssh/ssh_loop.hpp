// SshLoop: handles the packets of a logged-in connection; SshChannel: one command or service on it.
// Internal to lib/ssh.
//
// libssh invokes callbacks during its packet handling, where exceptions and most libssh calls are
// not allowed. Channels therefore only buffer the data; after pump() has returned, deliver() passes
// it on.
#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ssh/ssh_connection.hpp"
#include "ssh/ssh_session.hpp"

namespace msprof {

// Detects a host whose SSH server is stuck while TCP still answers: a frozen board behind a port
// forwarding, or a stopped server.
class SshPulse {
 public:
  SshPulse(ssh_session session, const SshPatience& patience);
  SshPulse(const SshPulse&) = delete;
  SshPulse& operator=(const SshPulse&) = delete;

  // Call after each check of the connection: sends a probe if the server has been silent for a
  // while.
  void probe();
  // True if the server has not answered for SshPatience::stuck_seconds.
  bool is_stuck() const { return is_stuck_; }
  // Bytes received from the server so far.
  std::uint64_t heard_bytes() const { return socket_counter_.in_bytes; }

 private:
  using Clock = std::chrono::steady_clock;
  bool has_moved();
  void ask();

  ssh_session session_;
  const std::chrono::duration<double> ask_after_;
  const std::chrono::duration<double> stuck_after_;
  ssh_counter_struct socket_counter_ = {};
  ssh_counter_struct packet_counter_ = {};
  std::uint64_t heard_bytes_ = 0;
  int unsent_bytes_ = 0;  // in the kernel's send buffer
  Clock::time_point probed_at_;
  Clock::duration silence_{};
  bool has_asked_ = false;
  bool can_ask_ = true;
  bool is_stuck_ = false;
};

class SshLoop;

// A session of a connection and the number of its channels.
struct SshLane {
  SshLane(std::unique_ptr<SshSession> opened, const SshPatience& patience)
      : pulse(opened->get(), patience), session(std::move(opened)) {}
  // Any libssh call may handle packets of other channels. Call mark_seen() before examining the
  // channels, and do not sleep while has_unseen() is true.
  void mark_seen() { seen_bytes = pulse.heard_bytes(); }
  bool has_unseen() const { return pulse.heard_bytes() != seen_bytes; }
  SshPulse pulse;  // must precede the session, which updates its counters
  std::unique_ptr<SshSession> session;
  std::uint64_t seen_bytes = 0;
  int channels = 0;
  bool is_retired = false;  // has no channel, but its process may still run
};

class SshChannel : public SshCommand {
 public:
  // Request to the host: "exec" with the command `text`, or the subsystem `text`.
  enum class Request { exec, subsystem };
  struct Service {
    Request request = Request::exec;
    std::string text;
    std::optional<SshTerminal> terminal;
  };

  // Sends the request; wait() throws CommandRefused with the host's reason. Waits for the answer,
  // and throws it, only for a terminal or if the loop is not shared. A missing terminal is not a
  // refusal.
  static std::unique_ptr<SshChannel> open(const std::shared_ptr<SshLoop>& loop,
                                          const Service& service, const StreamSink& on_stdout,
                                          const StreamSink& on_stderr);
  ~SshChannel() override;
  SshChannel(const SshChannel&) = delete;
  SshChannel& operator=(const SshChannel&) = delete;

  bool has_terminal() const override { return has_terminal_; }
  void resize(const SshTerminal& terminal) override;
  std::size_t write(std::string_view bytes) override;
  void close_input() override;
  std::optional<CommandEnd> wait(std::chrono::milliseconds limit) override;
  std::optional<CommandEnd> reported_end() const override;

 private:
  friend class SshLoop;
  SshChannel(std::shared_ptr<SshLoop> loop, Service service, StreamSink on_stdout,
             StreamSink on_stderr);

  struct Stream {
    StreamSink sink;
    std::string waiting;   // received, not yet delivered
    std::string handling;  // being delivered; keeps its capacity for reuse
  };

  // The pending request (in this order), or the result.
  enum class Phase { channel, terminal, service, accepted, refused };

  void advance();
  int ask_host();
  void take_answer(int code);
  bool is_accepted();
  void check_silence() const;
  [[noreturn]] void throw_refused() const;
  bool is_waiting() const { return !out_.waiting.empty() || !err_.waiting.empty(); }
  bool can_write() const;
  void keep_window_open();
  void deliver();
  void deliver(Stream& stream);

  static int on_data(ssh_session session, ssh_channel channel, void* data, std::uint32_t length,
                     int is_stderr, void* self) noexcept;
  static void on_close(ssh_session session, ssh_channel channel, void* self) noexcept;
  static void on_exit_status(ssh_session session, ssh_channel channel, int status,
                             void* self) noexcept;
  static void on_exit_signal(ssh_session session, ssh_channel channel, const char* signal, int core,
                             const char* message, const char* language, void* self) noexcept;

  std::shared_ptr<SshLoop> loop_;  // a command may outlive the connection object
  SshLane& lane_;
  const Service service_;
  Phase phase_ = Phase::channel;
  bool has_asked_service_ = false;  // input may be sent from now on
  bool ends_input_ = false;         // close the input as soon as possible
  std::chrono::steady_clock::time_point asked_at_;
  std::string refusal_;
  ssh_channel handle_ = nullptr;  // null once the connection is closed
  ssh_channel_callbacks_struct callbacks_ = {};
  Stream out_;
  Stream err_;
  std::uint32_t unasked_bytes_ = 0;  // received since the window was last extended
  CommandEnd end_;
  bool has_terminal_ = false;
  bool is_closed_ = false;     // by the host
  bool wants_write_ = false;   // the last write() did not accept everything
  bool is_delivered_ = false;  // since the start of wait()
};

// One session for all channels; with dropbear, one session per concurrent process. When a process
// ends, dropbear may also close another channel that has no command yet; a later request on it
// terminates the server and all its commands.
class SshLoop {
 public:
  using OpenSession = std::function<std::unique_ptr<SshSession>()>;

  // `open_another` logs in again; `trouble` returns the problem of a jump host on the route, empty
  // if there is none.
  SshLoop(std::unique_ptr<SshSession> session, std::string name, const SshPatience& patience,
          OpenSession open_another, std::function<std::string()> trouble);
  ~SshLoop();
  SshLoop(const SshLoop&) = delete;
  SshLoop& operator=(const SshLoop&) = delete;

  // Ends the connection; its channels remain but cannot be used.
  void close();

  const std::string& name() const { return name_; }
  const SshPatience& patience() const { return patience_; }

  // Waits for events, at most `milliseconds`, and handles them, up to a few hundred KB.
  void pump(int milliseconds);
  // Delivers received data to the sinks of all channels. Throws what a sink throws.
  void deliver();
  bool is_waiting() const;
  bool is_alive() const { return !lanes_.empty() && find_dead_lane() == nullptr; }
  // Throws ConnectionLost if the connection is lost.
  void check() const;

  // True if commands can run concurrently in one session.
  bool is_shared() const { return !needs_one_process_each_; }
  // Throws for an unanswered request; `what`: "starting a command".
  [[noreturn]] void throw_silent(std::string_view what) const;

 private:
  friend class SshChannel;
  struct FreeEvent {
    void operator()(ssh_event event) const { ssh_event_free(event); }
  };

  SshLane& add_lane(std::unique_ptr<SshSession> session);
  SshLane& lane_for_channel();
  void drop_retired();
  const SshLane* find_dead_lane() const;
  ssh_channel take_channel(const SshSession& session);
  void open_spares(const SshSession& session);

  std::string name_;
  const SshPatience patience_;
  OpenSession open_another_;
  std::function<std::string()> trouble_;
  std::unique_ptr<ssh_event_struct, FreeEvent> event_;
  std::vector<std::unique_ptr<SshLane>> lanes_;
  bool needs_one_process_each_ = false;
  std::vector<SshChannel*> channels_;
  std::deque<ssh_channel> spares_;  // of a shared session: channels that are already open for the
                                    // next commands
  bool has_spares_ = true;          // the host accepts more channels than are in use
  std::size_t waiting_bytes_ = 0;   // bytes received in this pump()
  bool is_out_of_memory_ = false;
};

}  // namespace msprof
