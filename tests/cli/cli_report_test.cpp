// msprof report: a capture as one page; also merged timelines and Perfetto's protobuf.
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <set>

#include "analyze/report/finding_words.hpp"
#include "base/findings.hpp"
#include "base/text.hpp"
#include "cli/cli_fixture.hpp"
#include "session/run_record.hpp"
#include "support/lines.hpp"
#include "support/prof/prof_run.hpp"
#include "support/require.hpp"

using namespace msprof::test;

namespace {

std::string make_report(const std::filesystem::path& capture, const Words& more = {}) {
  Words words = {"report", "-dir", capture.string(), "--lang", "en"};
  words.insert(words.end(), more.begin(), more.end());
  run_msprof(words);
  return read_file(capture / "report.html");
}

// The data of the timeline picture.
nlohmann::json parse_picture(const std::string& page) {
  const std::string begin = "id=\"timeline-data\">";
  const auto at = page.find(begin);
  REQUIRE(at != std::string::npos);
  const auto from = at + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

std::vector<std::string> lane_names(const nlohmann::json& picture) {
  std::vector<std::string> names;
  for (const auto& lane : picture["lanes"]) names.push_back(lane["name"]);
  return names;
}

// The page contains only the product's own tags, styles and scripts, and loads nothing.
void check_is_alone(const std::string& page) {
  const std::regex source("( src=| href=\"[^#]|@import|url\\()");
  CHECK_FALSE(std::regex_search(page, source));
  CHECK(count_occurrences(page, "<script>") == 2);
  CHECK(contains(page, "default-src 'none'"));
  CHECK(page.ends_with("</html>\n"));
}

}  // namespace

TEST_CASE("report writes one page with verdict, run, timeline, layers and advice for a board") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const auto result = run_msprof({"report", "-dir", job.folder().string(), "--lang", "en"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "report.html"));
  const std::string page = read_file(job.folder() / "report.html");
  check_is_alone(page);
  for (const char* heading : {"Run", "Timeline", "Hottest layers", "Advice"}) {
    CAPTURE(heading);
    CHECK(contains(page, std::string(">") + heading + "</h2>"));
  }
  CHECK(contains(page, "<h1><bdi>face</bdi></h1>"));
  CHECK_FALSE(contains(page, "PARTIAL"));
  const auto picture = parse_picture(page);
  CHECK(contains(lane_names(picture).front(), "ACL process 4711"));
  CHECK(contains(lane_names(picture).back(), "AA Core device 0"));
  CHECK(make_report(job.folder()) == page);
}

TEST_CASE("the rows of the page are those of op_summary, longest first") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const std::string page = make_report(job.folder());
  const auto query = run_msprof({"query", "-dir", job.folder().string(), "--json",
                                 "SELECT layer_name, time FROM op_summary WHERE layer_id != '-'"
                                 " ORDER BY time DESC"});
  const auto answer = nlohmann::json::parse(query.out)["captures"][0]["rows"];
  REQUIRE(answer.size() >= 3);
  const auto table = page.find("<table id=\"ops\">");
  REQUIRE(table != std::string::npos);
  std::size_t last = table;
  for (const auto& row : answer) {
    CAPTURE(row.dump());
    const auto at = page.find("<th scope=\"row\">" + row[0].get<std::string>() + "</th>", last);
    REQUIRE(at != std::string::npos);
    last = at;
  }
}

TEST_CASE("a page of partial data shows what is wrong, and report exits with import's code") {
  const TempFolder folder;
  const auto job = make_partial(folder.path(), "JOBA");
  const auto imported = run_msprof({"import", "-dir", job.folder().string()});
  const auto result = run_msprof({"report", "-dir", job.folder().string(), "--lang", "en"});
  CHECK(result.exit_code == imported.exit_code);
  CHECK(result.exit_code != 0);
  const std::string page = read_file(job.folder() / "report.html");
  CHECK(contains(page, "PARTIAL DATA"));
  CHECK(contains(page, "id=\"warnings\""));
  check_is_alone(page);
}

