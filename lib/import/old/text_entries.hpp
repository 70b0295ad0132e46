// Reads text records of captures of 2019 to 2021: lines, NUL-terminated entries, or JSON objects.
// The slices of a file are concatenated, as an entry may continue in the next slice. Source:
// cann5_classic.md 2, 6, 8.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "import/raw_kind.hpp"

namespace msprof::old {

// How entries end.
enum class EntryForm {
  lines,
  nul,   // NUL, or newline and NUL
  json,  // closing brace of an object
};

// Returns why an entry is invalid, as one of a few fixed texts; empty if it is valid.
using TakeEntry = std::function<std::string_view(std::string_view entry)>;

// Calls `take` for every non-empty entry. Invalid entries are counted with their position. An
// invalid last entry may have been cut off by the end of the recording and is counted as trailing
// bytes.
void read_entries(const ImportContext& context, std::string_view kind,
                  const std::vector<const RawFile*>& slices, EntryForm form, const TakeEntry& take);

// Returns the first bytes of the first slice that is not empty.
std::string first_bytes(const std::vector<const RawFile*>& slices, std::size_t count);

}  // namespace msprof::old
