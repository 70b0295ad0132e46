#include "analyze/compare/batches.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "base/words.hpp"
#include "store/database.hpp"

namespace msprof {

namespace {

// Share of executions that may have another batch: the last one often processes the remainder, and
// so few do not affect medians.
constexpr double kMaxOdd = 0.25;

// Returns the batch of nearly all executions of a model; empty if there is none.
std::optional<std::int64_t> main_batch(const std::map<std::int64_t, std::int64_t>& executions) {
  double all = 0;
  const std::pair<const std::int64_t, std::int64_t>* most = nullptr;
  for (const auto& one : executions) {
    all += static_cast<double>(one.second);
    if (most == nullptr || one.second > most->second) most = &one;
  }
  if (most == nullptr || all - static_cast<double>(most->second) > kMaxOdd * all)
    return std::nullopt;
  return most->first;
}

}  // namespace

void Batches::add(const Batches& other) {
  for (const auto& [model, counts] : other.executions)
    for (const auto& [batch, count] : counts) executions[model][batch] += count;
}

std::vector<std::int64_t> Batches::values() const {
  std::set<std::int64_t> values;
  for (const auto& [model, counts] : executions)
    for (const auto& one : counts) values.insert(one.first);
  return {values.begin(), values.end()};
}

std::int64_t Batches::pictures() const {
  std::int64_t sum = 0;
  for (const auto& [model, counts] : executions) {
    for (const auto& [batch, count] : counts) {
      std::int64_t pictures = 0;
      if (__builtin_mul_overflow(batch, count, &pictures) ||
          __builtin_add_overflow(sum, pictures, &sum))
        return INT64_MAX;
    }
  }
  return sum;
}

Batches read_batches(const QueryDb& db) {
  Batches batches;
  Statement read = db.prepare(
      "SELECT (SELECT substr(text, 1, 1000) FROM name WHERE id = name_id), batch, executions FROM"
      " (SELECT model.name_id, step.batch_num AS batch,"
      "  sum(CAST(execution_count AS REAL)) AS executions FROM step"
      "  JOIN model ON model.id = step.model_row JOIN step_time ON step_time.step_id = step.id"
      "  WHERE execution_count > 0 AND step.batch_num > 0 GROUP BY 1, 2) ORDER BY name_id, batch");
  constexpr double kMax = 1e15;  // bound, as the store is untrusted
  while (read.step()) {
    batches.executions[valid_utf8(read.text(0))][read.integer(1)] =
        static_cast<std::int64_t>(std::min(read.real(2), kMax));
  }
  return batches;
}

bool execute_alike(const Batches& a, const Batches& b) {
  std::set<std::int64_t> ours, theirs;
  for (const auto& [batches, values] : {std::pair{&a, &ours}, std::pair{&b, &theirs}}) {
    for (const auto& [model, counts] : batches->executions) {
      const auto batch = main_batch(counts);
      if (!batch) return false;
      values->insert(*batch);
    }
  }
  // Without recorded batches, no difference is known.
  if (ours.empty() || theirs.empty()) return true;
  if (ours != theirs) return false;
  return std::all_of(a.executions.begin(), a.executions.end(), [&](const auto& one) {
    const auto other = b.executions.find(one.first);
    return other == b.executions.end() || main_batch(one.second) == main_batch(other->second);
  });
}

std::string batch_text(const std::vector<std::int64_t>& batches) {
  std::vector<std::string> texts;
  texts.reserve(batches.size());
  for (const std::int64_t batch : batches) texts.push_back(std::to_string(batch));
  return texts.empty() ? "unknown" : listed(texts);
}

}  // namespace msprof
