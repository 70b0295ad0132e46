// The search for record layouts: random boards with a known layout, and cases in which no result
// may be "certain".
#include <catch2/catch.hpp>
#include <set>

#include "base/error.hpp"
#include "import/layout/capture_samples.hpp"
#include "import/record_layout.hpp"
#include "support/files.hpp"
#include "support/layouts/judge.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

layout::InferredLayout found_in(const GeneratedJob& job, const layout::LayerShapes& shapes = {}) {
  layout::BoardSamples samples;
  layout::add_samples(*Session::open(job.folder), shapes, samples);
  return layout::find_layouts(samples);
}

GeneratorChoice usual() {
  GeneratorChoice choice;
  choice.executions = 20;
  choice.layers = 10;
  choice.cut = false;
  choice.several_types = false;
  choice.time_unit = "us";
  return choice;
}

std::vector<std::string> find_wrong(const layout::InferredLayout& found, const GeneratedJob& job) {
  std::vector<std::string> wrong;
  for (const layout::FoundKind& kind : found.kinds) {
    const bool is_core = kind.kind == "aicore";
    const auto verdict =
        judge(kind, is_core ? job.aicore : job.acl_api,
              read_file(job.folder / (is_core ? job.aicore_file : job.acl_api_file)));
    wrong.insert(wrong.end(), verdict.wrong.begin(), verdict.wrong.end());
  }
  return wrong;
}

bool is_certain(const layout::FoundKind& kind, const std::string& name) {
  return kind.field(name).certainty == layout::Certainty::certain;
}

}  // namespace

TEST_CASE("record size, layer, start, end and total are found for a board") {
  const TempFolder folder;
  const auto job = make_layout_job(folder / "JOBA", 3, 1, usual());
  const auto found = found_in(job);
  REQUIRE(found.kinds.size() == 2);
  CHECK(find_wrong(found, job).empty());
  const layout::FoundKind& core = found.kinds.front();
  CHECK(core.record_bytes == job.aicore.record_size);
  CHECK(core.header_bytes == job.aicore.header_size);
  for (const char* name : {"layer_id", "start", "end", "total_cycles"}) {
    CAPTURE(name);
    CHECK(is_certain(core, name));
    CHECK(core.field(name).place.offset == job.aicore.find(name)->offset);
  }
  CHECK(core.executions == 20);
  CHECK(core.layers == 10);
}

TEST_CASE("nothing called certain is wrong for random boards") {
  const TempFolder folder;
  for (std::uint64_t seed = 2001; seed < 2007; ++seed) {
    CAPTURE(seed);
    const auto job = make_layout_job(folder / ("JOB" + std::to_string(seed)), seed);
    CHECK(find_wrong(found_in(job), job) == std::vector<std::string>{});
  }
}

TEST_CASE("records of one type are found among other types") {
  const TempFolder folder;
  GeneratorChoice choice = usual();
  choice.several_types = true;
  std::size_t tagged = 0;
  for (const std::uint64_t seed : std::vector<std::uint64_t>{3, 4, 5, 6044}) {
    CAPTURE(seed);
    const auto job = make_layout_job(folder / ("JOB" + std::to_string(seed)), seed, 1, choice);
    REQUIRE(job.aicore.select);
    const auto found = found_in(job);
    CHECK(find_wrong(found, job).empty());
    const layout::FoundKind& core = found.kinds.front();
    tagged += core.select && is_certain(core, "layer_id") ? 1u : 0u;
  }
  CHECK(tagged > 0);
}

TEST_CASE("the header of a truncated file is found with and without the length in its .done") {
  const TempFolder folder;
  const auto job = make_layout_job(folder / "JOBA", 3, 1, usual());
  const std::filesystem::path file = job.folder / job.aicore_file;
  const std::size_t size = std::filesystem::file_size(file);
  std::filesystem::resize_file(file, size - job.aicore.record_size * 50 - 7);
  const auto told = found_in(job);
  CHECK(find_wrong(told, job).empty());
  CHECK(told.kinds.front().header_certainty == layout::Certainty::certain);
  CHECK(is_certain(told.kinds.front(), "layer_id"));
  std::filesystem::remove(file.string() + ".done");
  const auto alone = found_in(job);
  CHECK(find_wrong(alone, job).empty());
  CHECK(alone.kinds.front().header_bytes == job.aicore.header_size);
  // The layout of the truncated file fits the whole one.
  const auto written = LayoutSet::parse(layout::layout_file_text(alone, true), "written");
  REQUIRE(written.find("aicore") != nullptr);
  CHECK(written.find("aicore")->has_whole_records(size));
}

TEST_CASE("calls that nothing confirms are not certain") {
  const TempFolder folder;
  for (std::uint64_t seed = 20; seed < 26; ++seed) {
    CAPTURE(seed);
    const auto job = make_layout_job(folder / ("JOB" + std::to_string(seed)), seed, 1, usual());
    const auto found = found_in(job);
    CHECK(find_wrong(found, job).empty());
    // The calls cannot be checked: neither the collection nor layers are available.
    std::filesystem::remove(job.folder / (job.acl_api_file + ".done"));
    std::filesystem::remove(job.folder / "data/net.1.layer.info");
    const auto alone = found_in(job);
    CHECK(alone.kinds.back().record_certainty != layout::Certainty::certain);
    for (const auto& field : alone.kinds.back().fields)
      CHECK(field.certainty != layout::Certainty::certain);
  }
}

