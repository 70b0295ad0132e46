#include "ssh/sftp_transport.hpp"

#include <fmt/format.h>

#include "ssh/deadline.hpp"

namespace msprof::sftp {

namespace {

// OpenSSH sends 256 KB at most; a longer length is a greeting of a login shell, not a packet.
constexpr std::uint32_t kMostPacket = 1 << 20;
constexpr int kLookMilliseconds = 1000;
constexpr std::chrono::seconds kEndLimit{2};

}  // namespace

bool Transport::open() {
  command_.reset();
  outgoing_.clear();
  arriving_.clear();
  handling_.clear();
  sent_ = read_ = 0;
  ended_ = false;
  command_ = start_([this](std::string_view bytes) { arriving_ += bytes; });
  if (!command_) return false;
  send(Request(Type::init, kVersion));
  try {
    // Its id is the version: 3 with every server that is asked for 3.
    const auto reply = next(std::chrono::seconds(kSilenceSeconds));
    return reply && reply->type == Type::version && reply->id >= kVersion;
  } catch (const ServiceEnded&) {
    wait_for_end();
    return false;
  }
}

// What is no file service after all: dropbear is confused by a command that starts while another
// one ends.
void Transport::wait_for_end() {
  const Deadline deadline(kEndLimit);
  command_->close_input();
  while (!command_->wait(std::chrono::milliseconds(deadline.milliseconds(kLookMilliseconds))) &&
         !deadline.is_over()) {
    arriving_.clear();
  }
}

void Transport::ensure_open() {
  if (ended_ && !open()) {
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
  if (length > kMostPacket || length < 5) {
    ended_ = true;
    throw ServiceEnded(
        fmt::format("{}: the board's file service (SFTP) speaks out of turn; does "
                    "its login shell print something?",
                    name_));
  }
  if (rest.size() - 4 < length) return std::nullopt;
  read_ += 4 + length;
  return rest.substr(4, length);
}

bool Transport::parse(Reply& reply) {
  auto bytes = packet();
  if (!bytes && !arriving_.empty()) {
    // What is left of a packet moves to the front, what came is put behind.
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

std::optional<Reply> Transport::next(std::chrono::seconds silence) {
  Deadline deadline(silence);
  Reply reply;
  for (;;) {
    const std::size_t sent_before = sent_;
    if (!ended_) flush();
    if (parse(reply)) return reply;
    if (ended_) {
      throw ServiceEnded(
          fmt::format("{}: the board ended its file service (SFTP) while it was in use", name_));
    }
    if (sent_ != sent_before) deadline = Deadline(silence);
    if (deadline.is_over()) return std::nullopt;
    const auto limit = std::chrono::milliseconds(deadline.milliseconds(kLookMilliseconds));
    if (command_->wait(limit)) ended_ = true;
    if (!arriving_.empty()) deadline = Deadline(silence);
  }
}

Reply Transport::wait_for(std::uint32_t id) {
  for (;;) {
    const auto reply = next(std::chrono::seconds(kSilenceSeconds));
    if (!reply) throw_silent();
    if (reply->id == id) return *reply;
  }
}

void Transport::throw_silent() const {
  throw ConnectionLost(
      fmt::format("{}: the connection was lost: the board's file service (SFTP) has not answered "
                  "for {} s",
                  name_, kSilenceSeconds));
}

}  // namespace msprof::sftp
