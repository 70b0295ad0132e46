// compare: its output, its files and its exit codes.
#include <catch2/catch.hpp>
#include <map>

#include "cli/cli_fixture.hpp"
#include "support/lines.hpp"
#include "support/prof/prof_scene.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

const std::string kName = "JOB" + std::string(28, 'A');

struct Shape {
  std::uint64_t conv = 400'000, relu = 100'000;  // ns
  std::string relu_type = "Relu";
  std::string frequency = "1000";
  std::int64_t batch = 1;
  std::uint64_t executions = 6;
  bool is_partial = false;
};

// Ten calls of a model with two layers; all executions take equally long.
std::string make_job(const fs::path& parent, char letter, const Shape& shape) {
  JobBuilder job(parent, kName + letter);
  job.info_json(shape.frequency).net_info("net", 1, {.batch_num = "1", .layer_num = 2});
  job.layer_info(
      "net", 1,
      {{0, 0, "Conv", "AA_CORE", "conv", ""}, {1, 0, shape.relu_type, "AA_CORE", "relu", ""}});
  std::vector<AicoreRecord> records;
  std::vector<AclRecord> calls;
  for (std::uint64_t i = 0; i < shape.executions; ++i) {
    const std::uint64_t start = 1'000'000'000 + 1'000'000 * i;
    records.push_back({.layer_id = 0, .start_ns = start, .total = shape.conv, .execution = i});
    records.push_back(
        {.layer_id = 1, .start_ns = start + shape.conv, .total = shape.relu, .execution = i});
    calls.push_back({3, 1, start - 1000, start + shape.conv + shape.relu + 1000});
  }
  job.data(DataName{.batch = shape.batch, .pics = shape.batch}, aicore_file(records),
           {.written = !shape.is_partial});
  job.data("acl_api.0.net.1", acl_api_file(calls));
  return job.folder().string();
}

RunResult compare(Words words) {
  words.insert(words.begin(), {"compare", "-q"});
  return run_msprof(words);
}

Json document(const Words& words, int exit_code = 0) {
  Words all = words;
  all.push_back("--json");
  const RunResult result = compare(all);
  INFO(result.err);
  REQUIRE(result.exit_code == exit_code);
  const Json json = Json::parse(result.out);
  CHECK(json.at("schema") == "msprof.compare/2");
  CHECK(json.at("exit_code") == exit_code);
  return json;
}

