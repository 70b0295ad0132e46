#include "session/svp_session.hpp"

#include <catch2/catch.hpp>

using namespace msprof::svp;

namespace {

// "kind device model model_id net batch pics current" for a data file name.
std::string reading(std::string_view name, const KnownModels& known = {}) {
  const SvpFileName read = parse_data_name(name, known);
  std::string text(kind_name(read.kind));
  if (read.kind == SvpFileKind::other) return text;
  text += " " + std::to_string(read.device) + " " + read.model + " " +
          std::to_string(read.model_id) + " " +
          (read.net ? std::to_string(*read.net) : std::string("-"));
  for (const auto number : {read.batch_num, read.input_pic_num, read.current_pic_count}) {
    text += " " + std::to_string(number);
  }
  return text + (read.is_ambiguous ? " ambiguous" : "");
}

}  // namespace

TEST_CASE("names of newer boards have three numbers after the model's") {
  CHECK(reading("aicore.0.kws-610-pro.31.1.1.0") == "aicore 0 kws-610-pro 31 - 1 1 0");
  CHECK(reading("aicpu.2.net.7.100.100.18446744073709551") ==
        "aicpu 2 net 7 - 100 100 18446744073709551");
}

TEST_CASE("names of the oldest boards also have a net number, recognized by net.info") {
  const KnownModels known = {{"kws", 31}};
  CHECK(reading("aicore.0.kws.31.0.4.4.800", known) == "aicore 0 kws 31 0 4 4 800");
  CHECK(reading("aicore.0.kws.31.2.4.4.800", known) == "aicore 0 kws 31 2 4 4 800");
  CHECK(reading("aicore.0.kws.31.4.4.800", known) == "aicore 0 kws 31 - 4 4 800");
}

TEST_CASE(
    "with two possible readings and no net.info, the one with fewest numbers is used and reported "
    "as ambiguous") {
  CHECK(reading("aicore.0.kws.31.0.4.4.800") == "aicore 0 kws.31 0 - 4 4 800 ambiguous");
  CHECK(reading("aicore.0.kws.31.0.4.4.800", {{"other", 31}}) ==
        "aicore 0 kws.31 0 - 4 4 800 ambiguous");
}

TEST_CASE(
    "with two possible readings and a net.info for both, the one with fewest numbers is used") {
  const KnownModels both = {{"yolo", 5}, {"yolo.5", 31}};
  CHECK(reading("aicore.0.yolo.5.31.1.1.0", both) == "aicore 0 yolo.5 31 - 1 1 0 ambiguous");
  CHECK(reading("aicore.0.yolo.5.31.1.1.0", {{"yolo.5", 31}}) == "aicore 0 yolo.5 31 - 1 1 0");
  CHECK(reading("aicore.0.yolo.5.31.1.1.0", {{"yolo", 5}}) == "aicore 0 yolo 5 31 1 1 0");
}

TEST_CASE("a net.info of the same model with another number has no effect") {
  CHECK(reading("aicore.0.yolo.5.31.1.1.0", {{"yolo", 6}, {"yolo.5", 32}}) ==
        "aicore 0 yolo.5 31 - 1 1 0 ambiguous");
}

TEST_CASE("a model name can contain dots, dashes, spaces and empty parts") {
  const KnownModels known = {{"a.b-c d", 1}, {".x", 1}, {"x.", 1}, {"a..b", 1}, {"5", 1}};
  for (const char* model : {"a.b-c d", ".x", "x.", "a..b", "5"}) {
    const std::string name = std::string("aicore.0.") + model;
    CHECK(reading(name + ".1.2.3.4", known) == std::string("aicore 0 ") + model + " 1 - 2 3 4");
    CHECK(reading(name + ".1.0.2.3.4", known) == std::string("aicore 0 ") + model + " 1 0 2 3 4");
  }
}

TEST_CASE("calls belong only to a model, and the last number is the model's") {
  CHECK(reading("acl_api.0.kws-610-pro.31") == "acl_api 0 kws-610-pro 31 - 0 0 0");
  CHECK(reading("AclModule.1.yolo.5.31") == "acl_api 1 yolo.5 31 - 0 0 0");
}

