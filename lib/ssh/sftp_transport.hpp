// SftpTransport: requests and replies of SFTP over a command's streams. Inside lib/ssh.
//
// Not the library's own sftp functions: those wait without limit, write one packet a round trip,
// and its asynchronous read loses bytes without a word where a server answers short.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ssh/sftp_wire.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof::sftp {

// The file service ended while the connection still stands.
class ServiceEnded : public Error {
 public:
  explicit ServiceEnded(const std::string& message) : Error(Exit::partial_data, message) {}
};

class Transport {
 public:
  // Starts the service, its stdout going to the sink; null where the host has none.
  using Start = std::function<std::unique_ptr<SshCommand>(StreamSink)>;

  // `name` is that of the host, for messages.
  Transport(Start start, std::string name) : start_(std::move(start)), name_(std::move(name)) {}

  // Starts the service (anew) and agrees on the version. False where there is none.
  bool open();
  // Starts it again where it has ended; throws ServiceEnded when it does not come back.
  void ensure_open();

  std::uint32_t new_id() { return ++last_id_; }
  // Queues a packet; next() sends what is queued.
  void send(Request&& request) { outgoing_ += std::move(request).finish(); }

  // The next reply, whatever request it is for; its texts live until the next call. Empty when
  // nothing moved for `silence`. Throws ServiceEnded, ConnectionLost.
  std::optional<Reply> next(std::chrono::seconds silence);
  // The reply to the request `id`; others are dropped. Throws ConnectionLost also when the service
  // stays silent for kSilenceSeconds.
  Reply wait_for(std::uint32_t id);
  // Sends what is queued as far as the host takes it now.
  void flush();

  const std::string& name() const { return name_; }
  [[noreturn]] void throw_silent() const;

 private:
  void wait_for_end();
  bool parse(Reply& reply);
  std::optional<std::string_view> packet();

  Start start_;
  std::string name_;
  std::unique_ptr<SshCommand> command_;
  std::string outgoing_;
  std::size_t sent_ = 0;  // of outgoing_
  std::string arriving_;  // filled from within wait()
  std::string handling_;  // replies point into it
  std::size_t read_ = 0;  // of handling_
  std::uint32_t last_id_ = 0;
  bool ended_ = false;
};

}  // namespace msprof::sftp
