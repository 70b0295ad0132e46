// The two stories of the demo with real runs: compare lists the operators responsible, with the
// shares from an independent calculation.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

class Story {
 public:
  Story(const std::string& base, const std::string& now, const std::string& new_batch = "1")
      : base_(collect("base", base, "1")), now_(collect("new", now, new_batch)) {
    const auto result = run_msprof({"compare", base_.string(), now_.string(), "--json", "-q"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    comparison = Json::parse(result.out);
  }

  // Per execution: total of the medians of all layers whose type matches `condition`.
  double base_us(const std::string& condition) const { return layers_us(base_, condition); }
  double new_us(const std::string& condition) const { return layers_us(now_, condition); }
  // Execution times, shortest first.
  std::vector<double> new_executions_us() const { return executions_us(now_); }
  double change_us() const { return execution_us(now_) - execution_us(base_); }

  Json comparison;

 private:
  fs::path collect(const std::string& side, const std::string& model, const std::string& batch) {
    const fs::path out = folder_ / side;
    const auto result =
        run_msprof({"collect", "-q", "-m", "main", "--project", DEMO_FOLDER, "--output",
                    out.string(), "--", "--model", model, "--images", "7", "--batch", batch});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const auto names = names_in(out);
    REQUIRE(names.size() == 1);
    return out / names[0];
  }

  static double median(std::vector<double> each) {
    REQUIRE_FALSE(each.empty());
    std::sort(each.begin(), each.end());
    return each[each.size() / 2];
  }

  static std::vector<double> executions_us(const fs::path& capture) {
    std::vector<double> each;
    for (const std::string& row : query(capture / "sqlite" / "msprof.db",
                                        "SELECT sum(duration_ns) FROM task GROUP BY execution"))
      each.push_back(std::stod(row) / 1000);
    std::sort(each.begin(), each.end());
    REQUIRE_FALSE(each.empty());
    return each;
  }

  static double execution_us(const fs::path& capture) { return median(executions_us(capture)); }

  static double layers_us(const fs::path& capture, const std::string& condition) {
    std::map<std::string, std::vector<double>> layers;
    for (const std::string& row :
         query(capture / "sqlite" / "msprof.db",
               "SELECT duration_ns, op_id FROM task JOIN op ON op.id = task.op_id JOIN name ON"
               " name.id = op.type_name_id WHERE " +
                   condition))
      layers[row.substr(row.find('|'))].push_back(std::stod(row) / 1000);
    double sum = 0;
    for (const auto& [layer, each] : layers) sum += median(each);
    return sum;
  }

  TempFolder folder_;
  fs::path base_, now_;
};

double share_of_type(const Json& comparison, const std::string& type) {
  for (const Json& one : comparison.at("types"))
    if (one.at("type") == type) return one.at("share");
  FAIL("no type " + type);
  return 0;
}

}  // namespace

TEST_CASE("the same model with a larger batch is compared per picture, not as four times slower") {
  const Story story("face_mask", "face_mask", "4");
  const Json& comparison = story.comparison;
  CHECK(comparison.at("unit") == "one picture");
  CHECK(comparison.at("warnings").at(0).at("id") == "batches_differ");
  CHECK(comparison.at("base").at("batches") == Json{1});
  CHECK(comparison.at("base").at("pictures") == 7);
  CHECK(comparison.at("new").at("batches") == Json{4});
  CHECK(comparison.at("new").at("executions") == 2);
  // An execution of four pictures counts as four: the time per picture is far below the execution
  // time.
  const double execution_us = comparison.at("total").at("new_us").get<double>() * 4;
  CHECK(execution_us >= 0.7 * story.new_executions_us().front());
  CHECK(execution_us <= 1.5 * story.new_executions_us().back());
}

// Real runs: another program can slow down any layer, so the order of the changes is not checked.
// compare_runs_test checks it with synthetic times.
TEST_CASE(
    "mish against leaky_relu: Softplus and Tanh are removed, LeakyRelu is added, with their "
    "shares") {
  const Story story("mish", "leaky_relu");
  const Json& comparison = story.comparison;
  CHECK(comparison.at("total").at("delta_us") == Approx(story.change_us()).epsilon(0.1));
  double shares = 0, by_hand = 0;
  for (const char* type : {"Softplus", "Tanh", "Mul", "LeakyRelu"}) {
    const std::string condition = "name.text = '" + std::string(type) + "'";
    const double share =
        100 * (story.new_us(condition) - story.base_us(condition)) / story.change_us();
    INFO(type);
    CHECK(share_of_type(comparison, type) == Approx(share).epsilon(0.1).margin(1));
    shares += share_of_type(comparison, type);
    by_hand += share;
  }
  CHECK(shares == Approx(by_hand).epsilon(0.1).margin(1));
  // Each removed layer is listed: six activations of three layers each are replaced by six of one.
  CHECK(comparison.at("matches").at("only_base") == 18);
  CHECK(comparison.at("matches").at("only_new") == 6);
  std::map<std::string, int> unmatched;
  for (const Json& op : comparison.at("ops"))
    if (op.at("matched_by") == "unmatched")
      ++unmatched[op.at(op.at("base_type").is_null() ? "new_type" : "base_type")];
  CHECK(unmatched ==
        std::map<std::string, int>{{"Softplus", 6}, {"Tanh", 6}, {"Mul", 6}, {"LeakyRelu", 6}});
}

TEST_CASE("face_mask against face_mask_fused: every Conv, BN and Relu is matched with its fusion") {
  const Story story("face_mask", "face_mask_fused");
  const Json& comparison = story.comparison;
  CHECK(comparison.at("matches").at("by_fusion") == 11);
  CHECK(comparison.at("matches").at("only_base") == 0);
  CHECK(comparison.at("matches").at("only_new") == 0);
  double fused_us = 0;
  for (const Json& op : comparison.at("ops")) {
    if (op.at("matched_by") != "fusion") continue;
    CHECK(op.at("base_type") == "Conv2D+BN+Relu");
    CHECK(op.at("new_type") == "ConvBNRelu");
    CHECK(op.at("base_names").size() == 3);
    CHECK(op.at("new_names").size() == 1);
    fused_us += op.at("delta_us").get<double>();
  }
  const double by_hand = story.new_us("name.text = 'ConvBNRelu'") -
                         story.base_us("name.text IN ('Conv2D', 'BN', 'Relu')");
  CHECK(fused_us == Approx(by_hand).epsilon(0.1));
  for (const char* type : {"BN", "Relu"}) {
    const std::string condition = "name.text = '" + std::string(type) + "'";
    for (const Json& one : comparison.at("types")) {
      if (one.at("type") != type) continue;
      CHECK(one.at("base_us") == Approx(story.base_us(condition)).epsilon(0.1));
      CHECK(one.at("new_us").is_null());
    }
  }
}
