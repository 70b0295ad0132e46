// JumpHost: an SSH server on the way to another host. It gives connections through it as sockets of
// this process, which a thread of its own feeds; a session on such a socket knows nothing of it.
// Inside lib/ssh.
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
  // Takes a session over that has logged in with `login`.
  JumpHost(std::unique_ptr<SshSession> session, const SshLogin& login);
  // Ends its connections, after what was last written to them.
  ~JumpHost();
  JumpHost(const JumpHost&) = delete;
  JumpHost& operator=(const JumpHost&) = delete;

  // Opens a connection to host and port of `target`: a socket that does not block. Throws
  // ConnectFailure(unreachable) with what the jump host says, Error(interrupted).
  FileDescriptor connect(const SshLogin& target);

  // What is wrong with it, as a part of a sentence; empty: nothing.
  std::string trouble() const;

 private:
  struct FreeEvent {
    void operator()(ssh_event event) const { ssh_event_free(event); }
  };
  // One connection that is asked for; both threads have it.
  struct Request {
    std::string host;
    std::uint16_t port = 0;
    ssh_channel channel = nullptr;  // of the thread alone
    bool is_done = false;
    bool is_abandoned = false;
    std::string refusal;
    FileDescriptor socket;
  };
  struct Tunnel {
    ssh_channel channel = nullptr;
    FileDescriptor socket;
    std::string up;    // from the socket, not sent yet
    std::string down;  // from the host, not given to the socket yet
    bool up_ended = false;
    bool down_ended = false;
    bool is_broken = false;
    bool is_held = false;  // the last write took nothing: new keys are being exchanged
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
  std::list<Tunnel> tunnels_;                           // of the thread alone
  std::vector<std::shared_ptr<Request>> being_opened_;  // likewise

  mutable std::mutex mutex_;
  std::condition_variable answered_;
  std::deque<std::shared_ptr<Request>> requests_;
  std::string end_reason_;  // why it is of no use any more
  std::atomic<bool> stopped_ = false;
  std::atomic<std::uint64_t> heard_at_ = 0;  // steady clock, in seconds
  std::thread thread_;
};

}  // namespace msprof
