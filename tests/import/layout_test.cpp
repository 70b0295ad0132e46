#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "import/record_layout.hpp"
#include "import/svp/layer_info.hpp"
#include "store/cells.hpp"
#include "support/job_builder.hpp"

using namespace msprof;
using svp::guess_layers;
using test::u32_bytes;
using test::u64_bytes;

namespace {

std::string thrown_message(std::string_view json) {
  try {
    LayoutSet::parse(json, "file.json");
  } catch (const Error& error) {
    CHECK(error.code() == Exit::usage);
    return error.what();
  }
  return "no error";
}

std::string with_fields(const std::string& fields) {
  return R"({"aicpu": {"header_size": 0, "record_size": 16, "fields": {)" + fields + "}}}";
}

std::vector<std::int64_t> decode(const std::string& fields, const std::string& bytes, bool good) {
  const auto set = LayoutSet::parse(with_fields(fields), "file.json");
  std::vector<std::int64_t> slots(kAicpuFields.size(), 99);
  CHECK(set.find("aicpu")->decode(std::as_bytes(std::span(bytes)), slots) == good);
  return slots;
}

}  // namespace

TEST_CASE("the built-in layout equals the documented one") {
  const LayoutSet& set = LayoutSet::reference();
  CHECK(set.find("aicore")->header_bytes == 16);
  CHECK(set.find("aicore")->record_bytes == 112);
  CHECK(set.find("aicpu")->record_bytes == 32);
  CHECK(set.find("acl_api")->record_bytes == 32);
  CHECK(set.find("other") == nullptr);
  const auto& names = set.find("acl_api")->api_names;
  const std::map<std::int64_t, std::pair<std::string, std::string>> expected = {
      {1, {"svp_acl_mdl_load_from_mem", "model"}},
      {2, {"svp_acl_mdl_load_with_config", "model"}},
      {3, {"svp_acl_mdl_execute", "model"}},
      {4, {"svp_acl_mdl_execute_async", "model"}},
      {5, {"svp_acl_mdl_unload", "model"}},
      {6, {"svp_acl_mdl_get_desc", "model"}},
      {7, {"svp_acl_mdl_create_dataset", "model"}},
      {8, {"svp_acl_mdl_destroy_dataset", "model"}},
      {256, {"svp_acl_rt_set_device", "runtime"}},
      {257, {"svp_acl_rt_reset_device", "runtime"}},
      {258, {"svp_acl_rt_create_stream", "runtime"}},
      {259, {"svp_acl_rt_destroy_stream", "runtime"}},
      {260, {"svp_acl_rt_synchronize_stream", "runtime"}},
      {261, {"svp_acl_rt_malloc", "runtime"}},
      {262, {"svp_acl_rt_free", "runtime"}},
      {263, {"svp_acl_rt_create_context", "runtime"}},
      {264, {"svp_acl_rt_destroy_context", "runtime"}},
      {512, {"svp_acl_init", "others"}},
      {513, {"svp_acl_finalize", "others"}}};
  CHECK(names.size() == expected.size());
  for (const auto& [id, name] : expected) {
    REQUIRE(names.count(id) == 1);
    CHECK(names.at(id).name == name.first);
    CHECK(names.at(id).type == name.second);
  }
}

TEST_CASE("fields are decoded by offset and type, and missing fields are null") {
  const std::string bytes = u32_bytes(0x01020304) + u32_bytes(5) + u64_bytes(1'000'000);
  const auto slots = decode(R"("layer_id": {"offset": 0, "type": "u16"},
                               "thread_id": {"offset": 3, "type": "u8"},
                               "end": {"offset": 8, "type": "u64"},
                               "start": {"offset": 4, "type": "u32"})",
                            bytes, true);
  CHECK(slots == std::vector<std::int64_t>{0x0304, 1, 5, 1'000'000, kNull, kNull});
}

TEST_CASE("a scale multiplies, and a null offset gives no value") {
  const std::string bytes = u64_bytes(7) + u64_bytes(8);
  const auto slots = decode(R"("start": {"offset": 0, "type": "u64", "scale": 1000},
                               "end": {"offset": null, "type": "u64"})",
                            bytes, true);
  CHECK(slots[2] == 7000);
  CHECK(slots[3] == kNull);
}

TEST_CASE("values that are negative or too large are refused") {
  const std::string fields = R"("start": {"offset": 0, "type": "%"})";
  const auto typed = [&](const std::string& type) {
    std::string text = fields;
    return text.replace(text.find('%'), 1, type);
  };
  const std::string minus = u64_bytes(~std::uint64_t{0}) + u64_bytes(0);
  decode(typed("u64"), minus, false);
  decode(typed("i64"), minus, false);
  decode(typed("i32"), minus, false);
  decode(typed("u32"), minus, true);
  decode(typed("u64"), u64_bytes(INT64_MAX) + u64_bytes(0), true);
  decode(R"("start": {"offset": 0, "type": "u64", "scale": 2})",
         u64_bytes(INT64_MAX) + u64_bytes(0), false);
}

TEST_CASE("a record that is too short is refused") {
  decode(R"("end": {"offset": 8, "type": "u64"})", u64_bytes(1), false);
}

