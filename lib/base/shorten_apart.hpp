// Names cut to a width so that those that differ still do: at what they have in common, or in the
// middle. For tables in the terminal.
#pragma once

#include <string>
#include <vector>

namespace msprof {

// What is kept where several cuts keep the same number of texts apart: ends of names, which often
// are paths, tell more than their begins.
enum class Keep { ends, begins };

// `texts` (valid UTF-8), each at most `width` columns, "…" where something was left out. All are
// cut in the one way that keeps most of them apart.
std::vector<std::string> shorten_apart(const std::vector<std::string>& texts, int width, Keep keep);

// The smallest width from `least` on at which shorten_apart() keeps them all apart.
int width_apart(const std::vector<std::string>& texts, int least);

}  // namespace msprof
