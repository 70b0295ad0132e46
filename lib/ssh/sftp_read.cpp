#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/text.hpp"
#include "ssh/sftp_client.hpp"

namespace msprof::sftp {

namespace {

// Asked for before the size is known: all that a small file has, in one round trip.
constexpr std::size_t kFirstRequests = 4;
// A server that answers nothing for so long, with several requests before it, has dropped them.
constexpr std::chrono::seconds kStall{kSilenceSeconds / 4};

// One reading of a file through one handle, in order, with several requests in flight. Ends at the
// end of the file, or with what went wrong; then another may go on from where it stopped.
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
      if (ended_ && given_ >= end_) return Outcome::at_end;
      if (pieces_.empty()) return Outcome::at_end;
      const auto reply = transport_.next(kStall);
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
    std::uint64_t length = 0;  // asked for
    bool answered = false;
    std::string bytes;  // answered before its turn
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
  std::uint64_t wanted_;  // asked for up to here
  std::uint64_t given_;   // to the sink, up to here
  std::uint64_t most_;
  const std::function<void(std::string_view)>& sink_;
  std::uint32_t stat_id_ = 0;
  std::optional<std::uint64_t> size_;  // as the host told it; the file may have grown since
  bool ended_ = false;
  std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();
  Pieces pieces_;
  std::map<std::uint32_t, std::uint64_t> offsets_;  // of unanswered requests, by id
  std::string reason_;
};

void Reading::request(std::uint64_t offset, std::uint64_t length) {
  const std::uint32_t id = transport_.new_id();
  transport_.send(std::move(
      Request(Type::read, id).text(handle_).u64(offset).u32(static_cast<std::uint32_t>(length))));
  pieces_[offset] = Piece{id, length, false, {}};
  offsets_[id] = offset;
}

// Past the size that the host told, one request at a time looks whether the file has grown.
void Reading::request_more() {
  const auto window = static_cast<std::size_t>(std::max(window_.requests, 1));
  while (!ended_ && wanted_ < most_ && pieces_.size() < window) {
    if (!size_ && pieces_.size() >= kFirstRequests) return;
    if (size_ && wanted_ >= *size_ && !pieces_.empty() && pieces_.rbegin()->first >= *size_) return;
    const std::uint64_t length = std::min<std::uint64_t>(window_.bytes, most_ - wanted_);
    request(wanted_, length);
    wanted_ += length;
  }
}

bool Reading::take(Reply reply) {
  if (reply.id == stat_id_) {
    // Without a size every short answer is followed by another request.
    size_ = reply.type == Type::attrs ? reply.body.attributes().size_bytes : std::nullopt;
    if (!size_) size_ = std::numeric_limits<std::uint64_t>::max();
    return true;
  }
  const auto known = offsets_.find(reply.id);
  if (known == offsets_.end()) return true;  // of a request that was given up
  const auto piece = pieces_.find(known->second);
  offsets_.erase(known);
  if (piece == pieces_.end()) return true;  // behind the end
  if (reply.type != Type::data) return take_status(piece, reply);
  const std::string_view bytes = reply.body.text();
  if (reply.body.overrun() || bytes.size() > piece->second.length) {
    reason_ = "the board's file service sent more than it was asked for";
    return false;
  }
  return take_data(piece, bytes);
}

bool Reading::take_status(Pieces::iterator piece, const Reply& reply) {
  Fields body = reply.body;
  if (reply.type != Type::status || body.u32() != kEof) {
    reason_ = reason_of(reply);
    return false;
  }
  end_at(piece->first);
  return true;
}

// What lies behind an end was asked for before the end was known.
void Reading::end_at(std::uint64_t offset) {
  ended_ = true;
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
  piece->second.answered = true;
  piece->second.length = bytes.size();
  if (offset == given_) {
    sink_(bytes);
    given_ += bytes.size();
    pieces_.erase(piece);
  } else {
    piece->second.bytes = bytes;
  }
  if (bytes.size() == asked) return true;
  // Short: the end of the file, or a server that gives less than it is asked for.
  const std::uint64_t stop = offset + bytes.size();
  if (size_ && stop >= *size_) {
    end_at(stop);
  } else if (!ended_ || stop < end_) {
    request(stop, asked - bytes.size());
  }
  return true;
}

void Reading::give() {
  for (auto piece = pieces_.begin();
       piece != pieces_.end() && piece->first == given_ && piece->second.answered;
       piece = pieces_.erase(piece)) {
    sink_(piece->second.bytes);
    given_ += piece->second.bytes.size();
  }
}

}  // namespace

std::uint64_t SftpClient::read(const std::string& path, std::uint64_t most_bytes,
                               const std::function<void(std::string_view)>& sink) {
  transport_.ensure_open();
  std::uint64_t given = 0;
  bool careful = false;  // one request at a time, after a first failure
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
        if (careful) window_.requests = 1;  // what did not work once is not tried for every file
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
