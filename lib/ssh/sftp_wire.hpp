// Packets of SFTP version 3 (draft-ietf-secsh-filexfer-02) in wire format. Internal to lib/ssh.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ssh/ssh_connection.hpp"

namespace msprof::sftp {

enum class Type : std::uint8_t {
  init = 1,
  version = 2,
  open = 3,
  close = 4,
  read = 5,
  write = 6,
  lstat = 7,
  fstat = 8,
  setstat = 9,
  fsetstat = 10,
  opendir = 11,
  readdir = 12,
  remove = 13,
  mkdir = 14,
  symlink = 20,
  status = 101,
  handle = 102,
  data = 103,
  name = 104,
  attrs = 105,
};

inline constexpr std::uint32_t kVersion = 3;

// Status codes with special handling.
inline constexpr std::uint32_t kOk = 0;
inline constexpr std::uint32_t kEof = 1;

// Flags of open.
inline constexpr std::uint32_t kOpenRead = 0x01;
inline constexpr std::uint32_t kOpenWrite = 0x02;
inline constexpr std::uint32_t kOpenCreate = 0x08;
inline constexpr std::uint32_t kOpenTruncate = 0x10;

struct Attributes {
  std::optional<std::uint64_t> size_bytes{};
  std::optional<std::uint32_t> mode{};
  std::optional<std::uint32_t> mtime_seconds{};
};

// A packet to send; the first field of all types but init is the id.
class Request {
 public:
  Request(Type type, std::uint32_t id);
  Request& u32(std::uint32_t value);
  Request& u64(std::uint64_t value);
  Request& text(std::string_view value);
  Request& attributes(const Attributes& value);
  // Returns the packet, prefixed with its length.
  std::string finish() &&;

 private:
  std::string bytes_;
};

// Reads the fields of a packet from an untrusted host. Reads past the end return zeros and empty
// texts, and set overrun().
class Fields {
 public:
  Fields() = default;
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  std::uint8_t u8();
  std::uint32_t u32();
  std::uint64_t u64();
  std::string_view text();
  Attributes attributes();
  bool has_overrun() const { return has_overrun_; }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view take(std::size_t size);
  std::string_view rest_;
  bool has_overrun_ = false;
};

struct Reply {
  Type type{};
  std::uint32_t id = 0;
  Fields body;
};

// Returns the printable message of a status reply: "no such file".
std::string failure_reason(Reply reply);

RemoteEntry make_entry(std::string_view name, const Attributes& attributes);

}  // namespace msprof::sftp
