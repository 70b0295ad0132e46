// Ten captures, each with one planted cause: an agent finds its name and its size from the answers
// of msprof mcp, in at most eight calls.
#include <catch2/catch.hpp>
#include <functional>

#include "cli/cli_fixture.hpp"
#include "mcp/mcp_client.hpp"
#include "support/prof/prof_scene.hpp"
#include "support/ranks/rank_folder.hpp"

using namespace msprof::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// A board's run of a small network. Layers of 0 us are not in it.
struct BoardRun {
  std::uint64_t conv3_us = 100, mish_us = 0, nms_us = 0;
  std::uint64_t first_us = 0;  // by which conv1 takes longer in the first execution
  std::uint64_t pause_us = 10, load_us = 300;
  std::string name = "JOBA";
};

void write_board(const fs::path& parent, const BoardRun& run) {
  struct Layer {
    std::string name, type;
    std::uint64_t us = 100;
    bool is_on_cpu = false;
  };
  std::vector<Layer> layers = {{"conv1", "Conv2D"},
                               {"soft", "Softplus", run.mish_us},
                               {"tanh", "Tanh", run.mish_us},
                               {"mul", "Mul", run.mish_us},
                               {"conv2", "Conv2D"},
                               {"nms", "Nms", run.nms_us, true},
                               {"conv3", "Conv2D", run.conv3_us},
                               {"fc", "FullyConnection"},
                               {"pool", "Pooling"}};
  std::erase_if(layers, [](const Layer& layer) { return layer.us == 0; });
  std::vector<LayerLine> lines;
  for (const Layer& layer : layers) {
    const auto id = static_cast<std::int64_t>(lines.size());
    lines.push_back({id, 0, layer.type, layer.is_on_cpu ? "AA_CPU" : "AA_CORE", layer.name, ""});
  }
  std::vector<AicoreRecord> core;
  std::vector<AicpuRecord> cpu;
  std::uint64_t now = 1'000'000'000;
  std::vector<AclRecord> calls = {{1, 1, now, now + run.load_us * 1000}};
  now += (run.load_us + run.pause_us) * 1000;
  for (std::uint64_t execution = 0; execution < 12; ++execution) {
    const std::uint64_t begin = now;
    for (std::uint32_t id = 0; id < layers.size(); ++id) {
      const std::uint64_t ns = 1000 * (layers[id].us + (execution + id == 0 ? run.first_us : 0));
      if (layers[id].is_on_cpu) {
        cpu.push_back({id, 77, now, now + ns, execution});
      } else {
        core.push_back({.layer_id = id, .start_ns = now, .total = ns, .execution = execution});
      }
      now += ns;
    }
    calls.push_back({3, 1, begin - 2000, now + 2000});
    now += run.pause_us * 1000;
  }
  JobBuilder job(parent, run.name);
  job.info_json("1000").net_info("net", 1, {.layer_num = std::ssize(lines)});
  job.layer_info("net", 1, lines).data(DataName{}, aicore_file(core));
  if (!cpu.empty()) job.data(DataName{.type = "aicpu"}, aicpu_file(cpu));
  job.data("acl_api.0.net.1", acl_api_file(calls));
}

