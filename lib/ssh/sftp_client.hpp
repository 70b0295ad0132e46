// SftpClient: accesses files of a host over SFTP, with several requests in flight. Internal to
// lib/ssh; tests also run it over a command that simulates a limited server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "ssh/sftp_wire.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof::sftp {

// The SFTP service ended while the connection is still alive.
class ServiceEnded : public Error {
 public:
  explicit ServiceEnded(const std::string& message) : Error(Exit::partial_data, message) {}
};

// Requests and replies of SFTP over a command's streams.
//
// Does not use libssh's sftp functions: they wait without limit, write one packet per round trip,
// and their asynchronous read silently loses bytes if a server returns less than requested.
class Transport {
 public:
  // Starts the service with its stdout connected to the sink; returns null if the host has none.
  using Start = std::function<std::unique_ptr<SshCommand>(StreamSink)>;

  // `name` is the host's name for messages.
  Transport(Start start, std::string name, const SshPatience& patience)
      : start_(std::move(start)), name_(std::move(name)), silence_(patience.silence_seconds) {}

  // Starts or restarts the service and negotiates the version. Returns false if there is no
  // service.
  bool open() {
    begin();
    return agree();
  }
  // The two halves of open(): send the request, receive the answer.
  void begin();
  bool agree();
  // Restarts the service if it has ended; throws ServiceEnded if that fails.
  void ensure_open();

  std::uint32_t new_id() { return ++last_id_; }
  // Queues a packet; next() sends the queue.
  void send(Request&& request) {
    outgoing_ += std::move(request).finish();
    ++unanswered_;
  }

  // Returns the next reply, to any request; its texts are valid until the next call. Returns
  // nullopt after `silence` without traffic. Throws ServiceEnded, ConnectionLost, TooMuchSent if
  // the host sends far more replies than requested.
  std::optional<Reply> next(std::chrono::duration<double> silence);
  // Returns the reply to request `id` and drops others. Also throws ConnectionLost if the service
  // is silent for silence().
  Reply wait_for(std::uint32_t id);
  // Sends as much of the queue as the host accepts now.
  void flush();

  const std::string& name() const { return name_; }
  std::chrono::duration<double> silence() const { return silence_; }  // from SshPatience
  [[noreturn]] void throw_silent() const;

 private:
  void wait_for_end();
  bool parse(Reply& reply);
  std::optional<std::string_view> packet();

  Start start_;
  std::string name_;
  std::chrono::duration<double> silence_;
  std::unique_ptr<SshCommand> command_;
  std::string outgoing_;
  std::size_t sent_ = 0;  // sent bytes of outgoing_
  std::string arriving_;  // filled during wait()
  std::string handling_;  // replies point into it
  std::size_t read_ = 0;  // bytes of handling_ that are parsed
  std::uint32_t last_id_ = 0;
  std::int64_t unanswered_ = 0;  // number of requests; negative: more replies than requests
  bool has_ended_ = false;
};

class SftpClient : public SftpFiles {
 public:
  // Sends the request; agree() waits for the answer.
  static std::unique_ptr<SftpClient> begin(Transport::Start start, const std::string& name,
                                           const SshPatience& patience);

  bool agree() override { return transport_.agree(); }
  void send_waiting() override { transport_.flush(); }
  std::vector<RemoteEntry> list(const std::string& folder) override;
  std::uint64_t read_from(const std::string& path, std::uint64_t from, std::uint64_t most_bytes,
                          const std::function<void(std::string_view)>& sink) override;
  void write(const std::string& path, std::uint32_t mode,
             const std::function<std::size_t(char* buffer, std::size_t size)>& source) override;
  void set_times(const std::string& path, std::int64_t mtime_seconds) override;
  void make_folder(const std::string& path, std::uint32_t mode) override;
  void make_link(const std::string& path, const std::string& target) override;
  void set_window(SftpWindow window) override { window_ = window; }

 private:
  explicit SftpClient(Transport transport) : transport_(std::move(transport)) {}

  Reply ask(Type type, const std::string& path);
  std::string read_handle(std::uint32_t id, const std::string& path);
  std::string open_file(const std::string& path, std::uint32_t flags, const Attributes& attributes);
  void close_unasked(const std::string& handle);
  std::uint32_t send_remove(const std::string& path);
  void set_attributes(const std::string& path, const Attributes& attributes);
  void expect_ok(const Reply& reply, const std::string& path) const;
  void send_blocks(const std::string& handle, const std::string& path,
                   const std::function<std::size_t(char* buffer, std::size_t size)>& source);
  void drain(std::set<std::uint32_t>& open_ids, std::size_t most, const std::string& path);
  [[noreturn]] void fail(const Reply& reply, const std::string& path) const;

  Transport transport_;
  SftpWindow window_;
};

}  // namespace msprof::sftp
