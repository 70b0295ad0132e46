// msprof layout: from a capture of an unknown board to named, timed layers.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/cli_fixture.hpp"
#include "support/files.hpp"
#include "support/job_builder.hpp"
#include "support/layouts/layout_generator.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;

namespace {

GeneratedJob board(const TempFolder& folder, std::uint64_t seed = 3) {
  GeneratorChoice choice;
  choice.executions = 20;
  choice.layers = 10;
  choice.cut = false;
  choice.several_types = false;
  choice.time_unit = "us";
  return make_layout_job(folder / "JOBA", seed, 1, choice);
}

// Makes a project whose program writes the capture to the configured folder, like an application on
// a board.
std::filesystem::path project_for(const TempFolder& folder, const GeneratedJob& job) {
  const std::filesystem::path project = folder / "project";
  const std::filesystem::path script = project / "main";
  write_file(script, "#!/bin/sh\ncp -r '" + job.folder.string() + "' .\n");
  write_file(project / "acl.json", "{}");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return project;
}

}  // namespace

TEST_CASE("a capture of a board without documented layout works from collect to report") {
  const TempFolder folder;
  const GeneratedJob made = board(folder);
  const std::string project = project_for(folder, made).string();
  const std::string home = (folder / "home").string();
  const auto collected =
      run_msprof({"collect", "-m", "main", "--project", project, "--output", home});
  INFO(collected.err);
  REQUIRE(collected.exit_code == 0);
  const std::string job = home + "/JOBA";
  const std::string file = (folder / "board.json").string();

  CHECK(run_msprof({"import", "-dir", job}).exit_code == 3);
  REQUIRE(
      run_msprof({"report", "-dir", job, "--html", (folder / "without.html").string()}).exit_code !=
      2);
  const std::string without = read_file(folder / "without.html");
  CHECK(contains(without, "Known facts without a layout"));
  CHECK(contains(without, "10 layers"));
  CHECK_FALSE(contains(without, "id=\"inferred\""));

  CHECK(run_msprof({"layout", "-dir", job, "--accept", "likely", "--write", file}).exit_code == 0);
  const auto imported = run_msprof({"import", "-dir", job, "--layout", file});
  INFO(imported.err);
  CHECK(imported.exit_code == 0);
  const auto shown = run_msprof({"show", "-dir", job});
  CHECK(shown.exit_code == 0);
  CHECK(contains(shown.out, "inferred layout"));

  // Layers have names and times, and the report is marked as inferred.
  const auto reported =
      run_msprof({"report", "-dir", job, "--html", (folder / "with.html").string()});
  CHECK(reported.exit_code == 0);
  const std::string page = read_file(folder / "with.html");
  CHECK(contains(page, "id=\"inferred\""));
  const auto layers =
      query(job + "/sqlite/msprof.db",
            "SELECT text FROM name JOIN op ON op.name_id = name.id GROUP BY text ORDER BY text");
  REQUIRE(layers.size() == 10);
  for (const std::string& layer : layers) {
    CHECK(contains(page, layer));
    CHECK(contains(shown.out, layer));
  }

  // All other outputs with enough space mention the inferred layout, too.
  CHECK(contains(run_msprof({"list", home}).out, "inferred layout"));
  CHECK(nlohmann::json::parse(
            run_msprof({"list", "--json", home}).out)["captures"][0]["layout_origin"] ==
        "inferred");
  CHECK(contains(run_msprof({"query", "-dir", job}).out, "inferred layout"));
  CHECK(contains(run_msprof({"query", "-dir", job, "SELECT layout_origin FROM v_devices"}).out,
                 "inferred"));
  CHECK(contains(run_msprof({"advise", "-dir", job}).out, "inferred layout"));
  CHECK(contains(run_msprof({"export", "timeline", "-dir", job}).err, "inferred layout"));
  std::size_t timelines = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(job + "/timeline")) {
    if (entry.path().extension() != ".json") continue;
    ++timelines;
    CHECK(contains(read_file(entry.path()), R"("name":"process_labels","pid":)"));
    CHECK(contains(read_file(entry.path()), "inferred layout"));
  }
  CHECK(timelines > 0);
}

