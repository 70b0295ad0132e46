// Comparisons of synthetic runs with known noise: random differences are not reported, real changes
// are. The noise resembles that of the demo on a machine that compiles at the same time: every run
// has a heavy tail, runs drift by up to 7 %, operators by up to 12 %, and in some runs most
// executions compete with another program.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "analyze/compare/compare.hpp"
#include "analyze/compare/side_profile.hpp"
#include "import/importer.hpp"
#include "support/job_builder.hpp"
#include "support/temp_folder.hpp"

namespace msprof {
namespace {

constexpr std::uint32_t kLayers = 12;
constexpr std::uint64_t kExecutions = 40;

struct RunShape {
  double drift = 0;           // maximum drift of the whole run
  double op_drift = 0;        // maximum additional drift of one operator
  bool is_busy = false;       // another program runs during most executions
  double slower_layer_3 = 1;  // factor of the change
  std::uint64_t executions = kExecutions;
};

class Runs {
 public:
  explicit Runs(std::uint64_t seed) : random_(seed) {}

  RunProfile make(const RunShape& shape) {
    const std::string name = "JOB" + std::string(28, 'A') + static_cast<char>('A' + number_++);
    test::JobBuilder job(folder_.path(), name);
    job.info_json("1000").net_info("net", 1, {.layer_num = kLayers});
    job.data(test::DataName{}, test::aicore_file(records(shape)));
    const auto session = Session::open(job.folder());
    import_session(*session, job.store(), {});
    const auto store = TraceDb::open(job.store());
    REQUIRE(store);
    return read_run(*store, name, false, natural_unit(*store));
  }

 private:
  double uniform(double least, double most) {
    constexpr double kSteps = 1u << 20;
    return least + (most - least) * static_cast<double>(random_() >> 44) / kSteps;
  }

  std::vector<test::AicoreRecord> records(const RunShape& shape) {
    std::vector<test::AicoreRecord> all;
    const double run = 1 + uniform(0, shape.drift);
    std::vector<double> layer(kLayers);
    for (double& factor : layer) factor = run * (1 + uniform(0, shape.op_drift));
    std::uint64_t now = 1'000'000;
    for (std::uint64_t execution = 0; execution < shape.executions; ++execution) {
      const bool meets_other = shape.is_busy && execution % 10 != 7;
      double hiccup = uniform(0, 1) < 0.1 ? uniform(1.2, 3) : 1;
      if (execution == 0) hiccup = 2.5;
      if (meets_other) hiccup *= uniform(1.4, 1.5);
      for (std::uint32_t i = 0; i < kLayers; ++i) {
        test::AicoreRecord record;
        record.layer_id = i;
        record.start_ns = now;
        record.execution = execution;
        const double change = i == 3 ? shape.slower_layer_3 : 1;
        record.total = static_cast<std::uint64_t>((50'000 + 30'000.0 * i) * change * hiccup *
                                                  layer[i] * uniform(1, 1.02));
        now += record.total;
        all.push_back(record);
      }
    }
    return all;
  }

  std::mt19937_64 random_;
  test::TempFolder folder_;
  int number_ = 0;
};

template <typename Changes>
int beyond_noise(const Changes& changes) {
  int count = 0;
  for (const auto& change : changes) count += change.time.is_noise() ? 0 : 1;
  return count;
}

int count_ratios(const Comparison& comparison) {
  int count = 0;
  for (const OpChange& op : comparison.ops) count += static_cast<int>(op.ratios.size());
  return count;
}

double part(const Change& change) {
  return change.noise > 0 ? std::abs(change.delta()) / change.noise : 0;
}

const OpChange& largest(const Comparison& comparison) {
  REQUIRE_FALSE(comparison.ops.empty());
  return comparison.ops.front();
}

TEST_CASE("None of 105 comparisons of equal, drifting runs reports a change") {
  Runs runs(7);
  std::vector<RunProfile> all;
  for (int i = 0; i < 15; ++i) all.push_back(runs.make({.drift = 0.07, .op_drift = 0.05}));
  double total = 0, op = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const Comparison comparison = compare({all[i]}, {all[j]});
      CHECK(comparison.verdict == Verdict::noise);
      CHECK(beyond_noise(comparison.ops) + beyond_noise(comparison.types) == 0);
      CHECK(count_ratios(comparison) == 0);
      total = std::max(total, part(comparison.total));
      for (const OpChange& one : comparison.ops) op = std::max(op, part(one.time));
    }
  }
  // The noise floor is no higher than needed: with half of it, some of these would be reported.
  CHECK(total > 0.5);
  CHECK(op > 0.5);
}

