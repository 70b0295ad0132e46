// Parses rule files (JSON).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/advise/rule.hpp"

namespace msprof {

// Returns the built-in rules, in the order of rules.json and cluster_rules.json.
const std::vector<Rule>& builtin_rules();

// Adds the rules of a user's file to `rules`. A rule with an existing id replaces that rule; a rule
// with only thresholds, severity or "enabled" changes it. Returns a sentence for each replaced or
// changed rule. Throws Error(usage) with file and rule for invalid input.
std::vector<std::string> add_rule_file(const std::filesystem::path& file, std::vector<Rule>& rules);

// Adds rules from a text; `file` is its name for messages.
std::vector<std::string> add_rules(std::string_view text, const std::string& file,
                                   std::vector<Rule>& rules);

}  // namespace msprof
