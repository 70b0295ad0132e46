// SftpClient: files of a host over SFTP, several requests in flight. Inside lib/ssh; tests also
// run it over a command that plays a weak server.
#pragma once

#include <set>

#include "ssh/sftp_files.hpp"
#include "ssh/sftp_transport.hpp"

namespace msprof::sftp {

class SftpClient : public SftpFiles {
 public:
  // Null where the host has no file service.
  static std::unique_ptr<SftpClient> open(Transport::Start start, const std::string& name);

  std::vector<RemoteEntry> list(const std::string& folder) override;
  std::uint64_t read(const std::string& path, std::uint64_t most_bytes,
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
  void settle(std::set<std::uint32_t>& open_ids, std::size_t most, const std::string& path);
  [[noreturn]] void fail(const Reply& reply, const std::string& path) const;

  Transport transport_;
  SftpWindow window_;
};

}  // namespace msprof::sftp
