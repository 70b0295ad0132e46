// States of the raw files that a store was made from. For the session, which reads them, and the
// store.
#pragma once

#include <cstdint>
#include <string>

namespace msprof {

// A raw file as it was when the store was made: any difference makes the store stale.
struct RawFileState {
  std::string name;  // relative to the capture
  std::int64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  bool operator==(const RawFileState&) const = default;
};

}  // namespace msprof