TEST_CASE("a capture without records gives a page that states this, and exit code 4") {
  const TempFolder folder;
  JobBuilder job(folder.path(), "JOBA");
  job.info_json("500");
  const auto result = run_msprof({"report", "-dir", job.folder().string(), "--lang", "en"});
  CHECK(result.exit_code == 4);
  const std::string page = read_file(job.folder() / "report.html");
  CHECK(contains(page, "No times were recorded"));
  CHECK(contains(page, "No operator was recorded"));
  check_is_alone(page);
}

TEST_CASE("names of a capture are escaped on the page") {
  const TempFolder folder;
  JobBuilder job(folder.path(), "JOBA");
  const std::string odd = "</script><script>alert(1)</script>\"'&<b>";
  std::vector<AicoreRecord> records(2);
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].layer_id = static_cast<std::uint32_t>(i);
    records[i].start_ns = 1000 * (i + 1);
    records[i].total = 400;
  }
  job.info_json("1000").net_info("net", 1).layer_info(
      "net", 1,
      {{0, 0, "<i>Conv</i>", "AA_CORE", odd, odd}, {1, 0, "Relu", "AA_CORE", "\xff\x01z", ""}});
  job.data(DataName{}, aicore_file(records));
  const std::string page = make_report(job.folder());
  check_is_alone(page);
  CHECK_FALSE(contains(page, "alert(1)</script>"));
  CHECK_FALSE(contains(page, "<i>Conv"));
  CHECK(contains(page, "&lt;script&gt;alert(1)"));
  CHECK(page.find('\x01') == std::string::npos);
  const auto picture = parse_picture(page);
  CHECK(picture["names"].dump().find("alert(1)") != std::string::npos);
}

