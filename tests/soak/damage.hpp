// Random damage to the files of a capture. For the soak of damaged captures and the identity test.
#pragma once

#include <string>

#include "soak/soak.hpp"

namespace msprof::test {

// Deterministic: equal random numbers cause equal damage to equal files.
class Damage {
 public:
  explicit Damage(SoakRandom& random) : random_(random) {}

  // Returns a number from 0 to `limit` - 1; 0 if `limit` is 0.
  std::size_t below(std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::size_t>(random_() % limit);
  }

  // Changes one to four files and describes the changes in `story`.
  void apply(Files& files, std::string& story);

 private:
  char any_byte() { return static_cast<char>(below(256)); }
  std::string change(std::string& bytes);

  SoakRandom& random_;
};

}  // namespace msprof::test
