// Advice for people, and as JSON. For the verb advise.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyze/advise/advice.hpp"

namespace msprof {

struct AdviceStyle {
  Language language = Language::en;
  bool all = false;  // also rules that are not met
  int width = 0;     // of the terminal; 0: no limit
  bool in_colour = false;
};

std::string advice_text(const Advice& advice, const AdviceStyle& style);
nlohmann::ordered_json advice_json(const Advice& advice, Language language);

}  // namespace msprof
