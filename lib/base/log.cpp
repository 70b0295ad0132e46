#include "base/log.hpp"

#include <unistd.h>

#include <cstdio>

#include "base/findings.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"

namespace msprof::log {

namespace {
Level g_level = Level::normal;  // set once, before any thread starts
}

void set_level(Level new_level) {
  g_level = new_level;
}
Level level() {
  return g_level;
}

void write(Level least, std::string_view prefix, std::string_view message) {
  if (g_level < least) return;
  Progress::clear_line();
  std::string line(prefix);
  // Lines of one message are kept; everything else that steers a terminal is not.
  line += printable(message, KeepNewlines::yes);
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void warn_of(FindingId id, std::string_view message) {
  warn("{} [{}]", message, finding_info(id).id);
}

void failure(const Error& error) {
  if (!error.id()) return log::error("{}", error.what());
  log::error("{} [{}]", error.what(), finding_info(*error.id()).id);
}

}  // namespace msprof::log
