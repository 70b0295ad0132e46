#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "runtime/engine/kernels/kernels.hpp"
#include "runtime/runtime_fixture.hpp"

using namespace msprof::runtime;
using namespace msprof::runtime::test;

namespace {

std::vector<float> run_one(const std::string& model,
                           const std::vector<std::vector<float>>& inputs) {
  const Initialised runtime;
  Runner runner(model);
  return runner.run(inputs);
}

void check_close(const std::vector<float>& got, const std::vector<float>& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i);
    CHECK(got[i] == Approx(wanted[i]).margin(1e-5).epsilon(1e-4));
  }
}

std::vector<float> random_floats(std::mt19937& engine, std::size_t count) {
  std::uniform_real_distribution<float> draw(-1.0F, 1.0F);
  std::vector<float> values(count);
  for (float& value : values) value = draw(engine);
  return values;
}

// A convolution by its definition, in double precision and not optimized.
std::vector<float> slow_convolution(const WindowGeometry& g, const std::vector<float>& input,
                                    const std::vector<float>& weights) {
  std::vector<float> output;
  for (int64_t o = 0; o < g.out_channels; ++o) {
    for (int64_t y = 0; y < g.out_height; ++y) {
      for (int64_t x = 0; x < g.out_width; ++x) {
        double sum = 0;
        for (int64_t c = 0; c < g.group_inputs(); ++c) {
          for (int64_t ky = 0; ky < g.kernel_height; ++ky) {
            for (int64_t kx = 0; kx < g.kernel_width; ++kx) {
              const int64_t iy = y * g.stride_height - g.pad_height + ky,
                            ix = x * g.stride_width - g.pad_width + kx;
              if (iy < 0 || ix < 0 || iy >= g.in_height || ix >= g.in_width) continue;
              const int64_t channel = o / g.group_outputs() * g.group_inputs() + c;
              const int64_t tap =
                  ((o * g.group_inputs() + c) * g.kernel_height + ky) * g.kernel_width + kx;
              sum += static_cast<double>(weights[static_cast<std::size_t>(tap)]) *
                     static_cast<double>(input[static_cast<std::size_t>(
                         (channel * g.in_height + iy) * g.in_width + ix)]);
            }
          }
        }
        output.push_back(static_cast<float>(sum));
      }
    }
  }
  return output;
}

}  // namespace

TEST_CASE("a 3x3 convolution with padding gives the hand-computed sums") {
  // A box filter over 1..9: corners sum four values, edges six, the centre all nine.
  check_close(run_one(one_layer("[1,3,3]", R"("type":"Conv2D","out_channels":1,"kernel":3,"pad":1,
                      "weights":[1,1,1,1,1,1,1,1,1],"bias":[0.5])"),
                      {{1, 2, 3, 4, 5, 6, 7, 8, 9}}),
              {12.5F, 21.5F, 16.5F, 27.5F, 45.5F, 33.5F, 24.5F, 39.5F, 28.5F});
}

TEST_CASE("stride and an uneven kernel give the hand-computed sums") {
  // Kernel 1x2 with stride 2x1: uses two of three rows.
  check_close(run_one(one_layer("[1,3,3]",
                                R"("type":"Conv2D","out_channels":1,"kernel":[1,2],"stride":[2,1],
                      "weights":[1,10],"with_bias":false)"),
                      {{1, 2, 3, 4, 5, 6, 7, 8, 9}}),
              {21, 32, 87, 98});
}

TEST_CASE("groups use only their own channels") {
  check_close(run_one(one_layer("[4,1,1]",
                                R"("type":"Conv2D","out_channels":2,"groups":2,"weights":[1,2,3,4],
                      "with_bias":false)"),
                      {{1, 10, 100, 1000}}),
              {21, 4300});
}

TEST_CASE("a convolution mixes channels and adds each channel's bias") {
  check_close(
      run_one(one_layer("[2,1,2]",
                        R"("type":"Conv2D","out_channels":2,"weights":[1,2,3,4],"bias":[100,200])"),
              {{1, 2, 10, 20}}),
      {121, 142, 243, 286});
}