TEST_CASE("all spellings of the type words are accepted, in any case") {
  for (const char* word : {"aicore", "AIcore", "AAcore", "aacore", "AICORE"}) {
    CHECK(parse_data_name(std::string(word) + ".0.m.1.1.1.0", {}).kind == SvpFileKind::aicore);
  }
  for (const char* word : {"aicpu", "aacpu", "AACPU", "AIcpu"}) {
    CHECK(parse_data_name(std::string(word) + ".0.m.1.1.1.0", {}).kind == SvpFileKind::aicpu);
  }
  for (const char* word : {"acl_api", "AclModule", "ACLMODULE", "Acl_Api"}) {
    CHECK(parse_data_name(std::string(word) + ".0.m.1", {}).kind == SvpFileKind::acl_api);
  }
  CHECK(parse_data_name("cont.0.m.1.0.0.0", {}).kind == SvpFileKind::cont);
}

TEST_CASE("names that are not data names are of kind other") {
  for (const char* name :
       {"", ".", "aicore", "aicore.", "aicore.0", "aicore.0.m", "aicore.x.m.1.1.1.0",
        "aicore.0.m.1.1.0", "aicore.0.m.1.1.1.x", "aicore.0.m.1.1.1.-1", "aicores.0.m.1.1.1.0",
        "aicore.0..1.1.1.0", "aicore.99999999999999999999.m.1.1.1.0",
        "aicore.0.m.1.1.1.9223372036854775808", "acl_api.0.1", "acl_api.0.m", "acl_api.0.m.x",
        "notes.txt"}) {
    INFO(name);
    CHECK(reading(name) == "other");
  }
}

TEST_CASE("numbers of 63 bits are read") {
  CHECK(reading("aicore.0.m.1.1.1.9223372036854775807") ==
        "aicore 0 m 1 - 1 1 9223372036854775807");
}

TEST_CASE("a short name consists of type, device and two numbers") {
  const SvpFileName name = parse_data_name("AIcore.3.1.20", {});
  CHECK(name.kind == SvpFileKind::short_data);
  CHECK(name.data_kind == SvpFileKind::aicore);
  CHECK(name.device == 3);
  CHECK(name.short_numbers == std::pair<std::int64_t, std::int64_t>(1, 20));
}

TEST_CASE("a short name matches a long one with its type, device and numbers") {
  const auto fits = [](std::string_view short_name, std::string_view long_name) {
    return short_name_fits(parse_data_name(short_name, {}), parse_data_name(long_name, {}));
  };
  CHECK(fits("aicore.0.1.1", "aicore.0.kws-610-pro.31.1.1.0"));
  CHECK(fits("aicore.0.1.0", "aicore.0.kws-610-pro.31.1.1.0"));
  CHECK(fits("AAcore.0.4.8", "aicore.0.net.1.4.8.0"));
  CHECK_FALSE(fits("aicore.0.2.1", "aicore.0.kws-610-pro.31.1.1.0"));
  CHECK_FALSE(fits("aicpu.0.1.1", "aicore.0.kws-610-pro.31.1.1.0"));
  CHECK_FALSE(fits("aicore.1.1.1", "aicore.0.kws-610-pro.31.1.1.0"));
}

TEST_CASE("info names end with the model's number and .net.info or .layer.info") {
  const auto net = parse_info_name("kws-610-pro.31.net.info");
  REQUIRE(net);
  CHECK(net->kind == SvpFileKind::net_info);
  CHECK(net->model == "kws-610-pro");
  CHECK(net->model_id == 31);
  const auto layer = parse_info_name("yolo.5.7.layer.info");
  REQUIRE(layer);
  CHECK(layer->kind == SvpFileKind::layer_info);
  CHECK(layer->model == "yolo.5");
  CHECK(layer->model_id == 7);
  for (const char* name : {"net.info", ".net.info", "m.net.info", ".1.net.info", "m.1.info",
                           "m.1.net.info.bak", "m.x.layer.info"}) {
    INFO(name);
    CHECK_FALSE(parse_info_name(name));
  }
}

TEST_CASE("info.json names end with the device's number") {
  CHECK(parse_info_json_name("info.json.0") == 0);
  CHECK(parse_info_json_name("info.json.12") == 12);
  for (const char* name :
       {"info.json", "info.json.", "info.json.x", "info.json.0.done", "xinfo.json.0"}) {
    CHECK_FALSE(parse_info_json_name(name));
  }
}
