#include "ssh/sftp_wire.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>

#include "base/text.hpp"

namespace msprof::sftp {

namespace {

constexpr std::uint32_t kHasSize = 0x1;
constexpr std::uint32_t kHasOwner = 0x2;
constexpr std::uint32_t kHasMode = 0x4;
constexpr std::uint32_t kHasTimes = 0x8;
constexpr std::uint32_t kHasExtended = 0x8000'0000;

constexpr std::array<std::string_view, 9> kReasons = {
    "no error",
    "end of the file",
    "no such file or folder",
    "not allowed",
    "failed",
    "the request was not understood",
    "no connection",
    "the connection was lost",
    "the board's file service does not support this"};

}  // namespace

Request::Request(Type type, std::uint32_t id) : bytes_(4, '\0') {
  bytes_ += static_cast<char>(type);
  u32(id);
}

Request& Request::u32(std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes_ += static_cast<char>(value >> shift & 0xff);
  return *this;
}

Request& Request::u64(std::uint64_t value) {
  u32(static_cast<std::uint32_t>(value >> 32));
  return u32(static_cast<std::uint32_t>(value));
}

Request& Request::text(std::string_view value) {
  u32(static_cast<std::uint32_t>(value.size()));
  bytes_ += value;
  return *this;
}

Request& Request::attributes(const Attributes& value) {
  u32((value.size_bytes ? kHasSize : 0) | (value.mode ? kHasMode : 0) |
      (value.mtime_seconds ? kHasTimes : 0));
  if (value.size_bytes) u64(*value.size_bytes);
  if (value.mode) u32(*value.mode);
  // The access time precedes the modification time and cannot be omitted.
  if (value.mtime_seconds) u32(*value.mtime_seconds).u32(*value.mtime_seconds);
  return *this;
}

std::string Request::finish() && {
  const auto size = static_cast<std::uint32_t>(bytes_.size() - 4);
  for (std::size_t i = 0; i < 4; ++i) bytes_[i] = static_cast<char>(size >> (24 - 8 * i) & 0xff);
  return std::move(bytes_);
}

std::string_view Fields::take(std::size_t size) {
  if (size > rest_.size()) {
    has_overrun_ = true;
    rest_ = {};
    return {};
  }
  const std::string_view part = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return part;
}

std::uint8_t Fields::u8() {
  const std::string_view byte = take(1);
  return byte.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(byte.front());
}

std::uint32_t Fields::u32() {
  std::uint32_t value = 0;
  for (const char byte : take(4)) value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

std::uint64_t Fields::u64() {
  const std::uint64_t high = u32();
  return high << 32 | u32();
}

std::string_view Fields::text() {
  return take(u32());
}

Attributes Fields::attributes() {
  Attributes result;
  const std::uint32_t flags = u32();
  if ((flags & kHasSize) != 0) result.size_bytes = u64();
  if ((flags & kHasOwner) != 0) take(8);
  if ((flags & kHasMode) != 0) result.mode = u32();
  if ((flags & kHasTimes) != 0) {
    take(4);
    result.mtime_seconds = u32();
  }
  if ((flags & kHasExtended) != 0) {
    for (std::uint32_t count = u32(); count > 0 && !has_overrun_; --count) {
      text();
      text();
    }
  }
  return result;
}

std::string failure_reason(Reply reply) {
  if (reply.type != Type::status) return "unexpected answer from the board's file service";
  const std::uint32_t code = reply.body.u32();
  const std::string said = printable(trim(reply.body.text()));
  const std::string known =
      code < kReasons.size() ? std::string(kReasons[code]) : fmt::format("error {}", code);
  return said.empty() ? known : fmt::format("{} (\"{}\")", known, shorten(said, 80));
}

RemoteEntry make_entry(std::string_view name, const Attributes& attributes) {
  RemoteEntry entry;
  entry.name = name;
  const std::uint32_t mode = attributes.mode.value_or(0);
  switch (mode & S_IFMT) {
    case S_IFREG:
      entry.kind = RemoteKind::file;
      break;
    case S_IFDIR:
      entry.kind = RemoteKind::folder;
      break;
    case S_IFLNK:
      entry.kind = RemoteKind::link;
      break;
    default:
      entry.kind = RemoteKind::other;
  }
  entry.mode = mode & 07777;
  entry.size_bytes = attributes.size_bytes.value_or(0);
  entry.mtime_seconds = attributes.mtime_seconds.value_or(0);
  return entry;
}

}  // namespace msprof::sftp