TEST_CASE("every shape of convolution agrees with the definition") {
  std::mt19937 engine(7);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  for (int round = 0; round < 300; ++round) {
    WindowGeometry g;
    const int64_t shape = draw(0, 3);
    g.groups = shape == 0 ? draw(1, 9) : shape == 1 ? draw(1, 3) : 1;
    g.in_channels = g.groups * (shape == 0 ? 1 : draw(1, 9));
    g.out_channels = g.groups * (shape == 0 ? 1 : draw(1, 9));
    if (shape == 3) g.in_channels = 70;  // deep enough that pointwise columns are copied first
    g.in_height = draw(1, 14), g.in_width = draw(1, 30);
    g.kernel_height = shape == 3 ? 1 : draw(1, std::min<int64_t>(g.in_height, 5));
    g.kernel_width = shape == 3 ? 1 : draw(1, std::min<int64_t>(g.in_width, 5));
    g.stride_height = draw(1, 3), g.stride_width = draw(1, 3);
    if (draw(0, 1) == 1) g.stride_height = g.stride_width = 1;
    g.pad_height = draw(0, g.kernel_height - 1), g.pad_width = draw(0, g.kernel_width - 1);
    g.out_height = (g.in_height + 2 * g.pad_height - g.kernel_height) / g.stride_height + 1;
    g.out_width = (g.in_width + 2 * g.pad_width - g.kernel_width) / g.stride_width + 1;

    const auto input =
        random_floats(engine, static_cast<std::size_t>(g.in_channels * g.in_height * g.in_width));
    const auto weights =
        random_floats(engine, static_cast<std::size_t>(g.out_channels * g.group_inputs() *
                                                       g.kernel_height * g.kernel_width));
    std::vector<float> packed(packed_weight_floats(g)), scratch(convolution_scratch_floats(g));
    std::vector<float> output(
        static_cast<std::size_t>(g.out_channels * g.out_height * g.out_width));
    const std::vector<float> ones(static_cast<std::size_t>(g.out_channels), 1.0F);
    const std::vector<float> zeros(static_cast<std::size_t>(g.out_channels), 0.0F);
    pack_weights(g, weights.data(), packed.data());
    convolve(g, input.data(), packed.data(),
             {ones.data(), zeros.data(), Activation::kNoActivation, 0.0F}, scratch.data(),
             output.data());
    INFO("round " << round << " groups " << g.groups << " in " << g.in_channels << " out "
                  << g.out_channels);
    const std::vector<float> wanted = slow_convolution(g, input, weights);
    float worst = 0.0F;
    for (std::size_t i = 0; i < output.size(); ++i)
      worst = std::max(worst, std::fabs(output[i] - wanted[i]));
    REQUIRE(worst < 1e-3F);
  }
}

TEST_CASE("batch normalisation follows its formula") {
  // (x - mean) / sqrt(variance + epsilon) * gamma + beta
  check_close(
      run_one(one_layer("[2,1,2]",
                        R"("type":"BN","gamma":[2,1],"beta":[1,0],"mean":[1,3],"variance":[4,0.25],
                      "epsilon":0)"),
              {{1, 3, 3, 4}}),
      {1, 3, 0, 2});
}

TEST_CASE("a fused layer computes the same as its three layers") {
  const std::string head = R"({"format":"msprof-model","version":1,"name":"f","seed":11,
    "inputs":[{"name":"in","shape":[3,9,11]}],"layers":[)";
  const std::string apart =
      head + R"({"name":"c","type":"Conv2D","inputs":["in"],"out_channels":5,"kernel":3,"pad":1},
    {"name":"b","type":"BN","inputs":["c"]},{"name":"r","type":"Relu","inputs":["b"]}]})";
  const std::string fused =
      head + R"({"name":"x","type":"ConvBNRelu","inputs":["in"],"out_channels":5,"kernel":3,
    "pad":1,"original":["c","b","r"]}]})";
  std::mt19937 engine(3);
  const std::vector<float> image = random_floats(engine, 3 * 9 * 11);
  const std::vector<float> together = run_one(fused, {image});
  check_close(together, run_one(apart, {image}));
  CHECK(std::count(together.begin(), together.end(), 0.0F) > 0);  // the activation had an effect

  std::string leaky_apart = apart, leaky_fused = fused;
  leaky_apart.replace(leaky_apart.find(R"("type":"Relu")"), 13,
                      R"("type":"LeakyRelu","slope":0.25)");
  leaky_fused.replace(leaky_fused.find("ConvBNRelu\""), 11, R"(ConvBNLeakyRelu","slope":0.25)");
  check_close(run_one(leaky_fused, {image}), run_one(leaky_apart, {image}));
}

