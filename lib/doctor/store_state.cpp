#include "doctor/store_state.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>

#include "base/shell_word.hpp"
#include "store/schema.hpp"
#include "store/trace_db.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// The header of an SQLite file: magic, and user_version as 4 bytes, the first the highest.
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kVersionAt = 60;
constexpr std::size_t kHeadBytes = 64;

std::optional<std::int64_t> version_of(const fs::path& store) {
  std::string head(kHeadBytes, '\0');
  std::ifstream file(store, std::ios::binary);
  if (!file.read(head.data(), static_cast<std::streamsize>(head.size()))) return std::nullopt;
  if (!head.starts_with(kMagic)) return std::nullopt;
  std::int64_t version = 0;
  for (std::size_t i = kVersionAt; i < kHeadBytes; ++i)
    version = version * 256 + static_cast<unsigned char>(head[i]);
  return version;
}

}  // namespace

void check_store(CheckList& list, const fs::path& store, bool damaged, const std::string& capture) {
  const std::string again = fmt::format("msprof import -dir {}", shell_word(capture));
  std::error_code error;
  if (!fs::exists(store, error)) {
    return list.ok("store", "none yet: the raw files were read into a temporary one");
  }
  if (!damaged && TraceDb::open(store)) {
    return list.warn("store",
                     fmt::format("{} is outdated: raw files came, went or changed after it was "
                                 "made; they were read afresh for this",
                                 store.string()),
                     again);
  }
  const auto version = version_of(store);
  if (version && *version > kSchemaVersion) {
    return list.warn("store",
                     fmt::format("{} was made by a newer msprof (schema {}, this one knows {})",
                                 store.string(), *version, kSchemaVersion),
                     fmt::format("use that msprof, or make it anew with this one: {}", again));
  }
  if (version && *version > 0 && *version < kSchemaVersion) {
    return list.warn("store",
                     fmt::format("{} was made by an older msprof (schema {}, now {})",
                                 store.string(), *version, kSchemaVersion),
                     again);
  }
  list.warn("store", fmt::format("{} is damaged, or no store of msprof", store.string()), again);
}

}  // namespace msprof
