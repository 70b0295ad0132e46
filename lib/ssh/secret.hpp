// Secret: a password or passphrase. For its readers and for the login.
// It cannot be printed or formatted by accident, and its bytes are wiped when it goes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace msprof {

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
