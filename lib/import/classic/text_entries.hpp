// Text records of captures of 2019 to 2021: lines, entries with a NUL behind each, JSON objects.
// The slices of a file are one row of bytes: an entry may go on in the next. For the kinds of
// import/classic. Source: cann5_classic.md 2, 6, 8.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "import/raw_kind.hpp"

namespace msprof::classic {

// How entries end.
enum class EntryForm {
  lines,
  nul,   // a NUL, or a line end and a NUL
  json,  // the brace that closes an object
};

// Why an entry is none, a few fixed words; empty for one that was taken.
using TakeEntry = std::function<std::string_view(std::string_view entry)>;

// Shows every entry that is not empty. What is not taken is counted with its place; the last entry,
// which the end of the recording may have cut, as bytes at the end.
void read_entries(const ImportContext& context, std::string_view kind,
                  const std::vector<const RawFile*>& slices, EntryForm form, const TakeEntry& take);

// The first bytes of the first slice that has any.
std::string first_bytes(const std::vector<const RawFile*>& slices, std::size_t count);

}  // namespace msprof::classic