// 50 operators of a server, one of which runs on the AI CPU or starts late.
void write_server(const fs::path& parent, std::uint64_t ai_cpu_us, std::uint64_t wait_us) {
  prof::ProfFolder folder(parent);
  prof::ProfScene scene(folder);
  const prof::Tensor in{.type = 0, .shape = {8, 128}}, out{.type = 1, .shape = {8, 128}};
  std::uint64_t host = 1'000'000, device = 2'000'000;
  for (std::uint16_t task = 0; task < 50; ++task) {
    const bool is_cpu = task == 20 && ai_cpu_us > 0;
    prof::OpKind op{
        "MatMul_" + std::to_string(task), "MatMulV2", prof::Core::aic, 20, 0, {in, out}};
    if (is_cpu) op = {"NonZero_20", "NonZero", prof::Core::aicpu, 1, 0, {in, out}};
    if (task == 30) device += wait_us * 1000;
    const std::uint64_t end = device + (is_cpu ? ai_cpu_us * 1000 : 40'000);
    scene.launch(op, {100, host, host + 2000}, {1, task, device, end});
    host += 3000;
    device = end + 1000;
  }
  folder.finish();
}

// Four ranks, of which one computes 30 % longer.
void write_job(const fs::path& parent) {
  ranks::ClusterShape shape;
  shape.ranks = 4;
  shape.tasks = 300;
  shape.faults.slow_rank = 2;
  const ranks::ClusterRun run(shape);
  for (std::int64_t rank = 0; rank < shape.ranks; ++rank)
    ranks::write_rank_folder(parent, run, rank);
  REQUIRE(run_msprof({"cluster", parent.string(), "--output", parent.string(), "-q"}).exit_code ==
          0);
}

struct Cause {
  std::string name;
  double us = 0;
};

// The first evidence of the most important finding, which must be of this rule.
Cause advised(const json& advice, const std::string& rule) {
  INFO(advice.dump());
  REQUIRE_FALSE(advice["captures"][0]["findings"].empty());
  const json& first = advice["captures"][0]["findings"][0];
  CHECK(first["rule"] == rule);
  const json& evidence = first["evidence"][0];
  return {evidence["name"],
          evidence["time_us"].is_number() ? evidence["time_us"].get<double>() : 0};
}

// How an agent looks for the cause; `path` is the capture that `list` named.
using Search = std::function<Cause(McpClient& client, const std::string& path)>;

Search by_advice(const std::string& rule) {
  return [rule](McpClient& client, const std::string& path) {
    client.ask("summary", {{"path", path}});
    return advised(client.ask("advise", {{"path", path}}), rule);
  };
}

// The texts `name` and numbers `us` of the first row.
Search by_sql(const std::string& sql) {
  return [sql](McpClient& client, const std::string& path) {
    const json row = client.ask("query", {{"path", path}, {"sql", sql}})["captures"][0]["rows"][0];
    return Cause{row[0], row[1]};
  };
}

Cause find_long_call(McpClient& client, const std::string& path) {
  const json shown = client.ask("timeline", {{"path", path}, {"min_us", 5000}});
  INFO(shown.dump());
  REQUIRE(shown["captures"][0]["rows"].size() == 1);
  const json& row = shown["captures"][0]["rows"][0];
  return {row[4], row[1]};
}

Cause find_change(McpClient& client, const std::string&) {
  const json change =
      client.ask("compare", {{"base", {"JOBA"}}, {"new", {"JOBB"}}, {"max_bytes", 30'000}});
  INFO(change.dump());
  return {change["ops"][0]["new_names"][0], change["ops"][0]["delta_us"]};
}

struct Planted {
  std::function<void(const fs::path&)> plant;
  Search find;
  Cause cause;
};

std::function<void(const fs::path&)> on_board(const BoardRun& run) {
  return [run](const fs::path& parent) { write_board(parent, run); };
}

std::vector<Planted> planted_causes() {
  return {
      {on_board({.conv3_us = 900}), by_advice("hot_layer"), {"conv3", 900}},
      {on_board({.nms_us = 250}), by_advice("cpu_layer_between"), {"nms", 250}},
      {on_board({.mish_us = 80}), by_advice("decomposed_activation"), {"soft + tanh + mul", 240}},
      {on_board({.first_us = 1200}), by_advice("first_execution"), {"model net", 1200}},
      {on_board({.pause_us = 700}),
       by_advice("host_between_executions"),
       {"between executions", 700}},
      {on_board({.load_us = 60'000}), find_long_call, {"svp_acl_mdl_load_from_mem", 60'000}},
      {[](const fs::path& parent) {
         write_board(parent, {});
         write_board(parent, {.conv3_us = 160, .name = "JOBB"});
       },
       find_change,
       {"conv3", 60}},
      {[](const fs::path& parent) { write_server(parent, 400, 0); },
       by_advice("ai_cpu_operators"),
       {"NonZero_20", 400}},
      {[](const fs::path& parent) { write_server(parent, 0, 5000); },
       by_sql("SELECT op_name, task_wait_time FROM op_summary ORDER BY 2 DESC"),
       {"MatMul_30", 5000}},
      {write_job,
       [](McpClient& client, const std::string&) {
         client.ask("cluster", {{"path", "."}});
         return by_sql("SELECT 'rank ' || rank, longer_computing_us FROM v_slow_ranks")(
             client, "cluster.db");
       },
       {"rank 2", 13'200}},  // 30 % of 4 steps of 11 ms
  };
}

}  // namespace

TEST_CASE("an agent finds each of ten planted causes and its size") {
  for (const Planted& planted : planted_causes()) {
    const TempFolder folder;
    planted.plant(folder.path());
    McpClient client({folder.path()});
    const json list = client.ask("list", json::object());
    const Cause found = planted.find(client, list["captures"][0]["folder"]);
    INFO(planted.cause.name << ": found " << found.name << " " << found.us);
    CHECK(found.name == planted.cause.name);
    CHECK(found.us == Approx(planted.cause.us).epsilon(0.05));
    CHECK(client.calls() <= 8);
  }
}
