// JumpHost: an SSH server on the way to another host. Provides connections through it as sockets of
// this process, served by a separate thread, so that an SSH session can use them like any socket.
// Internal to lib/ssh.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/file_reader.hpp"
#include "ssh/ssh_connection.hpp"
#include "ssh/ssh_loop.hpp"
#include "ssh/ssh_session.hpp"

namespace msprof {

class JumpHost {
 public:
  // Takes ownership of a session that has logged in with `login`.
  JumpHost(std::unique_ptr<SshSession> session, const SshLogin& login);
  // Closes its connections after sending the last bytes written to them.
  ~JumpHost();
  JumpHost(const JumpHost&) = delete;
  JumpHost& operator=(const JumpHost&) = delete;

  // Opens a connection to host and port of `target` and returns a non-blocking socket. Throws
  // ConnectFailure(unreachable) with the jump host's reason, Error(interrupted).
  FileDescriptor connect(const SshLogin& target);

  // Describes its failure, as part of a sentence; empty if it works.
  std::string trouble() const;

 private:
  struct FreeEvent {
    void operator()(ssh_event event) const { ssh_event_free(event); }
  };
  // A requested connection; shared by both threads.
  struct Request {
    std::string host;
    std::uint16_t port = 0;
    ssh_channel channel = nullptr;  // used by the thread only
    bool is_done = false;
    bool is_abandoned = false;
    std::string refusal;
    FileDescriptor socket;
  };
  struct Tunnel {
    ssh_channel channel = nullptr;
    FileDescriptor socket;
    std::string up;    // from the socket, not yet sent
    std::string down;  // from the host, not yet written to the socket
    bool has_up_ended = false;
    bool has_down_ended = false;
    bool is_broken = false;
    bool is_held = false;  // the last write accepted nothing: a key re-exchange is in progress
  };

  void run() noexcept;
  void work();
  void wait(int most_ms);
  void handle_packets();
  void open_requested();
  bool try_to_open(Request& request);
  void move_bytes();
  void move_up(Tunnel& tunnel);
  void move_down(Tunnel& tunnel);
  void drain();
  void end_all(const std::string& reason);
  void ring() const;
  bool can_send() const;
  bool can_move_up(const Tunnel& tunnel) const;

  const std::string name_;
  const SshPatience patience_;
  SshLane lane_;
  std::unique_ptr<ssh_event_struct, FreeEvent> event_;
  FileDescriptor bell_;
  std::vector<char> buffer_;
  std::list<Tunnel> tunnels_;                           // used by the thread only
  std::vector<std::shared_ptr<Request>> being_opened_;  // used by the thread only

  mutable std::mutex mutex_;
  std::condition_variable answered_;
  std::deque<std::shared_ptr<Request>> requests_;
  std::string end_reason_;  // reason why the jump host cannot be used any more
  std::atomic<bool> is_stopped_ = false;
  std::atomic<std::uint64_t> heard_at_ = 0;  // steady clock, in seconds
  std::thread thread_;
};

}  // namespace msprof
