#include "base/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <cstddef>

#include "base/error.hpp"

namespace msprof::interrupt {

namespace {

volatile std::sig_atomic_t g_received = 0;
volatile std::sig_atomic_t g_count = 0;
void (*volatile g_last_acts[2])() = {};     // indexed by LastAct
bool g_ignores_hangup = false;              // SIGHUP is ignored now and was handled before
volatile std::sig_atomic_t g_patience = 1;  // number of signals that do not end the program

extern "C" void on_signal(int number) {
  // A closed terminal sends several SIGHUPs (kernel and shell); they do not count as repeated by
  // the user.
  if (number == SIGHUP && g_count > 0) return;
  // The user has repeated the signal: exit immediately. 130 is Exit::interrupted.
  if (g_count >= g_patience) {
    for (const auto& last_act : g_last_acts) {
      if (last_act != nullptr) last_act();
    }
    _exit(static_cast<int>(Exit::interrupted));
  }
  g_received = number;
  g_count = g_count + 1;
}

}  // namespace

void install() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // A signal that the parent ignores (nohup) stays ignored.
    struct sigaction old = {};
    sigaction(number, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  for (const int number : {SIGPIPE, SIGXFSZ}) sigaction(number, &ignore, nullptr);
  // Results of child processes are lost if the parent ignored this signal.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, nullptr);
}

void before_exit(void (*last_act)(), LastAct kind) {
  g_last_acts[static_cast<std::size_t>(kind)] = last_act;
}

int received() {
  return g_received;
}

void acknowledge() {
  g_received = 0;
  g_count = 0;
}

void ignore_hangup() {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before = {};
  sigaction(SIGHUP, &ignore, &before);
  if (before.sa_handler == on_signal) g_ignores_hangup = true;
  if (g_received == SIGHUP) acknowledge();
}

void heed_hangup() {
  if (!g_ignores_hangup) return;
  g_ignores_hangup = false;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGHUP, &action, nullptr);
}

int count() {
  return g_count;
}

DeferSecondSignal::DeferSecondSignal() {
  g_patience = 2;
}

DeferSecondSignal::~DeferSecondSignal() {
  g_patience = 1;
}

MaskPendingSignal::MaskPendingSignal() : received_(g_received), count_(g_count) {
  acknowledge();
}

MaskPendingSignal::~MaskPendingSignal() {
  if (g_received == 0) g_received = received_;
  g_count = g_count + count_;
}

void check() {
  if (g_received != 0) throw Error(Exit::interrupted, "interrupted; no half-written file was left");
}

}  // namespace msprof::interrupt