TEST_CASE(
    "the page of an Atlas machine has a window with arrows, operators, overlap and counters") {
  const TempFolder folder;
  const auto run = prof::make_run(folder.path(), {}, {});
  const std::string page = make_report(run.folder);
  check_is_alone(page);
  const auto picture = parse_picture(page);
  std::size_t slices = 0;
  for (const auto& lane : picture["lanes"]) slices += lane["slices"].size() / 4;
  CHECK(slices > 100);
  CHECK(slices <= 20'000);
  CHECK_FALSE(picture["arrows"].empty());
  CHECK(picture["arrows"].size() % 4 == 0);
  CHECK(contains(page, "Iteration "));
  CHECK(contains(page, "id=\"overlap-table\""));
  for (const auto& [type, count] : run.facts.ops_by_type) {
    CAPTURE(type, count);
    CHECK(contains(page, "<td>" + type + "</td>"));
  }
}

TEST_CASE("1,000 layers and a window of 20,000 slices give a page below 2 MB") {
  const TempFolder folder;
  JobBuilder job(folder.path(), "JOBA");
  constexpr std::uint32_t kLayers = 1000;
  std::vector<LayerLine> layers;
  for (std::uint32_t i = 0; i < kLayers; ++i) {
    const std::string name =
        "backbone/stage_" + std::to_string(i % 7) + "/block/conv_" + std::to_string(i);
    layers.push_back({i, 0, "Conv2D", "AA_CORE", name, name + "_convolution"});
  }
  std::vector<AicoreRecord> records(20'500);
  for (std::size_t i = 0; i < records.size(); ++i) {
    AicoreRecord& record = records[i];
    record.layer_id = static_cast<std::uint32_t>(i % kLayers);
    record.start_ns = 50'000'000'000 + i * 12'345;
    record.total = 11'000 + i % 997;
    record.mac_busy = record.mac_ppen = 7777;
    record.vec_busy = record.vec_ppen = record.dstr = record.dld = record.wld = 5555;
    record.ddr_read = record.ddr_write = 1'234'567;
  }
  job.info_json("1000").net_info("net", 1).layer_info("net", 1, layers);
  job.data(DataName{}, aicore_file(records));
  const std::string page = make_report(job.folder());
  CHECK(page.size() < 2'000'000);
  check_is_alone(page);
  const auto picture = parse_picture(page);
  CHECK(picture["lanes"][0]["slices"].size() == 4 * 20'000);
  CHECK(contains(page, "Only the first 20000 slices are shown"));
  CHECK(count_occurrences(page, "<td class=\"n") >= 10 * kLayers);
}

TEST_CASE("--lang zh gives the page in Chinese, including the findings of import") {
  const TempFolder folder;
  const auto job = make_partial(folder.path(), "JOBA");
  const std::string page = make_report(job.folder());
  run_msprof({"report", "-dir", job.folder().string(), "--lang", "zh"});
  const std::string chinese = read_file(job.folder() / "report.html");
  CHECK(contains(chinese, "<html lang=\"zh-CN\""));
  CHECK(parse_picture(chinese) == parse_picture(page));
  // Headings, captions, notes and findings must contain no English sentence.
  const std::regex text("<(h1|h2|caption|figcaption|dt|li|p|button)[^>]*>([^<]*)<");
  const std::regex english("[a-z]{2,} [a-z]{2,} [a-z]{2,}");
  std::size_t count = 0;
  for (auto at = std::sregex_iterator(chinese.begin(), chinese.end(), text);
       at != std::sregex_iterator(); ++at) {
    const std::string one = (*at)[2].str();
    CAPTURE(one);
    CHECK_FALSE(std::regex_search(one, english));
    ++count;
  }
  CHECK(count > 10);
  CHECK(contains(chinese, "<h2 id=\"h-timeline\">时间线</h2>"));
  CHECK(contains(chinese, "data-rows=\"显示全部 {} 行\""));
}

TEST_CASE("every finding about partial or missing data has a Chinese text") {
  for (int i = 0; i < static_cast<int>(msprof::FindingId::count_); ++i) {
    const msprof::FindingInfo& info = msprof::finding_info(static_cast<msprof::FindingId>(i));
    const bool is_of_import =
        info.severity == msprof::Severity::partial || info.severity == msprof::Severity::without;
    CAPTURE(info.id);
    CHECK(msprof::report::chinese_finding(info.id).empty() != is_of_import);
  }
}

TEST_CASE("a page shows the contents of run.json as escaped text") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  msprof::RunRecord run;
  run.msprof = "9.8.7";
  run.begin_ns = 1'795'000'000'000'000'000;
  run.end_ns = run.begin_ns + 2'000'000'000;
  run.host = "root@192.168.1.10";
  run.board = {{"system", "Linux"}, {"product", "SS928<i>"}};
  run.command = {"main", "--images", "a b"};
  run.options = {{"--interval", "10"}};
  run.models = {{"models/face.om", 4096, std::string(64, 'a')}};
  run.application_signal = "SIGSEGV";
  run.seconds = 1.5;
  msprof::write_run_record(job.folder(), run);
  const std::string page = make_report(job.folder());
  check_is_alone(page);
  for (const char* text : {"root@192.168.1.10", "SS928&lt;i&gt;", "--images", "--interval 10",
                           "models/face.om", "4.1 kB", "ended by SIGSEGV", "captured by 9.8.7"}) {
    CAPTURE(text);
    CHECK(contains(page, text));
  }
  CHECK(contains(page, std::string(64, 'a')));
  CHECK(contains(page, "<p class=\"run-line\"><bdi>2026-11-18"));
  // A run.json with another schema is ignored.
  write_file(job.folder() / "run.json", "{\"schema\": \"other\", \"command\": [\"unheard\"]}");
  CHECK_FALSE(contains(make_report(job.folder()), "unheard"));
}

TEST_CASE("long names and names with bidirectional characters are shortened and isolated") {
  const TempFolder folder;
  JobBuilder job(folder.path(), "JOBA");
  std::vector<AicoreRecord> records(2);
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].layer_id = static_cast<std::uint32_t>(i);
    records[i].start_ns = 1000 * (i + 1);
    records[i].total = 400;
  }
  const std::string turn = "\u202e";
  job.info_json("1000").net_info("net", 1).layer_info(
      "net", 1,
      {{0, 0, "Conv", "AA_CORE", std::string(100'000, 'x'), ""},
       {1, 0, "Relu", "AA_CORE", turn + "gnp.exe", ""}});
  job.data(DataName{}, aicore_file(records));
  const std::string page = make_report(job.folder());
  check_is_alone(page);
  CHECK(page.size() < 100'000);
  CHECK_FALSE(contains(page, std::string(200, 'x')));
  CHECK(contains(page, std::string(20, 'x')));
  // Such a name is at the start of its element, or is data: no other text shares its line, where
  // the direction change would affect it.
  REQUIRE(contains(page, turn));
  for (auto at = page.find(turn); at != std::string::npos; at = page.find(turn, at + 1)) {
    const char before = page.at(at - 1);
    CAPTURE(page.substr(at - 20, 20));
    CHECK((before == '>' || before == '"'));
  }
}

TEST_CASE("the machine of a run is described for people, in both languages") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  struct Machine {
    msprof::RunRecord::Facts facts;
    std::string english, chinese;
  };
  const std::vector<Machine> machines = {
      {{{"system", "Linux"},
        {"release", "6.1.0-18-amd64"},
        {"machine", "x86_64"},
        {"cores", "8"},
        {"hostname", "desk"},
        {"free_bytes", "77192396800"},
        {"tar", "yes"},
        {"sftp", "no"}},
       "Linux 6.1 x86_64</bdi>, 8 cores, 77.2 GB of disk free",
       "Linux 6.1 x86_64</bdi>, 8 核, 磁盘剩余 77.2 GB"},
      {{{"system", "Linux"}, {"machine", "aarch64"}, {"product", "SS928"}, {"cores", "1"}},
       "Linux aarch64, SS928</bdi>, 1 core",
       "Linux aarch64, SS928</bdi>, 1 核"},
      {{{"release", "5"}, {"free_bytes", "many"}, {"cores", "-3"}}, "5</bdi>", "5</bdi>"},
      {{{"free_bytes", "1000"}}, "1.0 kB of disk free", "磁盘剩余 1.0 kB"}};
  for (const Machine& machine : machines) {
    msprof::RunRecord run;
    run.board = machine.facts;
    msprof::write_run_record(job.folder(), run);
    for (const bool is_chinese : {false, true}) {
      const std::string language = is_chinese ? "zh" : "en";
      run_msprof({"report", "-q", "-dir", job.folder().string(), "--lang", language});
      const std::string page = read_file(job.folder() / "report.html");
      const std::string head = is_chinese ? "机器</th><td>" : "Machine</th><td>";
      REQUIRE(contains(page, head));
      std::string row = page.substr(page.find(head) + head.size());
      row.resize(row.find("</td>"));
      CHECK(row.ends_with(is_chinese ? machine.chinese : machine.english));
      CHECK(row.size() < 100);
    }
  }
}

TEST_CASE("--output of report can name the page itself") {
  const TempFolder folder;
  const auto job = make_face(folder / "in", "JOBA");
  const auto report = [&](const Words& more) {
    Words words = {"report", "-q", "-dir", job.folder().string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_msprof(words, {.folder = folder.path()});
  };
  for (const char* name : {"r.html", "R.HTM", "sub.html"}) {
    CHECK(report({"--output", name}).exit_code == 0);
    CHECK(contains(read_file(folder / name), "JOBA"));
  }
  // The store stays in the capture.
  CHECK(names_in(job.folder() / "sqlite") == Words{"msprof.db"});
  std::filesystem::create_directory(folder / "folder.html");
  CHECK(report({"--output", "folder.html"}).exit_code == 0);
  CHECK(contains(read_file(folder / "folder.html/report.html"), "JOBA"));
  make_face(folder / "in", "JOBB");
  const auto several = run_msprof(
      {"report", "-dir", (folder / "in").string(), "--output", (folder / "r.html").string()});
  CHECK(several.exit_code == 2);
  CHECK(contains(several.err, "--output names one file"));
}

TEST_CASE("on paper each sheet with rows of a table has column headings") {
  if (!require_program_or_skip("chromium") || !require_program_or_skip("pdftotext")) return;
  const TempFolder folder;
  JobBuilder job(folder.path(), "JOBA");
  std::vector<AicoreRecord> records(50);
  std::vector<LayerLine> layers;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    records[i].layer_id = i;
    records[i].start_ns = 1000 * (i + 1);
    records[i].total = 400;
    layers.push_back({i, 0, "Conv", "AA_CORE", "layer_number_" + std::to_string(i), ""});
  }
  job.info_json("1000").net_info("net", 1).layer_info("net", 1, layers);
  job.data(DataName{}, aicore_file(records));
  make_report(job.folder());
  const std::string pdf = (folder / "page.pdf").string();
  const auto printed =
      run_program("/usr/bin/env", {"HOME=" + folder.path().string(), "chromium", "--headless",
                                   "--no-sandbox", "--disable-gpu", "--print-to-pdf=" + pdf,
                                   "file://" + (job.folder() / "report.html").string()});
  INFO(printed.err);
  REQUIRE(printed.exit_code == 0);
  const std::string text = run_program("/usr/bin/env", {"pdftotext", "-layout", pdf, "-"}).out;
  int sheets = 0;
  for (const auto sheet : msprof::split(text, '\f')) {
    if (!contains(std::string(sheet), "layer_number_")) continue;
    if (contains(std::string(sheet), "Dtrans")) ++sheets;
    CAPTURE(sheet);
    CHECK(contains(std::string(sheet), "Dtrans"));
  }
  CHECK(sheets > 0);
}

TEST_CASE("--html names the file of one capture, --output the folder of several") {
  const TempFolder folder;
  make_face(folder / "in", "JOBA");
  make_face(folder / "in", "JOBB");
  const std::string dir = (folder / "in").string();
  const std::string file = (folder / "page.html").string();
  const auto several = run_msprof({"report", "-dir", dir, "--html", file});
  CHECK(several.exit_code == 2);
  CHECK(contains(several.err, "--html names one file"));
  CHECK(run_msprof({"report", "-dir", dir + "/JOBA", "--html", file}).exit_code == 0);
  CHECK(contains(read_file(file), "JOBA"));
  CHECK(run_msprof({"report", "-dir", dir, "--output", (folder / "out").string()}).exit_code == 0);
  CHECK(contains(read_file(folder / "out/JOBB/report.html"), "JOBB"));
}

TEST_CASE("--output can name the page, and the error for an unwritable page has no useless hint") {
  const TempFolder folder;
  const std::string job = make_face(folder.path(), "JOBA").folder().string();
  const std::string page = (folder / "page.html").string();
  const auto named = run_msprof({"report", "-dir", job, "--output", page});
  INFO(named.err);
  CHECK(named.exit_code == 0);
  CHECK(contains(read_file(page), "JOBA"));
  CHECK(run_msprof({"report", "-dir", job, "--output", page, "--html", page}).exit_code == 2);
  const std::string nowhere = (folder / "nowhere/page.html").string();
  for (const Words& words :
       {Words{"report", "-q", "-dir", job, "--html", nowhere},
        Words{"report", "-q", "-dir", job, "--html", nowhere, "--output", (folder / "x").string()},
        Words{"compare", "-q", job, job, "--html", nowhere}}) {
    const auto result = run_msprof(words);
    INFO(result.err);
    CHECK(result.exit_code == 5);
    CHECK(contains(result.err, nowhere + ": No such file or directory\n"));
  }
}

TEST_CASE("a report in a capture does not change its verdict") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const auto before = run_msprof({"import", "-dir", job.folder().string(), "--json"});
  make_report(job.folder());
  CHECK(run_msprof({"import", "-dir", job.folder().string(), "--json"}).out == before.out);
}

TEST_CASE("--merged writes calls and layers of a board as one timeline with arrows") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const std::string dir = job.folder().string();
  CHECK(run_msprof({"export", "timeline", "-dir", dir}).exit_code == 0);
  nlohmann::json apart = nlohmann::json::array();
  for (const std::string& name : names_in(job.folder() / "timeline")) {
    for (const auto& event : nlohmann::json::parse(read_file(job.folder() / "timeline" / name)))
      apart.push_back(event);
  }
  CHECK(run_msprof({"export", "timeline", "-dir", dir, "--merged"}).exit_code == 0);
  // It replaces the separate timelines, which viewers would otherwise draw in addition.
  CHECK(names_in(job.folder() / "timeline") == Words{"merged_timeline.json"});
  const auto merged =
      nlohmann::json::parse(read_file(job.folder() / "timeline/merged_timeline.json"));
  const auto slices = [](const nlohmann::json& events) {
    std::multiset<std::string> texts;
    for (const auto& event : events) {
      if (event["ph"] == "X") texts.insert(event.dump());
    }
    return texts;
  };
  CHECK(slices(merged) == slices(apart));
  // Each arrow starts at the call that ran an execution and ends at the first layer of that
  // execution.
  std::map<std::string, std::vector<nlohmann::json>> arrows;
  for (const auto& event : merged) {
    if (event["ph"] == "s" || event["ph"] == "f") arrows[event["id"]].push_back(event);
  }
  CHECK(arrows.size() == 2);
  for (const auto& [id, ends] : arrows) {
    CAPTURE(id);
    REQUIRE(ends.size() == 2);
    for (const auto& end : ends) {
      const bool is_start = end["ph"] == "s";
      CHECK(std::any_of(merged.begin(), merged.end(), [&](const auto& event) {
        return event["ph"] == "X" && event["pid"] == end["pid"] && event["tid"] == end["tid"] &&
               std::stod(end["ts"].template get<std::string>()) ==
                   event["ts"].template get<double>() &&
               (event["name"] == "svp_acl_mdl_execute") == is_start;
      }));
    }
  }
}

