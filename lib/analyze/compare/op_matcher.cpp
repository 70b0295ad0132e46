#include "analyze/compare/op_matcher.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace msprof {

namespace {

using Ops = std::vector<OpProfile>;
using KeyFunction = std::function<std::string(const OpProfile&)>;

// Maximum number of operators per layer that are considered for a fusion.
constexpr std::size_t kMaxParts = 64;

// Numbers are not stable: "Mul_28" in one run can be "Mul_31" in the next.
std::string without_numbers(const std::string& name) {
  std::string result;
  for (const char c : name)
    if (c < '0' || c > '9') result += c;
  return result;
}

class Matcher {
 public:
  Matcher(const Ops& base, const Ops& now)
      : base_(base), now_(now), base_taken_(base.size()), now_taken_(now.size()) {
    std::set<std::string> base_models, now_models;
    for (const OpProfile& op : base) base_models.insert(op.model);
    for (const OpProfile& op : now) now_models.insert(op.model);
    std::set_intersection(base_models.begin(), base_models.end(), now_models.begin(),
                          now_models.end(), std::inserter(common_models_, common_models_.end()));
  }

  std::vector<OpMatch> run() {
    fuse(now_, now_taken_, base_, base_taken_, false);
    fuse(base_, base_taken_, now_, now_taken_, true);
    const auto name = [this](const OpProfile& op) { return common_model(op) + '\n' + op.name; };
    pair_by([&](const OpProfile& op) { return name(op) + '\n' + op.type + '\n' + op.shapes; },
            MatchedBy::name, false);
    pair_by([&](const OpProfile& op) { return name(op) + '\n' + op.type; }, MatchedBy::name, false);
    pair_by(name, MatchedBy::name, false);
    pair_by(
        [](const OpProfile& op) {
          return op.type + '\n' + op.shapes + '\n' + without_numbers(op.name);
        },
        MatchedBy::shape, true);
    pair_by([](const OpProfile& op) { return op.type + '\n' + op.shapes; }, MatchedBy::shape, true);
    add_rest();
    std::stable_sort(matches_.begin(), matches_.end(), [](const OpMatch& a, const OpMatch& b) {
      const auto place = [](const OpMatch& m) { return m.base.empty() ? SIZE_MAX : m.base[0]; };
      return place(a) < place(b);
    });
    return std::move(matches_);
  }

 private:
  // Models on only one side are treated as the same model.
  std::string common_model(const OpProfile& op) const {
    return common_models_.count(op.model) > 0 ? op.model : std::string();
  }

  // Matches each of `wholes` with the two or more operators of `many` from whose layers it was
  // fused.
  void fuse(const Ops& wholes, std::vector<bool>& whole_taken, const Ops& many,
            std::vector<bool>& many_taken, bool whole_is_base) {
    std::map<std::string, std::vector<std::size_t>> by_layer;
    for (std::size_t i = 0; i < many.size(); ++i) {
      if (many_taken[i]) continue;
      for (const std::string& layer : many[i].originals) {
        auto& made_of_it = by_layer[common_model(many[i]) + '\n' + layer];
        if (made_of_it.size() < kMaxParts) made_of_it.push_back(i);
      }
    }
    for (std::size_t i = 0; i < wholes.size(); ++i) {
      const OpProfile& whole = wholes[i];
      if (whole_taken[i] || whole.originals.size() < 2) continue;
      std::set<std::size_t> parts;
      for (const std::string& layer : whole.originals)
        add_parts(by_layer, common_model(whole) + '\n' + layer, whole, many, many_taken, parts);
      if (parts.size() < 2) continue;
      whole_taken[i] = true;
      for (const std::size_t part : parts) many_taken[part] = true;
      const std::vector<std::size_t> list(parts.begin(), parts.end());
      matches_.push_back(whole_is_base ? OpMatch{{i}, list, MatchedBy::fusion}
                                       : OpMatch{list, {i}, MatchedBy::fusion});
    }
  }

  static void add_parts(const std::map<std::string, std::vector<std::size_t>>& by_layer,
                        const std::string& key, const OpProfile& whole, const Ops& many,
                        const std::vector<bool>& many_taken, std::set<std::size_t>& parts) {
    const auto found = by_layer.find(key);
    if (found == by_layer.end()) return;
    for (const std::size_t i : found->second) {
      const auto& layers = many[i].originals;
      const bool is_part = layers.size() < whole.originals.size() &&
                           std::all_of(layers.begin(), layers.end(), [&](const std::string& one) {
                             return std::find(whole.originals.begin(), whole.originals.end(),
                                              one) != whole.originals.end();
                           });
      if (!many_taken[i] && is_part) parts.insert(i);
    }
  }

  // Pairs operators with the same key in order. With `same_number`, operators without shapes are
  // paired only if both sides have equally many; otherwise their order means little.
  void pair_by(const KeyFunction& key, MatchedBy by, bool same_number) {
    std::map<std::string, std::vector<std::size_t>> base_by_key, now_by_key;
    for (std::size_t i = 0; i < base_.size(); ++i)
      if (!base_taken_[i]) base_by_key[key(base_[i])].push_back(i);
    for (std::size_t i = 0; i < now_.size(); ++i)
      if (!now_taken_[i]) now_by_key[key(now_[i])].push_back(i);
    for (const auto& [text, ours] : base_by_key) {
      const auto found = now_by_key.find(text);
      if (found == now_by_key.end()) continue;
      const auto& theirs = found->second;
      const bool has_shapes = !base_[ours[0]].shapes.empty();
      if (same_number && !has_shapes && ours.size() != theirs.size()) continue;
      for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
        base_taken_[ours[i]] = now_taken_[theirs[i]] = true;
        matches_.push_back({{ours[i]}, {theirs[i]}, by});
      }
    }
  }

  void add_rest() {
    for (std::size_t i = 0; i < base_.size(); ++i)
      if (!base_taken_[i]) matches_.push_back({{i}, {}, MatchedBy::unmatched});
    for (std::size_t i = 0; i < now_.size(); ++i)
      if (!now_taken_[i]) matches_.push_back({{}, {i}, MatchedBy::unmatched});
  }

  const Ops& base_;
  const Ops& now_;
  std::vector<bool> base_taken_;
  std::vector<bool> now_taken_;
  std::set<std::string> common_models_;
  std::vector<OpMatch> matches_;
};

}  // namespace

std::vector<OpMatch> match_ops(const Ops& base, const Ops& now) {
  return Matcher(base, now).run();
}

}  // namespace msprof
