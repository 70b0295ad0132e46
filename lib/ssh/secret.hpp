// Secret: a password or passphrase. It cannot be printed or formatted accidentally, its bytes are
// wiped on destruction, and while it exists the process writes no core dump.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace msprof {

// Keeps this process undumpable (PR_SET_DUMPABLE of prctl(2)) during its lifetime: no core dump,
// and other processes of the user cannot read its memory. /proc/self stays readable except for
// files of mode 0400, which then belong to root; started programs are dumpable again.
class Undumpable {
 public:
  Undumpable();
  ~Undumpable();
  Undumpable(const Undumpable&) : Undumpable() {}
  Undumpable& operator=(const Undumpable&) = default;
};

class Secret {
 public:
  Secret() = default;
  // Takes ownership of the text and wipes `text`.
  explicit Secret(std::string&& text);
  ~Secret();
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret& other);
  Secret& operator=(const Secret& other);

  bool empty() const { return text_.empty(); }
  // Returns the text; only for the login.
  const std::string& reveal() const { return text_; }

 private:
  void guard();
  std::optional<Undumpable> guard_;  // set if there is a text; destroyed after it
  std::string text_;
};

// Functions that obtain a secret; called only if it is needed.
struct SecretSource {
  std::function<std::optional<Secret>()> first;  // nullopt: not available
  // Asks the user again after a wrong secret. Empty function or nullopt: no other secret.
  std::function<std::optional<Secret>()> again;
};

// Overwrites the bytes of `text`, without being optimized away, and clears it.
void wipe(std::string& text);

}  // namespace msprof
