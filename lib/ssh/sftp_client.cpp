#include "ssh/sftp_client.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>

#include "base/text.hpp"
#include "ssh/deadline.hpp"

namespace msprof::sftp {

namespace {

// OpenSSH sends at most 256 KB. A larger length is not a packet but text, such as a login shell's
// greeting.
constexpr std::uint32_t kMaxPacket = 1 << 20;
constexpr std::chrono::seconds kEndLimit{2};
// Limit for replies that match no request.
constexpr std::int64_t kMaxUnaskedReplies = 1000;
constexpr std::size_t kMaxHandle = 256;  // draft-ietf-secsh-filexfer-02, 6.1

std::uint32_t unsigned_seconds(std::int64_t seconds) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(seconds, 0, std::numeric_limits<std::uint32_t>::max()));
}

// Requests sent before the size is known: enough to read a small file in one round trip.
constexpr std::size_t kFirstRequests = 4;
// Pending requests without any answer for this fraction of silence() count as dropped by the
// server.
constexpr double kStallPart = 0.25;

// Reads a file sequentially through one handle, with several requests in flight. Ends at the end of
// the file or with an error; another Reading can then continue from there.
class Reading {
 public:
  enum class Outcome { at_end, stalled, failed };

  Reading(Transport& transport, SftpWindow window, std::string handle, std::uint64_t from,
          std::uint64_t most, const std::function<void(std::string_view)>& sink)
      : transport_(transport),
        window_(window),
        handle_(std::move(handle)),
        wanted_(from),
        given_(from),
        most_(most),
        sink_(sink) {}

  Outcome run() {
    stat_id_ = transport_.new_id();
    transport_.send(std::move(Request(Type::fstat, stat_id_).text(handle_)));
    for (;;) {
      request_more();
      if (has_ended_ && given_ >= end_) return Outcome::at_end;
      if (pieces_.empty()) return Outcome::at_end;
      const auto reply = transport_.next(transport_.silence() * kStallPart);
      if (!reply) return Outcome::stalled;
      if (!take(*reply)) return Outcome::failed;
      give();
    }
  }

  std::uint64_t given() const { return given_; }
  const std::string& reason() const { return reason_; }

 private:
  struct Piece {
    std::uint32_t id = 0;
    std::uint64_t length = 0;  // requested
    bool is_answered = false;
    std::string bytes;  // kept until the bytes before them arrive
  };
  using Pieces = std::map<std::uint64_t, Piece>;  // by offset

  void request(std::uint64_t offset, std::uint64_t length);
  void request_more();
  bool take(Reply reply);
  bool take_status(Pieces::iterator piece, const Reply& reply);
  bool take_data(Pieces::iterator piece, std::string_view bytes);
  void give();
  void end_at(std::uint64_t offset);

  Transport& transport_;
  SftpWindow window_;
  std::string handle_;
  std::uint64_t wanted_;  // end of the requested range
  std::uint64_t given_;   // end of the range passed to the sink
  std::uint64_t most_;
  const std::function<void(std::string_view)>& sink_;
  std::uint32_t stat_id_ = 0;
  std::optional<std::uint64_t> size_;  // as reported by the host; the file may have grown since
  bool has_ended_ = false;
  std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();
  Pieces pieces_;
  std::map<std::uint32_t, std::uint64_t> offsets_;  // offset of each unanswered request, by id
  std::string reason_;
};

void Reading::request(std::uint64_t offset, std::uint64_t length) {
  const std::uint32_t id = transport_.new_id();
  transport_.send(std::move(
      Request(Type::read, id).text(handle_).u64(offset).u32(static_cast<std::uint32_t>(length))));
  pieces_[offset] = Piece{id, length, false, {}};
  offsets_[id] = offset;
}

// Beyond the reported size, sends one request at a time to check whether the file has grown.
void Reading::request_more() {
  const auto window = static_cast<std::size_t>(std::max(window_.requests, 1));
  while (!has_ended_ && wanted_ < most_ && pieces_.size() < window) {
    if (!size_ && pieces_.size() >= kFirstRequests) return;
    if (size_ && wanted_ >= *size_ && !pieces_.empty() && pieces_.rbegin()->first >= *size_) return;
    const std::uint64_t length = std::min<std::uint64_t>(window_.bytes, most_ - wanted_);
    request(wanted_, length);
    wanted_ += length;
  }
}

