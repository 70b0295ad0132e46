#include "ssh/secret.hpp"

#include <string.h>

namespace msprof {

void wipe(std::string& text) {
  // Wiped up to the capacity: a shorter text may have taken the place of a longer one.
  text.resize(text.capacity());
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

Secret::Secret(std::string&& text) : text_(std::move(text)) {
  // A short text was copied, not handed over.
  wipe(text);
}

Secret::~Secret() {
  wipe(text_);
}

Secret::Secret(Secret&& other) noexcept : text_(std::move(other.text_)) {
  wipe(other.text_);
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    wipe(text_);
    text_ = std::move(other.text_);
    wipe(other.text_);
  }
  return *this;
}

Secret::Secret(const Secret& other) = default;

Secret& Secret::operator=(const Secret& other) {
  if (this != &other) {
    wipe(text_);
    text_ = other.text_;
  }
  return *this;
}

}  // namespace msprof