TEST_CASE("activations give the known values") {
  const std::vector<std::vector<float>> in = {{-200, -1, 0, 1, 200}};
  check_close(run_one(one_layer("[1,1,5]", R"("type":"Relu")"), in), {0, 0, 0, 1, 200});
  check_close(run_one(one_layer("[1,1,5]", R"("type":"LeakyRelu","slope":0.5)"), in),
              {-100, -0.5F, 0, 1, 200});
  check_close(run_one(one_layer("[1,1,5]", R"("type":"Softplus")"), in),
              {0, 0.3132617F, 0.6931472F, 1.3132617F, 200});
  check_close(run_one(one_layer("[1,1,5]", R"("type":"Tanh")"), in),
              {-1, -0.7615942F, 0, 0.7615942F, 1});
}

TEST_CASE("BNInferenceD is BN under another name") {
  const std::string bn = R"("type":"BN","gamma":[2,1],"beta":[1,0],"mean":[1,3],"variance":[4,1])";
  std::string renamed = bn;
  renamed.replace(renamed.find("BN"), 2, "BNInferenceD");
  const std::vector<std::vector<float>> in = {{1, 3, 3, 4}};
  CHECK(run_one(one_layer("[2,1,2]", renamed), in) == run_one(one_layer("[2,1,2]", bn), in));
}

TEST_CASE("channel blocks store each pixel's channels together, padded with zeros") {
  constexpr std::int64_t kChannels = 5, kPlane = 3, kBlock = 4;
  std::vector<float> image(kChannels * kPlane);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i);
  std::vector<float> blocks(2 * kBlock * kPlane, -1);
  to_blocks(image.data(), kChannels, kPlane, kBlock, blocks.data());
  CHECK(blocks == std::vector<float>{0,  3, 6, 9, 1,  4, 7, 10, 2,  5, 8, 11,
                                     12, 0, 0, 0, 13, 0, 0, 0,  14, 0, 0, 0});
  std::vector<float> back(image.size(), -1);
  from_blocks(blocks.data(), kChannels, kPlane, kBlock, back.data());
  CHECK(back == image);
}

TEST_CASE("TransData to NC1HWC0 and back changes no value, and an activation works in between") {
  const auto model = [](const std::string& between) {
    return R"({"format":"msprof-model","version":1,"name":"t","inputs":[{"name":"in","shape":[19,2,3]}],
      "layers":[{"name":"a","type":"TransData","inputs":["in"],"to":"NC1HWC0"},
                {"name":"b","type":")" +
           between + R"(","inputs":["a"]},
                {"name":"c","type":"TransData","inputs":["b"],"to":"NCHW"}]})";
  };
  std::mt19937 engine(5);
  const std::vector<float> image = random_floats(engine, 19 * 2 * 3);
  std::vector<float> wanted = image;
  for (float& value : wanted) value = std::max(value, 0.0F);
  CHECK(run_one(model("Relu"), {image}) == wanted);
  CHECK(run_one(model("Softplus"), {image}) ==
        run_one(one_layer("[19,2,3]", R"("type":"Softplus")"), {image}));
}

