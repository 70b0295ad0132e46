#include "base/log.hpp"

#include <unistd.h>

#include <cstdio>

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

}  // namespace msprof::log
