// IniSection: the keys of one section of an ini file, as inih reads them. For the board's
// configuration.
//
// Values may be passwords: they are kept to the byte (the blanks around them excepted), no message
// shows one, and they are wiped when the section goes.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "ssh/secret.hpp"

namespace msprof {

struct IniEntry {
  IniEntry() = default;
  ~IniEntry() { wipe(value); }
  IniEntry(const IniEntry&) = delete;
  IniEntry& operator=(const IniEntry&) = delete;

  std::string key;  // lower case
  std::string value;
  int line = 0;  // from 1
};

class IniSection {
 public:
  // Reads section `section` (lower case; any case in the text) of `text`. A line that begins with
  // '#' or ';' is a comment; nothing behind a value is. `name` is for messages. Throws Error(usage)
  // where there is no such section, and with the line for what is no key and value, for bytes that
  // are not text and for lines longer than kMostLineBytes.
  IniSection(std::string_view text, std::string_view section, const std::string& name);

  const std::deque<IniEntry>& entries() const { return entries_; }

  static constexpr std::size_t kMostLineBytes = 64 << 10;

 private:
  std::deque<IniEntry> entries_;  // a deque never moves a value and leaves its bytes behind
};

}  // namespace msprof