bool Reading::take(Reply reply) {
  if (reply.id == stat_id_) {
    // If the size is unknown, each short answer is followed by another request.
    size_ = reply.type == Type::attrs ? reply.body.attributes().size_bytes : std::nullopt;
    if (!size_) size_ = std::numeric_limits<std::uint64_t>::max();
    return true;
  }
  const auto known = offsets_.find(reply.id);
  if (known == offsets_.end()) return true;  // reply to an abandoned request
  const auto piece = pieces_.find(known->second);
  offsets_.erase(known);
  if (piece == pieces_.end()) return true;  // beyond the end
  if (reply.type != Type::data) return take_status(piece, reply);
  const std::string_view bytes = reply.body.text();
  if (reply.body.has_overrun() || bytes.size() > piece->second.length) {
    reason_ = "the board's file service sent more data than requested";
    return false;
  }
  return take_data(piece, bytes);
}

bool Reading::take_status(Pieces::iterator piece, const Reply& reply) {
  Fields body = reply.body;
  if (reply.type != Type::status || body.u32() != kEof) {
    reason_ = failure_reason(reply);
    return false;
  }
  end_at(piece->first);
  return true;
}

// Drops chunks past the end, requested before it was known.
void Reading::end_at(std::uint64_t offset) {
  has_ended_ = true;
  end_ = std::min(end_, offset);
  pieces_.erase(pieces_.lower_bound(end_), pieces_.end());
}

bool Reading::take_data(Pieces::iterator piece, std::string_view bytes) {
  const std::uint64_t offset = piece->first;
  const std::uint64_t asked = piece->second.length;
  if (bytes.empty()) {
    end_at(offset);
    return true;
  }
  piece->second.is_answered = true;
  piece->second.length = bytes.size();
  if (offset == given_) {
    sink_(bytes);
    given_ += bytes.size();
    pieces_.erase(piece);
  } else {
    piece->second.bytes = bytes;
  }
  if (bytes.size() == asked) return true;
  // A short answer: the end of the file, or a server that returns less than requested.
  const std::uint64_t stop = offset + bytes.size();
  if (size_ && stop >= *size_) {
    end_at(stop);
  } else if (!has_ended_ || stop < end_) {
    request(stop, asked - bytes.size());
  }
  return true;
}

void Reading::give() {
  for (auto piece = pieces_.begin();
       piece != pieces_.end() && piece->first == given_ && piece->second.is_answered;
       piece = pieces_.erase(piece)) {
    sink_(piece->second.bytes);
    given_ += piece->second.bytes.size();
  }
}

}  // namespace

void Transport::begin() {
  command_.reset();
  outgoing_.clear();
  arriving_.clear();
  handling_.clear();
  sent_ = read_ = 0;
  unanswered_ = 0;
  has_ended_ = false;
  try {
    command_ = start_([this](std::string_view bytes) { arriving_ += bytes; });
  } catch (const CommandRefused&) {
    return;
  }
  if (!command_) return;
  send(Request(Type::init, kVersion));
  flush();
}

bool Transport::agree() {
  if (!command_) return false;
  try {
    // reply->id is the version; a server that is asked for version 3 answers 3.
    const auto reply = next(silence_);
    return reply && reply->type == Type::version && reply->id >= kVersion;
  } catch (const CommandRefused&) {
    return false;
  } catch (const ServiceEnded&) {
    wait_for_end();
    return false;
  }
}

// Waits for the end of a command that turned out not to be an SFTP service: dropbear fails if a
// command starts while another ends.
void Transport::wait_for_end() {
  const Deadline deadline(kEndLimit);
  command_->close_input();
  while (!command_->wait(std::chrono::milliseconds(deadline.milliseconds(kLongPollMs))) &&
         !deadline.is_over()) {
    arriving_.clear();
  }
}

void Transport::ensure_open() {
  if (has_ended_ && !open()) {
    throw ServiceEnded(
        fmt::format("{}: the board's file service (SFTP) ended and cannot be started "
                    "again",
                    name_));
  }
}

void Transport::flush() {
  while (sent_ < outgoing_.size()) {
    const std::size_t taken = command_->write(std::string_view(outgoing_).substr(sent_));
    if (taken == 0) return;
    sent_ += taken;
  }
  outgoing_.clear();
  sent_ = 0;
}

