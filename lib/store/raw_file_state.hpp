// State of the raw files from which a store was made. For the session, which collects it, and the
// store.
#pragma once

#include <cstdint>
#include <string>

namespace msprof {

// A raw file when the store was made: any difference makes the store stale.
struct RawFileState {
  std::string name;  // relative to the capture
  std::int64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  bool operator==(const RawFileState&) const = default;
};

}  // namespace msprof
