// SftpClient: files of a host over SFTP, several requests in flight. Inside lib/ssh; tests also
// run it over a command that plays a weak server.
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

// The file service ended while the connection still stands.
class ServiceEnded : public Error {
 public:
  explicit ServiceEnded(const std::string& message) : Error(Exit::partial_data, message) {}
};

// Requests and replies of SFTP over a command's streams.
//
// Not the library's own sftp functions: those wait without limit, write one packet a round trip,
// and its asynchronous read loses bytes without a word where a server answers short.
class Transport {
 public:
  // Starts the service, its stdout going to the sink; null where the host has none.
  using Start = std::function<std::unique_ptr<SshCommand>(StreamSink)>;

  // `name` is that of the host, for messages.
  Transport(Start start, std::string name, const SshPatience& patience)
      : start_(std::move(start)), name_(std::move(name)), silence_(patience.silence_seconds) {}

  // Starts the service (anew) and agrees on the version. False where there is none.
  bool open() {
    begin();
    return agree();
  }
  // The two halves of that: what the host is asked, and its answer.
  void begin();
  bool agree();
  // Starts it again where it has ended; throws ServiceEnded when it does not come back.
  void ensure_open();

  std::uint32_t new_id() { return ++last_id_; }
  // Queues a packet; next() sends what is queued.
  void send(Request&& request) {
    outgoing_ += std::move(request).finish();
    ++unanswered_;
  }

  // The next reply, whatever request it is for; its texts live until the next call. Empty when
  // nothing moved for `silence`. Throws ServiceEnded, ConnectionLost, TooMuchSent where the host
  // answers far more than it was asked.
  std::optional<Reply> next(std::chrono::duration<double> silence);
  // The reply to the request `id`; others are dropped. Throws ConnectionLost also when the service
  // is silent for silence().
  Reply wait_for(std::uint32_t id);
  // Sends what is queued as far as the host takes it now.
  void flush();

  const std::string& name() const { return name_; }
  std::chrono::duration<double> silence() const { return silence_; }  // of SshPatience
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
  std::size_t sent_ = 0;  // of outgoing_
  std::string arriving_;  // filled from within wait()
  std::string handling_;  // replies point into it
  std::size_t read_ = 0;  // of handling_
  std::uint32_t last_id_ = 0;
  std::int64_t unanswered_ = 0;  // requests; below 0: there were more replies
  bool ended_ = false;
};

class SftpClient : public SftpFiles {
 public:
  // Null where the host has no file service.
  static std::unique_ptr<SftpClient> open(Transport::Start start, const std::string& name,
                                          const SshPatience& patience);
  // Asks for it; agree() has the answer.
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
  std::string handle_of(std::uint32_t id, const std::string& path);
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