TEST_CASE("the written layout decodes records to the true values") {
  const TempFolder folder;
  const auto job = make_layout_job(folder / "JOBA", 3, 1, usual());
  const auto mine = LayoutSet::parse(layout::layout_file_text(found_in(job), false), "mine");
  const auto truth = LayoutSet::parse(read_file(job.truth_file), "truth");
  CHECK(mine.is_inferred());
  CHECK_FALSE(truth.is_inferred());
  const RecordLayout& a = *mine.find("aicore");
  const RecordLayout& b = *truth.find("aicore");
  const std::string bytes = read_file(job.folder / job.aicore_file);
  const auto all = std::as_bytes(std::span<const char>(bytes));
  std::array<std::int64_t, kAicoreFields.size()> found{}, wanted{};
  std::size_t records = 0;
  for (std::size_t at = b.header_bytes; at + b.record_bytes <= bytes.size(); at += b.record_bytes) {
    REQUIRE(a.decode(all.subspan(at, a.record_bytes), found));
    REQUIRE(b.decode(all.subspan(at, b.record_bytes), wanted));
    for (const std::size_t slot : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{14}})
      CHECK(found[slot] == wanted[slot]);
    ++records;
  }
  CHECK(records == 200);
}

TEST_CASE("shapes of the layers make bytes certain") {
  const TempFolder folder;
  std::size_t certain = 0;
  for (std::uint64_t seed = 3; seed < 9; ++seed) {
    const auto job = make_layout_job(folder / ("JOB" + std::to_string(seed)), seed, 1, usual());
    const auto shapes = layout::parse_model_info(read_file(job.model_info_file), "model");
    CHECK(shapes.size() == 10);
    const auto found = found_in(job, shapes);
    CHECK(find_wrong(found, job).empty());
    certain += is_certain(found.kinds.front(), "ddr_read") ? 1u : 0u;
    CHECK_FALSE(is_certain(found_in(job).kinds.front(), "ddr_read"));
  }
  CHECK(certain > 0);
}

TEST_CASE("without layers nothing is certain, and sizes are only candidates") {
  const TempFolder folder;
  const auto job = make_layout_job(folder / "JOBA", 3, 1, usual());
  std::filesystem::remove(job.folder / "data/net.1.layer.info");
  const auto found = found_in(job);
  const layout::FoundKind& core = found.kinds.front();
  CHECK(core.record_certainty == layout::Certainty::unknown);
  CHECK_FALSE(core.candidate_record_sizes.empty());
  for (const auto& field : core.fields) CHECK(field.certainty != layout::Certainty::certain);
  // The written layout omits the unknown kind, because import rejects a kind without fields.
  CHECK_THROWS_AS(LayoutSet::parse("{\"aicore\": {}}", "x"), Error);
  CHECK(LayoutSet::parse(layout::layout_file_text(found, true), "mine").find("aicore") == nullptr);
}

TEST_CASE("noise and files of a few bytes give nothing certain") {
  const TempFolder folder;
  const auto job = make_layout_job(folder / "JOBA", 3, 1, usual());
  std::string noise;
  std::uint64_t state = 1;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    noise += static_cast<char>(state >> 56);
  }
  for (const std::string& bytes : {noise, std::string(3, 'x'), std::string(5000, '\0')}) {
    CAPTURE(bytes.size());
    write_file(job.folder / job.aicore_file, bytes);
    write_file(job.folder / job.acl_api_file, bytes);
    for (const auto& kind : found_in(job).kinds) {
      CHECK(kind.record_certainty != layout::Certainty::certain);
      for (const auto& field : kind.fields) CHECK(field.certainty != layout::Certainty::certain);
    }
  }
}

TEST_CASE("errors in select, divisor, origin and cycle_mhz of a layout file are reported") {
  const auto with = [](const std::string& more) {
    return "{\"aicore\": {\"header_size\": 0, \"record_size\": 16, " + more +
           "\"fields\": {\"start\": {\"offset\": 0, \"type\": \"u64\"}}}}";
  };
  const auto parse = [](const std::string& text) { return LayoutSet::parse(text, "a.json"); };
  CHECK_NOTHROW(parse(with("\"select\": {\"offset\": 8, \"type\": \"u32\", \"value\": 3}, ")));
  CHECK_THROWS_WITH(parse(with("\"select\": {\"offset\": 14, \"type\": \"u32\", \"value\": 3}, ")),
                    Catch::Contains("ends beyond the record"));
  CHECK_THROWS_WITH(parse(with("\"cycle_mhz\": 0, ")), Catch::Contains("cycle_mhz"));
  CHECK_THROWS_WITH(parse("{\"origin\": \"guessed\"}"), Catch::Contains("inferred or described"));
  CHECK_THROWS_WITH(
      parse("{\"aicore\": {\"header_size\": 0, \"record_size\": 16, \"fields\": {\"start\": "
            "{\"offset\": 0, \"type\": \"u64\", \"divisor\": 0}}}}"),
      Catch::Contains("divisor"));
}

TEST_CASE("a divisor converts ticks to ns, and results out of range are null") {
  const auto set = LayoutSet::parse(
      "{\"aicore\": {\"header_size\": 0, \"record_size\": 8, \"fields\": {\"start\": {\"offset\": "
      "0, "
      "\"type\": \"u64\", \"scale\": 625, \"divisor\": 12}}}}",
      "ticks");
  const RecordLayout& layout = *set.find("aicore");
  std::array<std::int64_t, kAicoreFields.size()> slots{};
  const auto decode = [&](std::uint64_t ticks) {
    return layout.decode(std::as_bytes(std::span<const std::uint64_t>(&ticks, 1)), slots);
  };
  REQUIRE(decode(19'200'000));
  CHECK(slots[1] == 1'000'000'000);
  CHECK_FALSE(decode(UINT64_MAX));
}
