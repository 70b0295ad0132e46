// Secret: a password or passphrase. For its readers and for the login.
// It cannot be printed or formatted by accident, its bytes are wiped when it goes, and while it is
// there the process leaves no core.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace msprof {

// Keeps this process undumpable (PR_SET_DUMPABLE of prctl(2)) while one lives: it leaves no core,
// and no other process of its user may read its memory. Its own /proc/self stays readable but for
// files of mode 0400, which belong to root then; programs that it starts are dumpable again.
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
  // Takes the text over and wipes the string it came in.
  explicit Secret(std::string&& text);
  ~Secret();
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret& other);
  Secret& operator=(const Secret& other);

  bool empty() const { return text_.empty(); }
  // Gives the text; only for the login.
  const std::string& reveal() const { return text_; }

 private:
  void guard();
  std::optional<Undumpable> guard_;  // where there is a text; goes after it
  std::string text_;
};

// Sources of a secret. Neither is ever called for a secret that is not needed.
struct SecretSource {
  std::function<std::optional<Secret>()> first;  // nullopt: there is none
  // Asks the user once more after a wrong one. Not set, or nullopt: there is no other.
  std::function<std::optional<Secret>()> again;
};

// Overwrites the bytes of `text` in a way that the compiler keeps, and empties it.
void wipe(std::string& text);

}  // namespace msprof
