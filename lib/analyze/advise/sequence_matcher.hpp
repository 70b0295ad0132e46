// SequenceMatcher finds the operator sequences of one rule ("convolution, BN, Relu") in rows that
// arrive one by one, separately for each stream.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/advise/row_names.hpp"
#include "analyze/advise/rule.hpp"

namespace msprof {

class SequenceMatcher {
 public:
  // Both arguments must outlive this object.
  SequenceMatcher(const RuleSequence& sequence, const CellNames& types);

  struct Match {
    const RulePattern* pattern = nullptr;  // null: no pattern ends with this row
    std::string names;                     // "conv1 + conv1_bn + conv1_relu"
    double time_us = 0;                    // of the elements counted as cost
  };
  // `type` is an id from `types`.
  Match add(std::size_t stream, std::size_t type, std::string_view name, double time_us);

  // Discards all partial matches.
  void reset() { streams_.clear(); }

 private:
  struct Row {
    std::size_t type = 0;
    std::string name;
    double time_us = 0;
  };
  using Rows = std::vector<Row>;  // the last rows of a stream, newest last
  enum class Known : char { nothing, no_element, element };

  bool is_element(std::size_t type);
  bool ends_with(const Rows& rows, const RulePattern& pattern) const;

  const RuleSequence& sequence_;
  const CellNames& types_;
  std::size_t longest_ = 0;
  std::vector<Known> known_types_;
  std::vector<Rows> streams_;
};

}  // namespace msprof