TEST_CASE("layout refuses folders without board records with a message") {
  const TempFolder folder;
  const GeneratedJob job = board(folder);
  const auto run = [&] { return run_msprof({"layout", "-dir", job.folder.string()}); };
  const std::filesystem::path data = job.folder / job.aicore_file;
  const auto set = [&](const std::string& bytes) {
    std::filesystem::remove(data);
    write_file(data, bytes);
  };
  // An empty file, zeros, an incomplete record, a link to another place, a sparse file of 1 GB.
  for (const std::string& bytes :
       {std::string(), std::string(100'000, '\0'), std::string(9, 'x')}) {
    set(bytes);
    const auto result = run();
    CAPTURE(bytes.size(), result.err);
    CHECK(result.signal == 0);
    CHECK_FALSE(contains(result.out, "of 10 layers"));
  }
  std::filesystem::remove(data);
  std::filesystem::create_symlink("/etc/passwd", data);
  CHECK(run().signal == 0);
  set("x");
  std::filesystem::resize_file(data, std::uintmax_t{1} << 30);
  CHECK(contains(run().out, "no number cycles through the layer ids of layer.info"));
  write_file(job.folder / "data/net.1.layer.info", std::string(5000, '\xff'));
  CHECK(contains(run().out, "the layers of the model are unknown"));
  const auto nowhere = run_msprof({"layout", "-dir", (folder / "none").string()});
  CHECK(nowhere.exit_code != 0);
  CHECK(contains(nowhere.err, "none"));
}

TEST_CASE("an inferred layout gives products that are all marked as such") {
  const TempFolder folder;
  const GeneratedJob job = board(folder);
  const std::string job_folder = job.folder.string();
  const std::string file = (folder / "board.json").string();

  // Without the layout, only the known facts are reported.
  const auto without = run_msprof({"import", "-dir", job_folder});
  CHECK(without.exit_code == 3);
  CHECK(contains(without.err, "10 layers"));
  CHECK(contains(without.err, "icache miss rate 0.1000"));
  CHECK(contains(run_msprof({"show", "-dir", job_folder}).out, "icache miss rate 0.1000"));

  const auto found = run_msprof({"layout", "-dir", job_folder, "--write", file});
  CHECK(found.exit_code == 0);
  CHECK(contains(found.out, "layer_id"));
  const auto written = nlohmann::json::parse(read_file(file));
  CHECK(written["origin"] == "inferred");
  CHECK(written["aicore"]["fields"]["start"]["certainty"] == "certain");

  const auto imported = run_msprof({"import", "-dir", job_folder, "--layout", file});
  CHECK(contains(imported.err, "inferred layout"));
  CHECK(query(job.folder / "sqlite/msprof.db",
              "SELECT value FROM meta WHERE key = 'layout_origin'") ==
        std::vector<std::string>{"inferred"});
  CHECK(query(job.folder / "sqlite/msprof.db", "SELECT count(*), count(duration_ns) FROM task") ==
        std::vector<std::string>{"200|200"});
  const auto shown = run_msprof({"show", "-dir", job_folder});
  CHECK(contains(shown.out, "inferred layout"));
  CHECK(nlohmann::json::parse(run_msprof({"show", "--json", "-dir", job_folder})
                                  .out)["captures"][0]["layout_origin"] == "inferred");
}

TEST_CASE("likely fields are not in a layout file without --accept likely") {
  const TempFolder folder;
  const GeneratedJob job = board(folder, 7);
  const auto document = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--json", "-dir", job.folder.string()});
    return nlohmann::json::parse(run_msprof(words).out);
  };
  const auto check = [](const nlohmann::json& all, bool accepted) {
    std::size_t likely = 0;
    for (const auto& field : all["kinds"][0]["fields"]) {
      CAPTURE(field.dump());
      if (field["certainty"] == "likely") CHECK(field["used"] == accepted);
      if (field["certainty"] == "unknown") CHECK(field["used"] == false);
      likely += field["certainty"] == "likely" ? 1u : 0u;
    }
    CHECK(likely > 0);
  };
  check(document({"layout"}), false);
  check(document({"layout", "--accept", "likely"}), true);
}

TEST_CASE("a layout that import cannot use is not recommended") {
  const TempFolder folder;
  const std::string file = (folder / "board layout.json").string();
  const auto layout = [&](const std::filesystem::path& job, Words more = {}) {
    more.insert(more.begin(), {"layout", "-dir", job.string()});
    return run_msprof(more);
  };
  const GeneratedJob job = board(folder);
  const std::filesystem::path data = job.folder / job.aicore_file;
  const std::string bytes = read_file(data);
  const auto set = [&](const std::string& records) {
    std::filesystem::remove(data);
    write_file(data, records);
  };
  // Without the times of the collection and the clock of the cores, the unit is only likely.
  const TempFolder other;
  const GeneratedJob alone = board(other);
  for (const auto& name : names_in(alone.folder / "data"))
    if (name.ends_with(".done")) std::filesystem::remove(alone.folder / "data" / name);
  std::filesystem::remove(alone.folder / "info.json.0");
  CHECK(contains(layout(alone.folder).err, "use them with --accept likely"));
  CHECK(layout(alone.folder, {"--accept", "likely"}).exit_code == 0);
  for (const auto& name : names_in(job.folder / "data"))
    if (name.starts_with("acl_api")) std::filesystem::remove(job.folder / "data" / name);
  // Records of zeros, of noise, and too few records.
  std::string noise(100'000, '\0');
  std::uint32_t state = 1;
  for (char& byte : noise) byte = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
  for (const std::string& poor : {std::string(100'000, '\0'), noise, bytes.substr(0, 50)}) {
    set(poor);
    for (const Words& more : {Words{}, Words{"--write", file}}) {
      const auto result = layout(job.folder, more);
      CAPTURE(poor.size(), result.err);
      CHECK(result.exit_code == 3);
      CHECK_FALSE(contains(result.err, "import with --layout"));
      CHECK(contains(result.err, "captures of this board"));
    }
    CHECK(contains(layout(job.folder, {"--write", file}).err, "wrote " + file + "\n"));
  }
  set(bytes);
  const auto good = layout(job.folder, {"--write", file});
  CHECK(good.exit_code == 0);
  CHECK(contains(good.err, "import with --layout '" + file + "'\n"));
  CHECK_FALSE(contains(good.err, "warning"));
}

TEST_CASE("layout reports that there is nothing to find") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("1000").net_info("net", 1).data(DataName{}, aicore_file({}));
  const auto result = run_msprof({"layout", "-dir", job.folder().string()});
  CHECK(result.exit_code != 0);
  CHECK(contains(result.err, "no data file has an unknown layout"));
  write_file(folder / "shapes.json", "{\"layers\": [{}]}");
  const auto broken = run_msprof(
      {"layout", "-dir", job.folder().string(), "--model-info", (folder / "shapes.json").string()});
  CHECK(broken.exit_code == 2);
  CHECK(contains(broken.err, "'name'"));
}
