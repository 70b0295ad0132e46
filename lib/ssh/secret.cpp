#include "ssh/secret.hpp"

#include <string.h>
#include <sys/prctl.h>

#include <mutex>

namespace msprof {

void wipe(std::string& text) {
  // Wipes the whole capacity: the text may have been longer earlier.
  text.resize(text.capacity());
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

namespace {

// Number of Undumpable objects; the kernel has a single flag for the process.
struct DumpableState {
  std::mutex mutex;
  int holders = 0;
  bool was_dumpable = false;
};

DumpableState& dumpable_state() {
  static DumpableState state;
  return state;
}

}  // namespace

Undumpable::Undumpable() {
  DumpableState& state = dumpable_state();
  const std::lock_guard lock(state.mutex);
  if (state.holders++ > 0) return;
  state.was_dumpable = ::prctl(PR_GET_DUMPABLE) == 1;
  if (state.was_dumpable) ::prctl(PR_SET_DUMPABLE, 0);
}

Undumpable::~Undumpable() {
  DumpableState& state = dumpable_state();
  const std::lock_guard lock(state.mutex);
  if (--state.holders == 0 && state.was_dumpable) ::prctl(PR_SET_DUMPABLE, 1);
}

Secret::Secret(std::string&& text) : text_(std::move(text)) {
  guard();
  // A short text was copied rather than moved, so wipe the source.
  wipe(text);
}

Secret::~Secret() {
  wipe(text_);
}

Secret::Secret(Secret&& other) noexcept : text_(std::move(other.text_)) {
  guard();
  wipe(other.text_);
  other.guard();
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    wipe(text_);
    text_ = std::move(other.text_);
    guard();
    wipe(other.text_);
    other.guard();
  }
  return *this;
}

Secret::Secret(const Secret& other) : guard_(other.guard_), text_(other.text_) {}

Secret& Secret::operator=(const Secret& other) {
  if (this != &other) {
    wipe(text_);
    text_ = other.text_;
    guard();
  }
  return *this;
}

void Secret::guard() {
  if (text_.empty()) {
    guard_.reset();
  } else if (!guard_) {
    guard_.emplace();
  }
}

}  // namespace msprof
