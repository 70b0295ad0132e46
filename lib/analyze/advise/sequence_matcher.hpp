// SequenceMatcher: finds the patterns of one rule in rows that come one by one, stream by stream.
// For table_scan.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/advise/rule.hpp"

namespace msprof {

class SequenceMatcher {
 public:
  explicit SequenceMatcher(const Sequence& sequence);

  struct Match {
    const Pattern* pattern = nullptr;  // null: none ends with this row
    std::string names;                 // "conv1 + conv1_bn + conv1_relu"
    double time_us = 0;                // of the elements that cost
  };
  Match add(std::string_view stream, std::string_view type, std::string_view name, double time_us);

  // No pattern goes on from here.
  void reset() { streams_.clear(); }

 private:
  struct Row {
    std::string type, name;
    double time_us = 0;
  };
  using Rows = std::vector<Row>;  // the last ones of a stream, the newest at the end
  bool ends_with(const Rows& rows, const Pattern& pattern) const;

  const Sequence& sequence_;
  std::size_t longest_ = 0;
  std::map<std::string, Rows, std::less<>> streams_;
};

}  // namespace msprof