// An eager run without iterations. `suffix` is the counter that a framework appends to names.
std::string make_prof(const fs::path& parent, const std::string& suffix, std::uint64_t mul_ns) {
  prof::ProfFolder folder(parent);
  prof::ProfScene scene(folder);
  const prof::Tensor in{.type = 0, .shape = {8, 128}}, out{.type = 1, .shape = {8, 128}};
  std::uint64_t host = 1'000'000, device = 2'000'000;
  for (std::uint16_t i = 0; i < 20; ++i) {
    for (const auto& [type, ns] :
         {std::pair<std::string, std::uint64_t>{"MatMulV2", 40'000}, {"Mul", mul_ns}}) {
      const prof::OpKind op{"aclnn" + type + suffix, type, prof::Core::aiv, 20, 0, {in, out}};
      const auto task = static_cast<std::uint16_t>(2 * i + (type == "Mul" ? 1 : 0));
      scene.launch(op, {100, host, host + 2000}, {1, task, device, device + ns});
      host += 3000;
      device += ns + 1000;
    }
  }
  folder.finish();
  return folder.folder().string();
}

}  // namespace

TEST_CASE("compare lists changes by operator, and --fail-above exits with code 8") {
  const TempFolder folder;
  const auto base = make_job(folder.path(), 'A', {});
  const auto slow = make_job(folder.path(), 'B', {.conv = 900'000});
  const Json json = document({base, slow, "--fail-above", "5%"}, 8);
  CHECK(json.at("regression") == true);
  CHECK(json.at("verdict") == "slower");
  CHECK(json.at("unit") == "one execution");
  CHECK(json.at("total").at("base_us") == Approx(500));
  CHECK(json.at("total").at("new_us") == Approx(1000));
  CHECK(json.at("total").at("percent") == Approx(100));
  CHECK(json.at("matches").at("by_name") == 2);
  const Json& op = json.at("ops").at(0);
  CHECK(op.at("base_names") == Json{"conv"});
  CHECK(op.at("delta_us") == Approx(500));
  CHECK(op.at("share") == Approx(100));
  CHECK(op.at("base_count") == 6);
  CHECK(op.at("is_noise") == false);
  CHECK(json.at("calls").at(0).at("name") == "svp_acl_mdl_execute");
  CHECK(json.at("calls").at(0).at("base_us") == Approx(502));
  CHECK(document({slow, base, "--fail-above", "5"}).at("verdict") == "faster");
  CHECK(document({base, slow, "--fail-above", "150%"}).at("regression") == false);

  const auto text = compare({base, slow});
  CHECK(text.exit_code == 0);
  CHECK(contains(text.out, "net: 0.500 → 1.000 ms per execution, 100.0 % slower\n"));
  CHECK(contains(text.out, "conv      Conv"));
  CHECK(contains(text.out, "1 within noise"));
}

TEST_CASE("compare writes CSV and one HTML file, to stdout or to files") {
  const TempFolder folder;
  const auto base = make_job(folder.path(), 'A', {});
  const auto now = make_job(folder.path(), 'B', {.conv = 900'000});
  const auto csv = compare({base, now, "--format", "csv"});
  CHECK(csv.exit_code == 0);
  CHECK(contains(csv.out, "\nconv,conv,Conv,Conv,AA_CORE,name,400.000,900.000,500.000,125.000,"));
  const auto html = compare({base, now, "--format", "html"});
  CHECK(contains(html.out, "<html"));
  const auto both = compare({base, now, "--csv", folder / "a.csv", "--html", folder / "a.html"});
  CHECK(contains(both.out, "slower"));
  CHECK(read_file(folder / "a.csv") == csv.out);
  CHECK(read_file(folder / "a.html") == html.out);
  CHECK(compare({base, now, "--csv", folder / "no" / "a.csv"}).exit_code == 5);
}

TEST_CASE("a kind of match has the same name in terminal, CSV, JSON and HTML") {
  const TempFolder folder;
  // One layer has the same name in both runs; the others are matched by type, are fused, or exist
  // only in one run.
  const auto make = [&](char letter, std::uint64_t ns, std::vector<LayerLine> layers) {
    JobBuilder job(folder.path(), kName + letter);
    job.info_json("1000").net_info("net", 1);
    std::vector<AicoreRecord> records;
    for (std::uint64_t i = 0; i < 6 * layers.size(); ++i) {
      const auto layer = static_cast<std::int64_t>(i % layers.size());
      layers[i % layers.size()].layer_id = layer;
      records.push_back({.layer_id = static_cast<std::uint32_t>(layer),
                         .start_ns = 1'000'000'000 + 10'000'000 * i,
                         .total = ns,
                         .execution = i / layers.size()});
    }
    job.layer_info("net", 1, layers);
    job.data(DataName{}, aicore_file(records));
    return job.folder().string();
  };
  const auto layer = [](const char* type, const char* name, const char* made_of = "") {
    return LayerLine{0, 0, type, "AA_CORE", name, made_of};
  };
  const auto base = make('A', 100'000,
                         {layer("Conv", "conv"), layer("Relu", "x"), layer("Bn", "p"),
                          layer("Pool", "q"), layer("Softmax", "gone")});
  const auto now = make('B', 900'000,
                        {layer("Conv", "conv"), layer("Relu", "y"), layer("Both", "pq", "p+q"),
                         layer("Tanh", "fresh")});
  const std::string text = compare({base, now}).out;
  const std::string html = compare({base, now, "--format", "html"}).out;
  const std::string csv = compare({base, now, "--format", "csv"}).out;
  const Json json = document({base, now});
  const std::string counts = "1 matched by name, 1 by shape, 1 by fusion; 1 only BASE, 1 only NEW";
  CHECK(contains(text, "operators: " + counts + "\n"));
  CHECK(contains(html, "<p id=\"matches\">" + counts + ".</p>"));
  REQUIRE(json.at("ops").size() == 5);
  for (const Json& op : json.at("ops")) {
    const std::string match = op.at("matched_by");
    const bool is_new = op.at("base_names").empty();
    const std::string name = op.at(is_new ? "new_names" : "base_names").at(0);
    CHECK(match == std::map<std::string, std::string>{{"conv", "name"},
                                                      {"x", "shape"},
                                                      {"p", "fusion"},
                                                      {"gone", "unmatched"},
                                                      {"fresh", "unmatched"}}
                       .at(name));
    const std::string shown = match != "unmatched" ? match : is_new ? "only NEW" : "only BASE";
    INFO(name << ": " << shown);
    const auto has_row = [&](const std::string& output, const std::string& begin,
                             const std::string& part) {
      for (const std::string& line : split_lines(output))
        if (line.starts_with(begin) && contains(line, part)) return true;
      return false;
    };
    CHECK(has_row(csv, is_new ? ",fresh" : name, ",AA_CORE," + match + ","));
    CHECK(has_row(text, name, "  " + shown));
    CHECK(has_row(html, "<tr", "<bdi>" + name + "</bdi>"));
    CHECK(contains(html, "<td>" + shown + "</td></tr>"));
  }
}

TEST_CASE("compare warns about differences between runs, and is partial if a run is partial") {
  const TempFolder folder;
  const auto base = make_job(folder.path(), 'A', {});
  const auto other = make_job(
      folder.path(), 'B', {.frequency = "500", .batch = 4, .executions = 2, .is_partial = true});
  const Json json = document({base, other}, 3);
  const std::string warnings = json.at("warnings").dump();
  for (const char* part :
       {"frequencies differ: 1000 MHz and 500 MHz",
        "batch sizes differ: 1 and 4; times are per picture", "batches_differ", "B is PARTIAL",
        "NEW has only 2 executions per run", "BASE has 6 executions per run and NEW 2"}) {
    CHECK(contains(warnings, part));
  }
  const Json same = document({base, base});
  CHECK(contains(same.at("warnings").dump(), "is in both BASE and NEW"));
  CHECK(same.at("verdict") == "noise");
  CHECK(contains(compare({base, base}).out, "no change"));
}

TEST_CASE(
    "runs with different batch sizes are compared per picture, whatever the model was built for") {
  const TempFolder folder;
  // Four pictures at once in 3.5 times the time: 12.5 % less time per picture.
  const auto base = make_job(folder.path(), 'A', {});
  const auto now = make_job(folder.path(), 'B', {.conv = 1'400'000, .relu = 350'000, .batch = 4});
  const Json json = document({base, now, "--fail-above", "5%"});
  CHECK(json.at("unit") == "one picture");
  CHECK(json.at("verdict") == "faster");
  CHECK(json.at("total").at("base_us") == Approx(500));
  CHECK(json.at("total").at("new_us") == Approx(437.5));
  CHECK(json.at("ops").at(0).at("new_us") == Approx(350));
  CHECK(json.at("base").at("batches") == Json{1});
  CHECK(json.at("new").at("batches") == Json{4});
  CHECK(json.at("new").at("executions") == 6);
  CHECK(json.at("new").at("pictures") == 24);
  const Json& warning = json.at("warnings").at(0);
  CHECK(warning.at("id") == "batches_differ");
  const auto text = compare({base, now});
  CHECK(contains(text.out, "net: 0.500 → 0.438 ms per picture, 12.5 % faster\n"));
  CHECK(contains(text.out, "[batches_differ]\n"));
  CHECK(contains(text.out, "B: 6 executions, 24 pictures, 1000 MHz, batch 4\n"));
  CHECK(contains(compare({base, now, "--format", "html"}).out, "batches_differ"));

  const auto shown = run_msprof({"show", "-q", "-dir", now});
  CHECK(contains(shown.out, "\nmodel net, batch 4, after 0 pictures, 6 executions, 12 tasks\n"));
  const Json capture =
      Json::parse(run_msprof({"show", "-q", "--json", "-dir", now}).out).at("captures").at(0);
  CHECK(capture.at("capture").at("batch") == 4);
  CHECK(capture.at("capture").at("executions") == 6);

  // Two runs with the same batch are compared per execution.
  const Json same = document({now, make_job(folder.path(), 'C', {.batch = 4})});
  CHECK(same.at("unit") == "one execution");
  CHECK_FALSE(contains(same.at("warnings").dump(), "batches"));
}

TEST_CASE("counts are printed with singular and plural") {
  const TempFolder folder;
  const auto one = make_job(folder.path(), 'A', {.executions = 1});
  const auto text = compare({one, make_job(folder.path(), 'B', {.executions = 1})}).out;
  CHECK(contains(text, "A: 1 execution, 1 picture, 1000 MHz, batch 1\n"));
  CHECK(contains(text, "BASE has only 1 execution per run"));
  const auto shown = run_msprof({"show", "-q", "-dir", one}).out;
  CHECK(contains(shown, "model net, batch 1, after 0 pictures, 1 execution, 2 tasks\n"));
}

TEST_CASE("a layer with a changed type is the same layer, and its ratios are compared") {
  const TempFolder folder;
  const auto base = make_job(folder.path(), 'A', {});
  const auto now = make_job(folder.path(), 'B', {.relu = 300'000, .relu_type = "Tanh"});
  const Json json = document({base, now});
  const Json& op = json.at("ops").at(0);
  CHECK(op.at("base_type") == "Relu");
  CHECK(op.at("new_type") == "Tanh");
  CHECK(op.at("matched_by") == "name");
  CHECK(json.at("types").size() == 3);
}

TEST_CASE("several runs per side, folders of runs and a read-only capture work") {
  const TempFolder folder;
  for (char letter = 'A'; letter < 'D'; ++letter) {
    make_job(folder / "old", letter, {.conv = 400'000u + static_cast<unsigned>(letter)});
    make_job(folder / "new", letter, {.conv = 440'000u + static_cast<unsigned>(letter)});
  }
  fs::permissions(folder / "new" / (kName + "A"), fs::perms::owner_read | fs::perms::owner_exec);
  const Json json = document({folder / "old", folder / "new", "--output", folder / "out"});
  CHECK(json.at("base").at("captures").size() == 3);
  CHECK(json.at("new").at("executions") == 18);
  CHECK(json.at("verdict") == "slower");
  CHECK(contains(json.at("noise_basis"), "3 and 3 runs"));
  // The captures of both sides have the same name, but separate stores.
  CHECK(names_in(folder / "out").size() == 6);
  CHECK_FALSE(fs::exists(folder / "old" / (kName + "A") / "sqlite"));
  fs::permissions(folder / "new" / (kName + "A"), fs::perms::owner_all);
  const std::string list =
      (folder / "old" / (kName + "A")).string() + "," + (folder / "old" / (kName + "B")).string();
  CHECK(document({list, folder / "new"}).at("base").at("captures").size() == 2);
}

TEST_CASE("compare refuses unsuitable captures with a message") {
  const TempFolder folder;
  const auto base = make_job(folder.path(), 'A', {});
  CHECK(compare({base}).exit_code == 2);
  CHECK(compare({base, base, "--fail-above", "much"}).exit_code == 2);
  CHECK(compare({base, base, "--fail-above", "nan"}).exit_code == 2);
  CHECK(compare({base, base, "--top", "0"}).exit_code == 2);
  CHECK(compare({base, ","}).exit_code == 2);
  CHECK(compare({base, folder / "missing"}).exit_code == 4);
  JobBuilder empty(folder.path(), kName + "E");
  empty.info_json("1000");
  const auto result = compare({base, empty.folder().string()});
  CHECK(result.exit_code == 4);
  CHECK(contains(result.err, "no operator times to compare"));
}

TEST_CASE("a store with nonsensical rows is compared or refused, without a crash") {
  const TempFolder folder;
  const auto base = make_job(folder.path(), 'A', {});
  const auto bad = make_job(folder.path(), 'B', {});
  REQUIRE(compare({base, bad}).exit_code == 0);
  const fs::path store = fs::path(bad) / "sqlite" / "msprof.db";
  query(store,
        "UPDATE task SET duration_ns = CASE id % 4 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN"
        " -9223372036854775808 WHEN 2 THEN 'x' ELSE 1 END, start_ns = 9223372036854775807");
  query(store, "UPDATE name SET text = replace(hex(zeroblob(500000)), '00', 'a+') WHERE id < 4");
  const auto result = compare({base, bad, "--json"});
  CHECK(result.exit_code >= 0);
  CHECK(result.exit_code <= 4);
  CHECK(Json::parse(result.out).contains("exit_code"));
  // A store without msprof's tables is rebuilt from the raw files.
  query(store, "DROP TABLE task");
  const auto again = compare({base, bad, "--json"});
  CHECK(again.exit_code == 0);
  CHECK(Json::parse(again.out).at("verdict") == "noise");
}

TEST_CASE(
    "PROF captures without iterations are compared as whole runs, even if names are numbered") {
  const TempFolder folder;
  const auto base = make_prof(folder / "a", "", 20'000);
  const auto now = make_prof(folder / "b", "", 50'000);
  const Json json = document({base, now, "--fail-above", "5%"}, 8);
  CHECK(json.at("unit") == "the whole run");
  CHECK(json.at("total").at("base_us") == Approx(1200));
  CHECK(json.at("total").at("new_us") == Approx(1800));
  const Json& op = json.at("ops").at(0);
  CHECK(op.at("base_names") == Json{"aclnnMul"});
  CHECK(op.at("base_us") == Approx(400));
  CHECK(op.at("share") == Approx(100));
  CHECK(op.at("base_count") == 20);

  const Json renamed = document({base, make_prof(folder / "c", "_12", 50'000)});
  CHECK(renamed.at("matches").at("by_shape") == 2);
  CHECK(renamed.at("ops").at(0).at("share") == Approx(100));
}
