// Rule files: JSON ─► rules. For advice, and for the suggestions of `export summary`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/advise/rule.hpp"

namespace msprof {

// The rules of the product, in the order of rules.json and cluster_rules.json.
const std::vector<Rule>& builtin_rules();

// Adds the rules of a user's file to `rules`. One with the id of a rule that is there takes its
// place; one that has only thresholds, severity or "enabled" changes that one. Returns a sentence
// for each rule replaced or changed. Throws Error(usage), with file and rule, for anything that is
// not understood.
std::vector<std::string> add_rule_file(const std::filesystem::path& file, std::vector<Rule>& rules);

// Adds rules from text; `file` is its name in messages.
std::vector<std::string> add_rules(std::string_view text, const std::string& file,
                                   std::vector<Rule>& rules);

}  // namespace msprof