TEST_CASE("A delayed start is reported even if the executions are noisy") {
  const auto measured = [](double us, double mad_us) {
    Measured one;
    one.add_run(us, mad_us, us);
    return one;
  };
  // Executions of 30 ms with a MAD of 20 ms: noise of 200 %.
  const NoiseFloor floor(measured(30'000, 20'000), measured(30'000, 20'000));
  const double per_execution = 1.0 / 40;
  const auto is_noise = [&](double base_us, double now_us) {
    const Measured base = measured(base_us, 0), now = measured(now_us, 0);
    return Change{base_us, now_us, floor.range_us(base, now, per_execution)}.is_noise();
  };
  CHECK_FALSE(is_noise(5'000'000, 20'000));
  CHECK_FALSE(is_noise(20'000, 5'000'000));
  // A busy machine can cause these differences.
  CHECK(is_noise(200'000, 90'000));
  CHECK(is_noise(90'000, 200'000));
  CHECK(is_noise(20'000, 22'000));
}

TEST_CASE(
    "A run next to another program is reported neither as slower nor, if swapped, as faster") {
  Runs runs(3);
  for (int i = 0; i < 6; ++i) {
    const auto quiet = runs.make({.drift = 0.05}),
               busy = runs.make({.drift = 0.05, .is_busy = true});
    for (const Comparison& comparison : {compare({quiet}, {busy}), compare({busy}, {quiet})}) {
      // The difference is far above 5 % and above the spread of the run's own executions.
      CHECK(std::abs(comparison.total.percent().value_or(0)) > 20);
      CHECK(comparison.verdict == Verdict::noise);
      CHECK(beyond_noise(comparison.ops) == 0);
    }
  }
}

TEST_CASE("A slower operator is found despite noise, with its change") {
  Runs runs(11);
  for (int i = 0; i < 6; ++i) {
    const RunShape shape{.drift = 0.02, .op_drift = 0.01};
    RunShape slower = shape;
    slower.slower_layer_3 = 3;
    const Comparison comparison = compare({runs.make(shape)}, {runs.make(slower)});
    CHECK(comparison.verdict == Verdict::slower);
    CHECK(largest(comparison).base_names == std::vector<std::string>{"layer_3"});
    CHECK(largest(comparison).share > 70);
    CHECK(beyond_noise(comparison.ops) == 1);
    CHECK(comparison.matches.by_name == kLayers);
  }
}

TEST_CASE("A uniform change beyond the drift is reported with one run on each side") {
  Runs runs(5);
  RunProfile base = runs.make({}), now = runs.make({});
  const auto scale = [](RunProfile run, double factor) {
    for (double* us : {&run.total_us, &run.mad_us, &run.fastest_us}) *us *= factor;
    for (OpProfile& op : run.ops)
      for (double* us : {&op.us, &op.mad_us, &op.fastest_us}) *us *= factor;
    return run;
  };
  CHECK(compare({base}, {scale(now, 1.2)}).verdict == Verdict::slower);
  CHECK(compare({base}, {scale(now, 0.8)}).verdict == Verdict::faster);
  CHECK(compare({base}, {scale(now, 1.04)}).verdict == Verdict::noise);
}

TEST_CASE("Several runs on each side show a change that single runs cannot") {
  Runs runs(13);
  const auto side = [&](double factor) {
    std::vector<RunProfile> all;
    for (int i = 0; i < 5; ++i)
      all.push_back(runs.make({.drift = 0.01, .slower_layer_3 = factor, .executions = 15}));
    return all;
  };
  const auto base = side(1), same = side(1), slower = side(1.7);
  const Comparison comparison = compare(base, slower);
  // Layer 3 accounts for 140 of 2,580 us.
  CHECK(comparison.total.percent().value_or(0) == Approx(3.8).margin(1));
  CHECK(comparison.verdict == Verdict::slower);
  CHECK(largest(comparison).base_names == std::vector<std::string>{"layer_3"});
  CHECK(comparison.noise_basis.find("5 and 5 runs") == 0);
  CHECK(comparison.base.executions == 75);
  CHECK(compare({base[0]}, {slower[0]}).verdict == Verdict::noise);
  CHECK(compare(base, same).verdict == Verdict::noise);
}

}  // namespace
}  // namespace msprof