TEST_CASE("Mul and Add have two inputs") {
  const std::vector<std::vector<float>> in = {{1, 2, 3}, {10, -20, 0.5F}};
  check_close(run_one(one_layer("[3,1,1]", R"("type":"Mul")", "[3,1,1]"), in), {10, -40, 1.5F});
  check_close(run_one(one_layer("[3,1,1]", R"("type":"Add")", "[3,1,1]"), in), {11, -18, 3.5F});
}

TEST_CASE("pools compute the maximum or mean of the inputs inside the image") {
  const std::vector<std::vector<float>> in = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
  check_close(run_one(one_layer("[1,3,3]", R"("type":"Pool","mode":"max","kernel":2)"), in),
              {5, 6, 8, 9});
  check_close(
      run_one(one_layer("[1,3,3]", R"("type":"Pool","mode":"avg","kernel":2,"stride":2,"pad":1)"),
              in),
      {1, 2.5F, 5.5F, 7});
  check_close(run_one(one_layer("[1,3,3]", R"("type":"Pool","mode":"avg","global":true)"), in),
              {5});
  check_close(run_one(one_layer("[1,3,3]", R"("type":"Pool","mode":"max","global":true)"), in),
              {9});
  check_close(
      run_one(one_layer("[1,1,2]", R"("type":"Pool","mode":"max","kernel":[1,2],"pad":[0,1])"),
              {{-5, -7}}),
      {-5, -5, -7});
}

TEST_CASE("a fully connected layer is a matrix times a vector plus a bias") {
  check_close(run_one(one_layer("[3,1,1]",
                                R"("type":"FullyConnected","out_features":2,"weights":[1,2,3,4,5,6],
                      "bias":[0.5,-0.5])"),
                      {{1, 10, 100}}),
              {321.5F, 653.5F});
  // Long enough for the eight lanes and a remainder.
  std::string ones;
  for (int i = 0; i < 19; ++i) ones += i == 0 ? "1" : ",1";
  check_close(
      run_one(
          one_layer("[1,1,19]",
                    R"("type":"FullyConnected","out_features":1,"with_bias":false,"weights":[)" +
                        ones + "]"),
          {std::vector<float>(19, 2.0F)}),
      {38});
}

TEST_CASE("softmax runs over the channels and survives large inputs") {
  check_close(run_one(one_layer("[2,1,2]", R"("type":"Softmax")"), {{0, 1000, 0, 998}}),
              {0.5F, 0.8807971F, 0.5F, 0.1192029F});
}

TEST_CASE("a batch computes each image independently") {
  const Initialised runtime;
  Runner runner(tiny_model());
  std::mt19937 engine(9);
  const std::vector<float> images = random_floats(engine, 3 * 32);
  const std::vector<float> together = runner.run({images}, 3);
  REQUIRE(together.size() == 9);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto first = images.begin() + static_cast<std::ptrdiff_t>(i * 32);
    const std::vector<float> alone = runner.run({{first, first + 32}}, 1);
    CHECK(std::equal(alone.begin(), alone.end(),
                     together.begin() + static_cast<std::ptrdiff_t>(i * 3)));
  }
}

TEST_CASE("a tensor that two layers read is not overwritten between them") {
  // in -> a -> b -> c, and c + a: a must survive b and c although slots are shared.
  const std::string model =
      R"({"format":"msprof-model","version":1,"name":"d","inputs":[{"name":"in","shape":[1,1,2]}],
    "layers":[{"name":"a","type":"Add","inputs":["in","in"]},{"name":"b","type":"Add","inputs":["a","a"]},
    {"name":"c","type":"Add","inputs":["b","b"]},{"name":"d","type":"Add","inputs":["c","a"]}]})";
  check_close(run_one(model, {{1, 2}}), {10, 20});
}

TEST_CASE("seeded weights are the same in every run and differ with the seed") {
  std::string other = tiny_model();
  other.replace(other.find("\"seed\":5"), 8, "\"seed\":6");
  const std::vector<std::vector<float>> image = {std::vector<float>(32, 0.5F)};
  CHECK(run_one(tiny_model(), image) == run_one(tiny_model(), image));
  CHECK(run_one(tiny_model(), image) != run_one(other, image));
}
