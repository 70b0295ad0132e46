// The two stories of the demo, with real runs: compare names the operators that are to blame, with
// the share that a calculation by hand gives.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

class Story {
 public:
  Story(const std::string& base, const std::string& now)
      : base_(collect(base)), now_(collect(now)) {
    const auto result = run_msprof({"compare", base_.string(), now_.string(), "--json", "-q"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    comparison = Json::parse(result.out);
  }

  // Of an execution: its layers whose type `condition` takes, each at its median.
  double base_us(const std::string& condition) const { return layers_us(base_, condition); }
  double new_us(const std::string& condition) const { return layers_us(now_, condition); }
  double change_us() const { return execution_us(now_) - execution_us(base_); }

  Json comparison;

 private:
  fs::path collect(const std::string& model) {
    const fs::path out = folder_ / model;
    const auto result =
        run_msprof({"collect", "-q", "-m", "main", "--project", DEMO_FOLDER, "--output",
                    out.string(), "--", "--model", model, "--images", "7"});
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

  static double execution_us(const fs::path& capture) {
    std::vector<double> each;
    for (const std::string& row : query(capture / "sqlite" / "msprof.db",
                                        "SELECT sum(duration_ns) FROM task GROUP BY execution"))
      each.push_back(std::stod(row) / 1000);
    return median(each);
  }

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

std::set<std::string> first_types(const Json& comparison, std::size_t count) {
  std::set<std::string> types;
  for (std::size_t i = 0; i < count; ++i)
    types.insert(comparison.at("types").at(i).at("type").get<std::string>());
  return types;
}

}  // namespace

TEST_CASE("mish against leaky_relu: Softplus and Tanh went, LeakyRelu came, with their shares") {
  const Story story("mish", "leaky_relu");
  const Json& comparison = story.comparison;
  // Seven executions on a busy machine may not tell a half from noise, but never the contrary.
  CHECK(comparison.at("verdict") != "slower");
  CHECK(comparison.at("total").at("percent") < -20);
  CHECK(comparison.at("total").at("delta_us") == Approx(story.change_us()).epsilon(0.1));
  CHECK(first_types(comparison, 2) == std::set<std::string>{"Softplus", "Tanh"});
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
  CHECK(shares == Approx(by_hand).epsilon(0.1));
  // What went is named, layer by layer: six activations of three layers, six of one.
  CHECK(comparison.at("matches").at("only_base") == 18);
  CHECK(comparison.at("matches").at("only_new") == 6);
  const Json& largest = comparison.at("ops").at(0);
  CHECK(largest.at("matched_by") == "unmatched");
  CHECK(largest.at("is_noise") == false);
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
