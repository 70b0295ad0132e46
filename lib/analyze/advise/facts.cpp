#include "analyze/advise/facts.hpp"
#include "base/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace msprof {

namespace {

constexpr std::string_view kAiCpuAlone = "ai_cpu_alone_percent";
constexpr std::string_view kCubeShare = "cube_share_percent";

enum Place { kType, kStart, kDuration, kFirstRatio };

struct RatioField {
  std::string_view name;
  int unit;
};
enum Unit { kCube, kVector, kScalar, kMte, kUnits };
// On chips with two kinds of cores, each kind has its own ratio.
constexpr std::array<RatioField, 14> kRatios = {{{"mac_ratio", kCube},
                                                 {"aic_mac_ratio", kCube},
                                                 {"vec_ratio", kVector},
                                                 {"aiv_vec_ratio", kVector},
                                                 {"scalar_ratio", kScalar},
                                                 {"aic_scalar_ratio", kScalar},
                                                 {"aiv_scalar_ratio", kScalar},
                                                 {"mte1_ratio", kMte},
                                                 {"mte2_ratio", kMte},
                                                 {"mte3_ratio", kMte},
                                                 {"aic_mte1_ratio", kMte},
                                                 {"aic_mte2_ratio", kMte},
                                                 {"aiv_mte2_ratio", kMte},
                                                 {"aiv_mte3_ratio", kMte}}};

constexpr std::int64_t kMaxTimeUs = INT64_MAX / 4000;

// Parses "1715760307201793.880".
std::optional<std::int64_t> parse_us_as_ns(std::string_view text) {
  std::int64_t us = 0;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, us);
  if (error != std::errc() || us < 0 || us > kMaxTimeUs) return std::nullopt;
  std::int64_t ns = us * 1000;
  if (at == end || *at != '.') return ns;
  std::int64_t factor = 100;
  for (++at; at != end && factor > 0 && *at >= '0' && *at <= '9'; ++at, factor /= 10)
    ns += (*at - '0') * factor;
  return ns;
}

std::optional<double> percent_or_none(double part, double whole) {
  return whole > 0 ? std::optional(100 * part / whole) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> us_as_ns(const Cell& cell) {
  if (cell.form != CellForm::us) return parse_us_as_ns(cell_text(cell));
  const bool is_valid = cell.integer >= 0 && cell.integer / 1000 <= kMaxTimeUs;
  return is_valid ? std::optional(cell.integer) : std::nullopt;
}

std::vector<std::string> fact_names() {
  return {std::string(kAiCpuAlone), std::string(kCubeShare)};
}

bool is_fact(std::string_view name) {
  return name == kAiCpuAlone || name == kCubeShare;
}

std::vector<WantedField> ComputedFacts::fields() {
  std::vector<WantedField> fields = {
      {"task_type"}, {"task_start_time", true}, {"task_duration", true}};
  for (const RatioField& ratio : kRatios) fields.push_back({std::string(ratio.name), true});
  return fields;
}

void ComputedFacts::add(std::span<const TableValue> values) {
  const std::string_view type = values[kType].text;
  const bool is_cpu = type.find("AI_CPU") != std::string_view::npos;
  const auto start = us_as_ns(values[kStart].cell);
  const auto duration = us_as_ns(values[kDuration].cell);
  if (type == "COMMUNICATION" || !start || !duration) return;
  add_interval(is_cpu, *start, *duration);
  if (is_cpu) return;
  std::array<double, kUnits> load{};
  for (std::size_t i = 0; i < kRatios.size(); ++i) {
    const auto& ratio = values[kFirstRatio + i].number;
    double& most = load[static_cast<std::size_t>(kRatios[i].unit)];
    if (ratio) most = std::max(most, *ratio);
  }
  const auto highest = std::max_element(load.begin(), load.end());
  if (*highest <= 0) return;
  const double us = static_cast<double>(*duration) / 1000;
  const std::array<double*, kUnits> sums = {&cube_us_, &vector_us_, &scalar_us_, &mte_us_};
  *sums[static_cast<std::size_t>(highest - load.begin())] += us;
}

void ComputedFacts::add_interval(bool is_cpu, std::int64_t start_ns, std::int64_t duration_ns) {
  if (!has_intervals_) now_ns_ = start_ns;
  has_intervals_ = true;
  has_cpu_ = has_cpu_ || is_cpu;
  advance(start_ns);
  std::int64_t& end = is_cpu ? cpu_end_ns_ : core_end_ns_;
  end = std::max(end, saturating_add(start_ns, duration_ns));
}

// Accounts for the time from now_ns_ to `to_ns`.
void ComputedFacts::advance(std::int64_t to_ns) {
  if (to_ns <= now_ns_) return;
  const auto busy_until = [&](std::int64_t end) { return std::clamp(end, now_ns_, to_ns); };
  const std::int64_t core = busy_until(core_end_ns_);
  const std::int64_t cpu = busy_until(cpu_end_ns_);
  both_ns_ += static_cast<double>(saturating_subtract(std::min(core, cpu), now_ns_));
  (core > cpu ? core_only_ns_ : cpu_only_ns_) +=
      static_cast<double>(saturating_subtract(std::max(core, cpu), std::min(core, cpu)));
  now_ns_ = to_ns;
}

std::optional<FactValue> ComputedFacts::value(std::string_view name) {
  advance(std::max(core_end_ns_, cpu_end_ns_));
  return name == kAiCpuAlone ? ai_cpu_alone() : cube_share();
}

std::optional<FactValue> ComputedFacts::ai_cpu_alone() const {
  const auto share = percent_or_none(cpu_only_ns_, cpu_only_ns_ + core_only_ns_ + both_ns_);
  if (!has_cpu_ || !share) return std::nullopt;
  return FactValue{*share,
                   cpu_only_ns_ / 1000,
                   {{"AI CPU Only Time(us)", cpu_only_ns_ / 1000},
                    {"AI Core Only Time(us)", core_only_ns_ / 1000},
                    {"Parallel Time(us)", both_ns_ / 1000}}};
}

std::optional<FactValue> ComputedFacts::cube_share() const {
  const double all = cube_us_ + vector_us_ + scalar_us_ + mte_us_;
  const auto share = percent_or_none(cube_us_, all);
  if (!share) return std::nullopt;
  return FactValue{*share,
                   all,
                   {{"Cube Time(us)", cube_us_},
                    {"Vector Time(us)", vector_us_},
                    {"Scalar Time(us)", scalar_us_},
                    {"MTE Time(us)", mte_us_}}};
}

}  // namespace msprof