std::optional<std::string_view> Transport::packet() {
  const std::string_view rest = std::string_view(handling_).substr(read_);
  if (rest.size() < 4) return std::nullopt;
  const std::uint32_t length = Fields(rest).u32();
  if (length > kMaxPacket || length < 5) {
    has_ended_ = true;
    throw ServiceEnded(
        fmt::format("{}: the board's file service (SFTP) sent an unexpected answer; does its login "
                    "shell print something?",
                    name_));
  }
  if (rest.size() - 4 < length) return std::nullopt;
  read_ += 4 + length;
  return rest.substr(4, length);
}

bool Transport::parse(Reply& reply) {
  auto bytes = packet();
  if (!bytes && !arriving_.empty()) {
    // Moves the rest of a packet to the front and appends what followed it.
    handling_.erase(0, read_);
    read_ = 0;
    if (handling_.empty()) {
      std::swap(handling_, arriving_);
    } else {
      handling_ += arriving_;
    }
    arriving_.clear();
    bytes = packet();
  }
  if (!bytes) return false;
  reply.body = Fields(*bytes);
  reply.type = static_cast<Type>(reply.body.u8());
  reply.id = reply.body.u32();
  return true;
}

std::optional<Reply> Transport::next(std::chrono::duration<double> silence) {
  Deadline deadline(silence);
  Reply reply;
  for (;;) {
    const std::size_t sent_before = sent_;
    if (!has_ended_) flush();
    if (parse(reply)) {
      if (--unanswered_ >= -kMaxUnaskedReplies) return reply;
      has_ended_ = true;
      throw TooMuchSent(
          fmt::format("{}: the board's file service (SFTP) sends endless answers", name_));
    }
    if (has_ended_) {
      throw ServiceEnded(
          fmt::format("{}: the board ended its file service (SFTP) while it was in use", name_));
    }
    if (sent_ != sent_before) deadline = Deadline(silence);
    if (deadline.is_over()) return std::nullopt;
    const auto limit = std::chrono::milliseconds(deadline.milliseconds(kLongPollMs));
    if (command_->wait(limit)) has_ended_ = true;
    if (!arriving_.empty()) deadline = Deadline(silence);
  }
}

Reply Transport::wait_for(std::uint32_t id) {
  for (;;) {
    const auto reply = next(silence_);
    if (!reply) throw_silent();
    if (reply->id == id) return *reply;
  }
}

void Transport::throw_silent() const {
  throw ConnectionLost(
      fmt::format("{}: the connection was lost: the board's file service (SFTP) has not answered "
                  "for {:g} s",
                  name_, silence_.count()));
}

std::unique_ptr<SftpClient> SftpClient::begin(Transport::Start start, const std::string& name,
                                              const SshPatience& patience) {
  std::unique_ptr<SftpClient> client(new SftpClient(Transport(std::move(start), name, patience)));
  client->transport_.begin();
  return client;
}

void SftpClient::fail(const Reply& reply, const std::string& path) const {
  throw Error(Exit::partial_data,
              fmt::format("{}: {}: {}", transport_.name(), printable(path), failure_reason(reply)));
}

void SftpClient::expect_ok(const Reply& reply, const std::string& path) const {
  Fields body = reply.body;
  if (reply.type != Type::status || body.u32() != kOk || body.has_overrun()) fail(reply, path);
}

Reply SftpClient::ask(Type type, const std::string& path) {
  const std::uint32_t id = transport_.new_id();
  transport_.send(std::move(Request(type, id).text(path)));
  return transport_.wait_for(id);
}

std::string SftpClient::read_handle(std::uint32_t id, const std::string& path) {
  Reply reply = transport_.wait_for(id);
  if (reply.type != Type::handle) fail(reply, path);
  const std::string_view handle = reply.body.text();
  if (handle.size() > kMaxHandle) fail(reply, path);
  return std::string(handle);
}

std::string SftpClient::open_file(const std::string& path, std::uint32_t flags,
                                  const Attributes& attributes) {
  const std::uint32_t id = transport_.new_id();
  transport_.send(std::move(Request(Type::open, id).text(path).u32(flags).attributes(attributes)));
  return read_handle(id, path);
}

