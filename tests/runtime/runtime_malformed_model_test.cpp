#include <catch2/catch.hpp>
#include <random>

#include "runtime/runtime_fixture.hpp"

using namespace msprof::runtime::test;

namespace {

struct Loaded {
  svp_acl_error code;
  std::string said;
};

Loaded try_load(const std::string& bytes) {
  const CapturedStderr captured;
  uint32_t id = 0;
  const svp_acl_error code = svp_acl_mdl_load_from_mem(bytes.data(), bytes.size(), &id);
  if (code == SVP_ACL_SUCCESS) svp_acl_mdl_unload(id);
  return {code, captured.text()};
}

// Checks that a model is refused with one error message.
void check_refused(const std::string& model, const std::string& sentence_part) {
  const Loaded loaded = try_load(model);
  INFO(model.substr(0, 300) << "\nsaid: " << loaded.said);
  CHECK(loaded.code == SVP_ACL_ERROR_PARSE_MODEL);
  CHECK(loaded.said.find(sentence_part) != std::string::npos);
  CHECK(std::count(loaded.said.begin(), loaded.said.end(), '\n') == 1);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a file that is not a model is refused with one message") {
  const Initialised runtime;
  check_refused("PICO\x01\x02", "an .om file runs on a board only");
  check_refused("[]", "must be a JSON object");
  check_refused("{}", "\"format\" must be \"msprof-model\"");
  check_refused(replaced(tiny_model(), "\"version\":1", "\"version\":2"),
                "\"version\" must be an integer from 1 to 1");
  check_refused(replaced(tiny_model(), "\"name\":\"tiny\",", ""), "\"name\" is missing");
  check_refused(std::string(2000, '['), "not a JSON model file");
}

TEST_CASE("invalid shapes and sizes are refused before memory is allocated") {
  const Initialised runtime;
  const std::string relu = R"("type":"Relu")";
  check_refused(one_layer("[1,0,3]", relu), "must be an integer from 1");
  check_refused(one_layer("[1,3]", relu), "[channels, height, width]");
  check_refused(one_layer("[65536,65536,65536]", relu), "a tensor has more than");
  check_refused(one_layer("[1,-1,3]", relu), "must be an integer from 1");
  check_refused(one_layer("[1,1.5,3]", relu), "must be an integer from 1");
  check_refused(one_layer("[1,18446744073709551615,3]", relu), "must be an integer from 1");
  check_refused(one_layer("[65536,1,1]", R"("type":"FullyConnected","out_features":65536)"),
                "more weights");
  check_refused(
      one_layer("[65536,1,256]", R"("type":"Conv2D","out_channels":1,"kernel":64,"pad":63)"),
      "more weights");
  check_refused(one_layer("[1,4096,4096]", R"("type":"Conv2D","out_channels":2)"),
                "a tensor has more than");
  check_refused(replaced(one_layer("[1,4096,4096]", relu), "\"version\":1",
                         "\"version\":1,\"max_batch\":1024"),
                "one execution would need");
}

TEST_CASE("unsuitable parameters are refused and reported with their layer") {
  const Initialised runtime;
  check_refused(one_layer("[1,3,3]", R"("type":"Magic")"), "type \"Magic\" is not one of Conv2D");
  check_refused(one_layer("[1,3,3]", R"("type":"Conv2D")"),
                "layer 'out': \"out_channels\" is missing");
  check_refused(one_layer("[1,3,3]", R"("type":"Conv2D","out_channels":1,"kernel":5)"),
                "larger than the padded input");
  check_refused(one_layer("[1,3,3]", R"("type":"Conv2D","out_channels":1,"kernel":3,"pad":3)"),
                "\"pad\" must be <");
  check_refused(one_layer("[1,3,3]", R"("type":"Conv2D","out_channels":1,"stride":0)"),
                "\"stride\" must be an integer");
  check_refused(one_layer("[3,3,3]", R"("type":"Conv2D","out_channels":4,"groups":2)"),
                "\"groups\" must divide");
  check_refused(one_layer("[1,3,3]", R"("type":"Conv2D","out_channels":1,"weights":[1,2])"),
                "2 numbers where 1");
  check_refused(one_layer("[1,3,3]", R"("type":"Conv2D","out_channels":1,"weights":[1e300])"),
                "finite numbers");
  check_refused(one_layer("[1,3,3]", R"("type":"Conv2D","out_channels":1,"weights":["1"])"),
                "finite numbers");
  check_refused(one_layer("[1,3,3]", R"("type":"Conv2D","out_channels":1,"strides":2)"),
                "\"strides\" is not a key");
  check_refused(one_layer("[1,3,3]", R"("type":"BN","variance":[-1])"),
                "variance + epsilon must be > 0");
  check_refused(one_layer("[1,3,3]", R"("type":"Pool","mode":"min")"), "\"mode\" must be");
  check_refused(one_layer("[1,3,3]", R"("type":"Relu","run_on":"GPU")"), "\"run_on\" must be");
  check_refused(one_layer("[1,3,3]", R"("type":"Relu","original":[])"),
                "\"original\" must not be empty");
  check_refused(one_layer("[1,3,3]", R"("type":"Mul")"), "Mul takes 2 inputs, not 1");
  check_refused(one_layer("[1,3,3]", R"("type":"Add")", "[1,3,2]"), "the same shape");
}

TEST_CASE("an unsupported channel order is refused") {
  const Initialised runtime;
  check_refused(one_layer("[1,3,3]", R"("type":"TransData","to":"NHWC")"),
                "\"to\" must be \"NC1HWC0\" or \"NCHW\"");
  check_refused(one_layer("[1,3,3]", R"("type":"TransData","to":"NCHW")"),
                "the input is in the order NCHW already");
  check_refused(one_layer("[1,3,3]", R"("type":"TransData","to":"NC1HWC0")"),
                "the output 'out' is not in NCHW order");
  for (const std::string reader :
       {R"("type":"Softmax")", R"("type":"BNInferenceD")", R"("type":"Pool","mode":"max")",
        R"("type":"Conv2D","out_channels":1)", R"("type":"FullyConnected","out_features":1)"}) {
    const std::string model =
        R"({"format":"msprof-model","version":1,"name":"t","inputs":[{"name":"in","shape":[1,3,3]}],
      "layers":[{"name":"a","type":"TransData","inputs":["in"],"to":"NC1HWC0"},
                {"name":"out","inputs":["a"],)" +
        reader + "}]}";
    check_refused(model, "accepts inputs only in NCHW order");
  }
}

TEST_CASE("names must be known, unique and of bounded length") {
  const Initialised runtime;
  check_refused(replaced(tiny_model(), R"("inputs":["conv1"])", R"("inputs":["later"])"),
                "is named 'later'");
  check_refused(replaced(tiny_model(), R"("inputs":["conv1"])", R"("inputs":["relu1"])"),
                "is named 'relu1'");
  check_refused(replaced(tiny_model(), R"("name":"relu1")", R"("name":"conv1")"),
                "'conv1' is used twice");
  check_refused(
      replaced(tiny_model(), R"("name":"tiny")", "\"name\":\"" + std::string(257, 'x') + "\""),
      "1 to 256");
  check_refused(replaced(tiny_model(), R"("name":"tiny")", R"("name":"a\u0000b")"), "no NUL");
}

TEST_CASE("no truncated or damaged model file crashes the process") {
  const Initialised runtime;
  const std::string good = tiny_model();
  int refused = 0;
  for (std::size_t length = 1; length < good.size(); length += 3) {
    refused += try_load(good.substr(0, length)).code == SVP_ACL_ERROR_PARSE_MODEL ? 1 : 0;
  }
  CHECK(refused == static_cast<int>((good.size() + 1) / 3));

  std::mt19937 engine(13);
  for (int round = 0; round < 400; ++round) {
    std::string damaged = good;
    for (int flips = 0; flips < 3; ++flips) {
      damaged[engine() % damaged.size()] = static_cast<char>(engine() % 128);
    }
    const svp_acl_error code = try_load(damaged).code;
    CHECK((code == SVP_ACL_SUCCESS || code == SVP_ACL_ERROR_PARSE_MODEL));
  }
}