TEST_CASE("errors contain the file, the problem and the valid values") {
  const auto [json, part] = GENERATE(table<std::string, std::string>({
      {"{", "not JSON at byte"},
      {"[]", "aicore, aicpu or acl_api"},
      {R"({"aicor": {}})", "unknown kind 'aicor'; valid: aicore, aicpu, acl_api"},
      {R"({"aicpu": 3})", "'aicpu' must be an object"},
      {R"({"aicpu": {"record_size": 8}})", "no 'header_size'"},
      {R"({"aicpu": {"header_size": 0}})", "no 'record_size'"},
      {R"({"aicpu": {"header_size": 0, "record_size": 0, "fields": {}}})", "record_size"},
      {R"({"aicpu": {"header_size": 0, "record_size": -8, "fields": {}}})", "whole number"},
      {R"({"aicpu": {"header_size": 0, "record_size": 1.5, "fields": {}}})", "whole number"},
      {R"({"aicpu": {"header_size": 0, "record_size": 16}})", "no 'fields'"},
      {with_fields(""), "no field of aicpu has an offset"},
      {with_fields(R"("strt": {"offset": 0, "type": "u64"})"),
       "valid: layer_id, thread_id, start, end, execution"},
      {with_fields(R"("start": {"offset": 0, "type": "u63"})"), "u8, u16, u32, u64, i32, i64"},
      {with_fields(R"("start": {"offset": 0})"), "u8, u16, u32, u64, i32, i64"},
      {with_fields(R"("start": {"type": "u64"})"), "no 'offset'"},
      {with_fields(R"("start": {"offset": 9, "type": "u64"})"), "record of 16 bytes"},
      {with_fields(R"("start": 8)"), "must be an object"},
      {with_fields(R"("start": {"offset": 0, "type": "u64", "scal": 9})"),
       "unknown 'scal' in field 'start' of aicpu; valid: offset, type, scale"},
      {R"({"aicpu": {"header_size": 0, "record_size": 8, "header": 3, "fields": {}}})",
       "unknown 'header' in aicpu; valid: header_size, record_size, fields"},
      {with_fields(R"("start": {"offset": 0, "type": "u64", "scale": -1})"), "'scale'"},
  }));
  INFO(json);
  const std::string error = thrown_message(json);
  INFO(error);
  CHECK(error.find("layout file.json: ") == 0);
  CHECK(error.find(part) != std::string::npos);
}

TEST_CASE("api names of a layout are numbers with a name and a type") {
  const std::string head =
      R"({"acl_api": {"header_size": 0, "record_size": 8, "fields":
          {"api_id": {"offset": 0, "type": "u32"}}, "api_names": )";
  const auto set =
      LayoutSet::parse(head + R"({"9": {"name": "x", "type": "model"}, "8": {}}}})", "file.json");
  CHECK(set.find("acl_api")->api_names.at(9).name == "x");
  CHECK(set.find("acl_api")->api_names.at(8).name == "api_8");
  CHECK(set.find("acl_api")->api_names.at(8).type == "N/A");
  CHECK(thrown_message(head + R"({"x": {}}}})").find("'x'") != std::string::npos);
  CHECK(thrown_message(head + R"({"9": 3}}})").find("'9'") != std::string::npos);
  CHECK(thrown_message(head + R"({"9": {"name": 3}}}})").find("layout file.json: ") == 0);
}

TEST_CASE("a template lists its files and is a valid layout when filled in") {
  const std::string text = layout_template({{"aicpu", "data/a", 96, {16, 24, 32}},
                                            {"aicpu", "data/b", 64, {16, 32, 64}},
                                            {"acl_api", "data/c", 48, {16, 24, 48}}});
  auto document = nlohmann::json::parse(text);
  CHECK(document.at("_files").size() == 3);
  CHECK(document.at("_files")[1] ==
        nlohmann::json::parse(
            R"({"kind":"aicpu","file":"data/b","size":64,"candidate_record_sizes":[16,32,64]})"));
  for (const auto name : kAicpuFields) {
    CHECK(document.at("aicpu").at("fields").at(std::string(name)).at("offset").is_null());
  }
  CHECK(thrown_message(text) != "no error");
  for (const char* kind : {"aicpu", "acl_api"}) {
    document[kind]["record_size"] = 24;
    document[kind]["fields"]["start"]["offset"] = 8;
  }
  CHECK(thrown_message(document.dump()) == "no error");
}

TEST_CASE("layers are inferred from pairs of a known type and a name") {
  using Layers = std::vector<std::pair<std::string, std::string>>;
  const std::string gap("\0\x02\x80", 3);
  CHECK(guess_layers("Convolution" + gap + "conv1" + gap + "ReLU" + gap + "relu1") ==
        Layers{{"Convolution", "conv1"}, {"ReLU", "relu1"}});
  CHECK(guess_layers("").empty());
  CHECK(guess_layers("conv1" + gap + "relu1").empty());
  // A type without a following name, and a name that occurs twice.
  CHECK(guess_layers("Convolution").empty());
  CHECK(guess_layers("Pooling" + gap + "p" + std::string("1") + gap + "Pooling" + gap + "p1")
            .empty());
  // Two matches among many words are coincidence.
  std::string text = "Convolution" + gap + "conv1";
  for (int i = 0; i < 20; ++i) text += gap + "word" + std::to_string(i);
  CHECK(guess_layers(text).empty());
}
