#include "board/user_terminal.hpp"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/interrupt.hpp"

namespace msprof {

namespace {

// Where a signal handler finds them.
termios g_before = {};
volatile std::sig_atomic_t g_takes_keys = 0;

// Safe within a signal handler. Settings are left alone where the shell has the terminal again: it
// has made its own, and would stop us.
void put_back() {
  if (g_takes_keys == 0) return;
  if (::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) ::tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
  g_takes_keys = 0;
}

}  // namespace

bool may_read_input() {
  if (::isatty(STDIN_FILENO) == 0) return true;
  return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

SshTerminal UserTerminal::look() {
  SshTerminal terminal;
  if (const char* type = std::getenv("TERM"); type != nullptr && *type != '\0') {
    terminal.type = type;
  }
  for (const int fd : {STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO}) {
    winsize size = {};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0) continue;
    if (size.ws_col > 0) terminal.columns = size.ws_col;
    if (size.ws_row > 0) terminal.rows = size.ws_row;
    break;
  }
  return terminal;
}

bool UserTerminal::has_changed() {
  const SshTerminal now = look();
  const bool changed = now.columns != size_.columns || now.rows != size_.rows;
  size_ = now;
  return changed;
}

void UserTerminal::take_keys() {
  if (g_takes_keys != 0 || ::isatty(STDIN_FILENO) == 0 || !may_read_input()) return;
  if (::tcgetattr(STDIN_FILENO, &g_before) != 0) return;
  termios keys = g_before;
  keys.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | ISTRIP | IXON | IXOFF);
  // ISIG stays for Ctrl-C, and OPOST for what msprof itself has to say.
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | IEXTEN | ECHO | ECHONL);
  keys.c_cc[VSUSP] = keys.c_cc[VQUIT] = _POSIX_VDISABLE;
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  g_takes_keys = 1;
  interrupt::before_exit(put_back);
  if (::tcsetattr(STDIN_FILENO, TCSANOW, &keys) != 0) restore();
}

void UserTerminal::restore() {
  put_back();
  interrupt::before_exit(nullptr);
}

}  // namespace msprof
