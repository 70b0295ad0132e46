// UserTerminal: the terminal that msprof was started at, while the application on a board has one
// of its own: keys go there as they are pressed and unshown, because that terminal shows them. For
// BoardProgram.
//
// Ctrl-C stays ours: it is a signal to msprof as in every run, which passes it on. What other keys
// mean is the board's business, also Ctrl-Z and Ctrl-\.
#pragma once

#include <optional>

#include "ssh/ssh_connection.hpp"

namespace msprof {

class UserTerminal {
 public:
  UserTerminal() : size_(look()) {}
  // As restore().
  ~UserTerminal() { restore(); }
  UserTerminal(const UserTerminal&) = delete;
  UserTerminal& operator=(const UserTerminal&) = delete;

  // What the board's is to be like.
  const SshTerminal& size() const { return size_; }
  // True when it has another size than last time.
  bool has_changed();

  // From now on, where stdin is a terminal and we are in its foreground; may be called again and
  // again.
  void take_keys();
  // The terminal is as it was before. So it is when a signal ends msprof at once, too.
  void restore();

 private:
  static SshTerminal look();
  SshTerminal size_;
};

// A terminal gives input to the programs in its foreground only; anything else than a terminal to
// all.
bool may_read_input();

}  // namespace msprof