TEST_CASE("--format perfetto writes next to the JSON and refuses --gzip and --split") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const std::string dir = job.folder().string();
  CHECK(run_msprof({"export", "timeline", "-dir", dir}).exit_code == 0);
  const auto before = names_in(job.folder() / "timeline");
  CHECK(run_msprof({"export", "timeline", "-dir", dir, "--format", "perfetto"}).exit_code == 0);
  const auto after = names_in(job.folder() / "timeline");
  CHECK(after.size() == 2 * before.size());
  for (const std::string& name : before)
    CHECK(std::find(after.begin(), after.end(),
                    name.substr(0, name.size() - 5) + ".perfetto-trace") != after.end());
  for (const Words& wrong : {Words{"--gzip"}, Words{"--split", "1MB"}}) {
    Words words = {"export", "timeline", "-dir", dir, "--format", "perfetto"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    CHECK(run_msprof(words).exit_code == 2);
  }
  CHECK(names_in(job.folder() / "timeline") == after);
}

TEST_CASE("--format perfetto can be combined with --merged, --layers, a range and --min-dur") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const auto files = [&](const Words& options) {
    std::filesystem::remove_all(job.folder() / "timeline");
    Words words = {"export", "timeline", "-dir", job.folder().string(), "--format", "perfetto"};
    words.insert(words.end(), options.begin(), options.end());
    CHECK(run_msprof(words).exit_code == 0);
    return names_in(job.folder() / "timeline");
  };
  CHECK(files({"--merged"}) == Words{"merged_timeline.perfetto-trace"});
  CHECK(files({"--layers", "acl"}).size() == 1);
  CHECK(files({"--min-dur", "1ns"}).size() == 2);
  CHECK(files({"--merged", "--time-range", "0s:1000s"}).size() == 1);
}

TEST_CASE("--merged is refused if the timeline is already one file") {
  const TempFolder folder;
  const auto run = prof::make_run(folder.path(), {}, {.tasks = 40});
  const auto result = run_msprof({"export", "timeline", "-dir", run.folder.string(), "--merged"});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "--merged is for captures of boards"));
}
