// The matching of operators of two runs.
#include <catch2/catch.hpp>

#include "analyze/compare/op_matcher.hpp"

namespace msprof {
namespace {

using Ops = std::vector<OpProfile>;

OpProfile op(const std::string& name, const std::string& type, const std::string& shapes = "",
             std::vector<std::string> originals = {}) {
  OpProfile profile;
  profile.name = name;
  profile.type = type;
  profile.shapes = shapes;
  profile.originals = originals.empty() ? std::vector{name} : std::move(originals);
  return profile;
}

// Returns one "0>0 name" per match, in result order.
std::vector<std::string> matched(const Ops& base, const Ops& now) {
  static constexpr const char* kBy[] = {"name", "shape", "fusion", "unmatched"};
  std::vector<std::string> texts;
  for (const OpMatch& match : match_ops(base, now)) {
    std::string text;
    for (const auto i : match.base) text += (text.empty() ? "" : "+") + std::to_string(i);
    text += ">";
    for (std::size_t i = 0; i < match.now.size(); ++i)
      text += (i == 0 ? "" : "+") + std::to_string(match.now[i]);
    texts.push_back(text + " " + kBy[static_cast<int>(match.by)]);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("Operators with the same name are matched at any position") {
  CHECK(matched({op("a", "Conv"), op("b", "Relu")}, {op("b", "Relu"), op("a", "Conv")}) ==
        Texts{"0>1 name", "1>0 name"});
  // A layer whose type changed is still matched by name.
  CHECK(matched({op("act", "Mish")}, {op("act", "LeakyRelu")}) == Texts{"0>0 name"});
}

TEST_CASE("Several operators with the same name are matched by shapes, then by order") {
  CHECK(matched({op("add", "Add", "8"), op("add", "Add", "16"), op("add", "Add", "32")},
                {op("add", "Add", "16"), op("add", "Add", "64"), op("add", "Add", "8")}) ==
        Texts{"0>2 name", "1>0 name", "2>1 name"});
}

TEST_CASE("Names with counters are matched by type and shapes") {
  CHECK(matched({op("Mul_28", "Mul", "8"), op("Add_9", "Add", "8")},
                {op("Add_12", "Add", "8"), op("Mul_31", "Mul", "8")}) ==
        Texts{"0>1 shape", "1>0 shape"});
  // Names with letters in common are preferred.
  CHECK(matched({op("left_1", "Mul", "8"), op("right_2", "Mul", "8")},
                {op("right_7", "Mul", "8"), op("left_9", "Mul", "8")}) ==
        Texts{"0>1 shape", "1>0 shape"});
}

TEST_CASE(
    "Without shapes, renamed operators are matched by type if both sides have the same number") {
  CHECK(matched({op("a", "Conv"), op("b", "Conv")}, {op("x", "Conv"), op("y", "Conv")}) ==
        Texts{"0>0 shape", "1>1 shape"});
  CHECK(matched({op("a", "Conv"), op("b", "Conv")}, {op("x", "Conv")}) ==
        Texts{"0> unmatched", "1> unmatched", ">0 unmatched"});
}

TEST_CASE("Layers that were fused into one layer are matched with it, in both directions") {
  const Ops apart = {op("conv1", "Conv2D"), op("conv1_bn", "BN"), op("conv1_relu", "Relu"),
                     op("pool", "Pool")};
  const std::vector<std::string> layers = {"conv1", "conv1_bn", "conv1_relu"};
  // This also works if the fused layer has the name of one of its parts.
  for (const char* name : {"conv1_fused", "conv1"}) {
    const Ops fused = {op(name, "ConvBNRelu", "", layers), op("pool", "Pool")};
    CHECK(matched(apart, fused) == Texts{"0+1+2>0 fusion", "3>1 name"});
    CHECK(matched(fused, apart) == Texts{"0>0+1+2 fusion", "1>3 name"});
    CHECK(matched(fused, fused) == Texts{"0>0 name", "1>1 name"});
  }
}

TEST_CASE("A larger fusion is matched with the smaller fusion and the layers added to it") {
  CHECK(matched({op("c", "ConvBN", "", {"c", "c_bn"}), op("c_relu", "Relu")},
                {op("c", "ConvBNRelu", "", {"c", "c_bn", "c_relu"})}) == Texts{"0+1>0 fusion"});
}

TEST_CASE("With two models, each operator is matched within its own model") {
  auto with_model = [](const char* model, OpProfile profile) {
    profile.model = model;
    return profile;
  };
  CHECK(matched({with_model("a", op("conv", "Conv")), with_model("b", op("conv", "Conv"))},
                {with_model("b", op("conv", "Conv")), with_model("a", op("conv", "Conv"))}) ==
        Texts{"0>1 name", "1>0 name"});
  CHECK(matched({with_model("old", op("conv", "Conv"))}, {with_model("new", op("conv", "Conv"))}) ==
        Texts{"0>0 name"});
}

TEST_CASE("Operators of only one side stay unmatched, and every operator is in one match") {
  CHECK(matched({op("tanh", "Tanh"), op("conv", "Conv")}, {op("conv", "Conv"), op("leaky", "L")}) ==
        Texts{"0> unmatched", "1>0 name", ">1 unmatched"});
  CHECK(matched({}, {}).empty());
}

}  // namespace
}  // namespace msprof