// Does not wait for the answer, which does not matter.
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
    const std::string reason = failure_reason(reply);
    Reply there = ask(Type::lstat, path);
    const bool is_folder =
        there.type == Type::attrs && S_ISDIR(there.body.attributes().mode.value_or(0));
    if (!is_folder) {
      throw Error(Exit::partial_data, fmt::format("{}: cannot create the folder {}: {}",
                                                  transport_.name(), printable(path), reason));
    }
  }
  // The board's umask has cleared bits.
  set_attributes(path, {.mode = mode});
}

// OpenSSH reverses the draft's order of the two paths, and other servers follow it. libssh chooses
// by the name of the SSH server, which is wrong for dropbear with OpenSSH's sftp-server.
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
  const std::string handle = read_handle(open_id, folder);
  std::vector<RemoteEntry> entries;
  std::vector<std::size_t> without_mode;
  std::unordered_set<std::string> seen;
  std::size_t name_bytes = 0;
  // One request at a time: at its end a server may restart the listing, as OpenSSH does on some
  // file systems. So a reply without new names also counts as the end.
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
      reply.body.text();  // skips the text of `ls -l`
      const Attributes attributes = reply.body.attributes();
      if (reply.body.has_overrun()) fail(reply, folder);
      if (!seen.emplace(name).second) continue;
      is_new = true;
      if (name == "." || name == "..") continue;
      name_bytes += name.size();
      if (entries.size() >= kMaxListedEntries || name_bytes > kMaxListingBytes) {
        close_unasked(handle);
        throw TooMuchSent(fmt::format("{}: {} has more than {} entries, or endless names",
                                      transport_.name(), printable(folder),
                                      with_thousands(kMaxListedEntries)));
      }
      if (!attributes.mode) without_mode.push_back(entries.size());
      entries.push_back(make_entry(name, attributes));
    }
  }
  close_unasked(handle);
  for (const std::size_t index : without_mode) {
    Reply reply = ask(Type::lstat, folder + "/" + entries[index].name);
    if (reply.type != Type::attrs) continue;  // removed in the meantime: the type stays unknown
    const std::string name = entries[index].name;
    entries[index] = make_entry(name, reply.body.attributes());
  }
  return entries;
}

// Waits until at most `most` requests are unanswered; throws if one failed.
void SftpClient::drain(std::set<std::uint32_t>& open_ids, std::size_t most,
                       const std::string& path) {
  while (open_ids.size() > most) {
    const auto reply = transport_.next(transport_.silence());
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
    drain(open_ids, window - 1, path);
  }
  drain(open_ids, 0, path);
}

void SftpClient::write(const std::string& path, std::uint32_t mode,
                       const std::function<std::size_t(char* buffer, std::size_t size)>& source) {
  transport_.ensure_open();
  // Removes the file first: an existing one may be read-only, or a link.
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
  drain(open_ids, 0, path);
}

std::uint64_t SftpClient::read_from(const std::string& path, std::uint64_t from,
                                    std::uint64_t most_bytes,
                                    const std::function<void(std::string_view)>& sink) {
  transport_.ensure_open();
  std::uint64_t given = from;
  bool careful = false;  // one request at a time, set after a first failure
  for (;;) {
    const SftpWindow window = careful ? SftpWindow{1, window_.bytes} : window_;
    std::string reason;
    try {
      const std::string handle = open_file(path, kOpenRead, {});
      Reading reading(transport_, window, handle, given, most_bytes, sink);
      Reading::Outcome outcome{};
      try {
        outcome = reading.run();
      } catch (const ServiceEnded&) {
        given = reading.given();
        throw;
      } catch (const ConnectionLost&) {
        throw;
      } catch (...) {
        close_unasked(handle);
        throw;
      }
      given = reading.given();
      close_unasked(handle);
      if (outcome == Reading::Outcome::at_end) {
        if (careful) window_.requests = 1;  // so that a failing mode is not retried for every file
        return given;
      }
      if (outcome == Reading::Outcome::stalled && careful) transport_.throw_silent();
      reason = reading.reason();
    } catch (const ServiceEnded& ended) {
      reason = ended.what();
      if (careful || !transport_.open()) throw;
    }
    if (careful) {
      throw Error(Exit::partial_data,
                  fmt::format("{}: {}: {}", transport_.name(), printable(path), reason));
    }
    careful = true;
  }
}

}  // namespace msprof::sftp
