#include "ssh/sftp_client.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/text.hpp"

namespace msprof::sftp {

namespace {

std::uint32_t unsigned_seconds(std::int64_t seconds) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(seconds, 0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::unique_ptr<SftpClient> SftpClient::open(Transport::Start start, const std::string& name) {
  // On the heap before it is opened: its sink holds its address.
  std::unique_ptr<SftpClient> client(new SftpClient(Transport(std::move(start), name)));
  if (!client->transport_.open()) return nullptr;
  return client;
}

void SftpClient::fail(const Reply& reply, const std::string& path) const {
  throw Error(Exit::partial_data,
              fmt::format("{}: {}: {}", transport_.name(), printable(path), reason_of(reply)));
}

void SftpClient::expect_ok(const Reply& reply, const std::string& path) const {
  Fields body = reply.body;
  if (reply.type != Type::status || body.u32() != kOk || body.overrun()) fail(reply, path);
}

Reply SftpClient::ask(Type type, const std::string& path) {
  const std::uint32_t id = transport_.new_id();
  transport_.send(std::move(Request(type, id).text(path)));
  return transport_.wait_for(id);
}

std::string SftpClient::handle_of(std::uint32_t id, const std::string& path) {
  Reply reply = transport_.wait_for(id);
  if (reply.type != Type::handle) fail(reply, path);
  return std::string(reply.body.text());
}

std::string SftpClient::open_file(const std::string& path, std::uint32_t flags,
                                  const Attributes& attributes) {
  const std::uint32_t id = transport_.new_id();
  transport_.send(std::move(Request(Type::open, id).text(path).u32(flags).attributes(attributes)));
  return handle_of(id, path);
}

// Where nothing depends on the answer, it is not waited for.
void SftpClient::close_unasked(const std::string& handle) {
  transport_.send(std::move(Request(Type::close, transport_.new_id()).text(handle)));
  transport_.flush();
}

std::uint32_t SftpClient::send_remove(const std::string& path) {
  const std::uint32_t id = transport_.new_id();
  transport_.send(std::move(Request(Type::remove, id).text(path)));
  return id;
}

void SftpClient::set_attributes(const std::string& path, const Attributes& attributes) {
  const std::uint32_t id = transport_.new_id();
  transport_.send(std::move(Request(Type::setstat, id).text(path).attributes(attributes)));
  expect_ok(transport_.wait_for(id), path);
}

void SftpClient::set_times(const std::string& path, std::int64_t mtime_seconds) {
  transport_.ensure_open();
  set_attributes(path, {.mtime_seconds = unsigned_seconds(mtime_seconds)});
}

void SftpClient::make_folder(const std::string& path, std::uint32_t mode) {
  transport_.ensure_open();
  const std::uint32_t id = transport_.new_id();
  transport_.send(std::move(Request(Type::mkdir, id).text(path).attributes({.mode = mode})));
  const Reply reply = transport_.wait_for(id);
  if (Fields body = reply.body; reply.type != Type::status || body.u32() != kOk) {
    const std::string reason = reason_of(reply);
    Reply there = ask(Type::lstat, path);
    const bool is_folder =
        there.type == Type::attrs && S_ISDIR(there.body.attributes().mode.value_or(0));
    if (!is_folder) {
      throw Error(Exit::partial_data, fmt::format("{}: {}: the folder cannot be made: {}",
                                                  transport_.name(), printable(path), reason));
    }
  }
  // The board's umask has taken bits away.
  set_attributes(path, {.mode = mode});
}

// OpenSSH's order of the two paths is the reverse of the draft's, and other servers follow it;
// libssh decides by the name of the SSH server, which is dropbear where its sftp-server is
// OpenSSH's.
void SftpClient::make_link(const std::string& path, const std::string& target) {
  transport_.ensure_open();
  send_remove(path);
  const std::uint32_t id = transport_.new_id();
  transport_.send(std::move(Request(Type::symlink, id).text(target).text(path)));
  expect_ok(transport_.wait_for(id), path);
}

std::vector<RemoteEntry> SftpClient::list(const std::string& folder) {
  transport_.ensure_open();
  const std::uint32_t open_id = transport_.new_id();
  transport_.send(std::move(Request(Type::opendir, open_id).text(folder)));
  const std::string handle = handle_of(open_id, folder);
  std::vector<RemoteEntry> entries;
  std::vector<std::size_t> without_mode;
  std::unordered_set<std::string> seen;
  // One request at a time: a server that is asked again after the end may begin anew, as OpenSSH
  // does on some file systems; nothing new is the end, too.
  for (bool is_new = true; is_new;) {
    is_new = false;
    const std::uint32_t id = transport_.new_id();
    transport_.send(std::move(Request(Type::readdir, id).text(handle)));
    Reply reply = transport_.wait_for(id);
    if (Fields body = reply.body; reply.type == Type::status && body.u32() == kEof) break;
    if (reply.type != Type::name) {
      close_unasked(handle);
      fail(reply, folder);
    }
    for (std::uint32_t count = reply.body.u32(); count > 0; --count) {
      const std::string_view name = reply.body.text();
      reply.body.text();  // as `ls -l` shows it
      const Attributes attributes = reply.body.attributes();
      if (reply.body.overrun()) fail(reply, folder);
      if (!seen.emplace(name).second) continue;
      is_new = true;
      if (name == "." || name == "..") continue;
      if (!attributes.mode) without_mode.push_back(entries.size());
      entries.push_back(entry_of(name, attributes));
    }
  }
  close_unasked(handle);
  for (const std::size_t index : without_mode) {
    Reply reply = ask(Type::lstat, folder + "/" + entries[index].name);
    if (reply.type != Type::attrs) continue;  // gone meanwhile: it stays of unknown kind
    const std::string name = entries[index].name;
    entries[index] = entry_of(name, reply.body.attributes());
  }
  return entries;
}

// Waits until at most `most` of the requests are unanswered; each must have been fulfilled.
void SftpClient::settle(std::set<std::uint32_t>& open_ids, std::size_t most,
                        const std::string& path) {
  while (open_ids.size() > most) {
    const auto reply = transport_.next(std::chrono::seconds(kSilenceSeconds));
    if (!reply) transport_.throw_silent();
    if (open_ids.erase(reply->id) != 0) expect_ok(*reply, path);
  }
}

void SftpClient::send_blocks(
    const std::string& handle, const std::string& path,
    const std::function<std::size_t(char* buffer, std::size_t size)>& source) {
  const auto window = static_cast<std::size_t>(std::max(window_.requests, 1));
  std::vector<char> block(window_.bytes);
  std::set<std::uint32_t> open_ids;
  std::uint64_t offset = 0;
  while (const std::size_t size = source(block.data(), block.size())) {
    const std::uint32_t id = *open_ids.insert(transport_.new_id()).first;
    transport_.send(
        std::move(Request(Type::write, id).text(handle).u64(offset).text({block.data(), size})));
    offset += size;
    settle(open_ids, window - 1, path);
  }
  settle(open_ids, 0, path);
}

void SftpClient::write(const std::string& path, std::uint32_t mode,
                       const std::function<std::size_t(char* buffer, std::size_t size)>& source) {
  transport_.ensure_open();
  // Gone first: a file that is there may not be writable, or be a link to another.
  send_remove(path);
  const std::string handle =
      open_file(path, kOpenWrite | kOpenCreate | kOpenTruncate, {.mode = mode});
  try {
    send_blocks(handle, path, source);
  } catch (const ConnectionLost&) {
    throw;
  } catch (...) {
    close_unasked(handle);
    throw;
  }
  std::set<std::uint32_t> open_ids;
  const std::uint32_t mode_id = *open_ids.insert(transport_.new_id()).first;
  transport_.send(
      std::move(Request(Type::fsetstat, mode_id).text(handle).attributes({.mode = mode})));
  const std::uint32_t close_id = *open_ids.insert(transport_.new_id()).first;
  transport_.send(std::move(Request(Type::close, close_id).text(handle)));
  settle(open_ids, 0, path);
}

}  // namespace msprof::sftp
