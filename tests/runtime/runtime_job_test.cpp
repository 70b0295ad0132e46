#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <set>

#include "runtime/runtime_fixture.hpp"
#include "runtime/svp/profile/model_profile.hpp"

using namespace msprof::runtime;
using namespace msprof::runtime::test;

namespace {

const std::vector<std::vector<float>> kTwoImages = {std::vector<float>(64, 0.5F)};

std::string only_job(const std::string& folder) {
  const std::vector<std::string> jobs = jobs_in(folder);
  REQUIRE(jobs.size() == 1);
  return jobs[0];
}

std::vector<uint32_t> api_ids(const std::string& path) {
  std::vector<uint32_t> ids;
  for (const AclApiRecord& record : read_records<AclApiRecord>(path, RecordKind::kAclApi))
    ids.push_back(record.api_id);
  return ids;
}

unsigned read_mode(const std::string& path) {
  struct stat info = {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

uint64_t number(const std::map<std::string, std::string>& done, const std::string& key) {
  return std::stoull(done.at(key));
}

}  // namespace

TEST_CASE("a run of one model gives a JOB with complete files") {
  const TempFolder folder;
  {
    Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
    Runner runner(tiny_model("tiny.v1-5"));
    for (int i = 0; i < 3; ++i) runner.run(kOneImage);
    const std::string id = std::to_string(runner.id());
    runner.unload();
    runtime.finalize();

    const std::string job = only_job(folder.path());
    CHECK(std::regex_match(job.substr(folder.path().size() + 1), std::regex("JOB[A-Z]{29}")));
    CHECK(names_in(job) == std::vector<std::string>{"data", "info.json.0"});
    CHECK(read_file(job + "/info.json.0") == "{\"DeviceInfo\": [{\"aic_frequency\": \"1000\"}]}");
    const std::string stem = "tiny.v1-5." + id;
    CHECK(names_in(job + "/data") ==
          std::vector<std::string>{
              "acl_api.0." + stem, "acl_api.0." + stem + ".done", "aicore.0." + stem + ".0.1.1.0",
              "aicore.0." + stem + ".0.1.1.0.done", "aicpu.0." + stem + ".0.1.1.0",
              "aicpu.0." + stem + ".0.1.1.0.done", stem + ".layer.info", stem + ".net.info"});
    CHECK(read_file(job + "/data/" + stem + ".net.info") ==
          "#msprof-net 1\nmodel_name:tiny.v1-5\nmodel_id:" + id +
              "\nnet_id:0\nnet_type:CNN\nbatch_num:1\nlayer_num:4\n");
    CHECK(
        read_file(job + "/data/" + stem + ".layer.info") ==
        "#msprof-layers 1\n0\t0\tConv2D\tAA_CORE\tconv1\tconv1\n1\t0\tRelu\tAA_CORE\trelu1\trelu1\n"
        "2\t0\tPool\tAA_CORE\tpool\tpool_a+pool_b\n3\t0\tSoftmax\tAA_"
        "CPU\tprobabilities\tprobabilities\n");
  }
}

TEST_CASE("core records hold layer, time, units within the total, and the execution number") {
  const TempFolder folder;
  Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
  Runner runner(tiny_model());
  for (int i = 0; i < 3; ++i) runner.run(kTwoImages, 2);
  const std::string stem = "tiny." + std::to_string(runner.id());
  runner.unload();
  runtime.finalize();

  const std::string data = only_job(folder.path()) + "/data/";
  const std::string core = data + "aicore.0." + stem + ".0.2.2.0";
  const auto records = read_records<SvpAicoreRecord>(core, RecordKind::kAicore);
  REQUIRE(records.size() == 9);
  uint64_t last_end = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const SvpAicoreRecord& r = records[i];
    INFO("record " << i);
    CHECK(r.layer_id == i % 3);
    CHECK(r.execution == i / 3);
    CHECK(r.zero == 0);
    CHECK(r.start_ns >= last_end);
    last_end = r.start_ns + r.total_cycles;
    for (const uint64_t unit :
         {r.mac_busy, r.mac_ppen, r.vec_busy, r.vec_ppen, r.dstr, r.dtrans, r.dld, r.wld}) {
      CHECK(unit <= r.total_cycles);
    }
    CHECK(r.mac_ppen <= r.mac_busy);
  }
  // conv1, two images: 2×16 floats in, 54 weights and 3 biases once, 3×16 floats out.
  CHECK(records[0].ddr_read_bytes == 2 * 32 * 4 + (54 + 3) * 4);
  CHECK(records[0].ddr_write_bytes == 2 * 48 * 4);

  const auto done = read_done(core);
  CHECK(done.size() == 4);
  CHECK(number(done, "file_len") == 16 + 9 * 112);
  CHECK(number(done, "start_time") == records[0].start_ns / 1000);
  CHECK(number(done, "end_time") == last_end / 1000);

  const auto cpu =
      read_records<AicpuRecord>(data + "aicpu.0." + stem + ".0.2.2.0", RecordKind::kAicpu);
  REQUIRE(cpu.size() == 3);
  // Three executions of two pictures.
  for (const char* type : {"aicore", "aicpu"}) {
    CHECK(number(read_done(data + type + ".0." + stem + ".0.2.2.0"), "input_pic_num") == 6);
  }
  CHECK(cpu[2].layer_id == 3);
  CHECK(cpu[2].execution == 2);
  CHECK(cpu[2].thread_id == static_cast<uint32_t>(gettid()));
  CHECK(cpu[2].start_ns <= cpu[2].end_ns);
}

TEST_CASE("an interval records every Nth execution in separate files") {
  const TempFolder folder;
  Initialised runtime(folder.write("acl.json", acl_json(folder.path(), "2")));
  Runner runner(tiny_model());
  for (int i = 0; i < 5; ++i) runner.run(kTwoImages, 2);
  const std::string stem = "aicore.0.tiny." + std::to_string(runner.id()) + ".0.2.2.";
  const std::string data = only_job(folder.path()) + "/data/";
  // A capture is complete once its execution has ended.
  for (const auto& [pictures, execution] :
       {std::pair("0", 0U), std::pair("4", 2U), std::pair("8", 4U)}) {
    const auto records = read_records<SvpAicoreRecord>(data + stem + pictures, RecordKind::kAicore);
    REQUIRE(records.size() == 3);
    CHECK(records[0].execution == execution);
    CHECK(number(read_done(data + stem + pictures), "file_len") == 16 + 3 * 112);
    CHECK(number(read_done(data + stem + pictures), "input_pic_num") == 2);
  }
  CHECK_FALSE(exists(data + stem + "2"));
  CHECK_FALSE(exists(data + stem + "6"));
  runner.unload();
  runtime.finalize();
}

TEST_CASE("calls before the load follow its record, and finalize is last") {
  const TempFolder folder;
  Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
  svp_acl_rt_set_device(0);
  void* memory = nullptr;
  svp_acl_rt_malloc(&memory, 64, SVP_ACL_MEM_MALLOC_NORMAL_ONLY);
  Runner runner(tiny_model());
  const std::string path =
      only_job(folder.path()) + "/data/acl_api.0.tiny." + std::to_string(runner.id());
  runner.run(kOneImage);
  runner.unload();
  CHECK_FALSE(exists(path + ".done"));
  svp_acl_rt_free(memory);
  svp_acl_rt_reset_device(0);
  runtime.finalize();

  // load, then init, set_device, malloc; get_desc, two datasets, execute, two destroyed; unload;
  // free, reset, finalize
  CHECK(api_ids(path) ==
        std::vector<uint32_t>{1, 512, 256, 261, 6, 7, 7, 3, 8, 8, 5, 262, 257, 513});
  const auto records = read_records<AclApiRecord>(path, RecordKind::kAclApi);
  CHECK(records[1].start_ns <= records[1].end_ns);
  CHECK(records[1].end_ns <= records[0].start_ns);
  for (const AclApiRecord& record : records)
    CHECK(record.thread_id == static_cast<uint32_t>(gettid()));
  const auto done = read_done(path);
  CHECK(done.size() == 5);
  CHECK(number(done, "file_len") == 16 + records.size() * 32);
  CHECK(number(done, "pid") == static_cast<uint64_t>(getpid()));
  CHECK(number(done, "tid") == static_cast<uint64_t>(gettid()));
  CHECK(number(done, "start_time") == records[1].start_ns / 1000);
  CHECK(number(done, "end_time") == records.back().end_ns / 1000);
}

TEST_CASE("at most 4096 calls are kept before the first load") {
  const TempFolder folder;
  const CapturedStderr captured;
  Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
  for (int i = 0; i < 4100; ++i) svp_acl_rt_synchronize_stream(nullptr);
  Runner runner(tiny_model());
  runner.run(kOneImage);
  runner.unload();
  runtime.finalize();
  const std::string path =
      only_job(folder.path()) + "/data/acl_api.0.tiny." + std::to_string(runner.id());
  // load + 4096 + get_desc, two datasets, execute, two destroyed, unload, finalize
  CHECK(api_ids(path).size() == 1 + 4096 + 8);
  CHECK(captured.text().find("5 calls before the first model") != std::string::npos);
}

TEST_CASE("each model has its own files, and calls without a model go to the first") {
  const TempFolder folder;
  Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
  Runner first(tiny_model("a")), second(tiny_model("b"));
  first.run(kOneImage);
  second.run(kOneImage);
  second.run(kOneImage);
  const std::string data = only_job(folder.path()) + "/data/";
  const std::string one = data + "acl_api.0.a." + std::to_string(first.id());
  const std::string two = data + "acl_api.0.b." + std::to_string(second.id());
  first.unload();
  second.unload();
  CHECK(exists(two + ".done"));
  CHECK_FALSE(exists(one + ".done"));
  CHECK(svp_acl_mdl_unload(99) == SVP_ACL_ERROR_INVALID_MODEL_ID);
  runtime.finalize();
  CHECK(api_ids(one) ==
        std::vector<uint32_t>{1, 512, 6, 7, 7, 3, 8, 8, 7, 7, 8, 8, 7, 7, 8, 8, 5, 513});
  CHECK(api_ids(two) == std::vector<uint32_t>{1, 6, 3, 3, 5});
  CHECK(read_records<SvpAicoreRecord>(
            data + "aicore.0.b." + std::to_string(second.id()) + ".0.1.1.0", RecordKind::kAicore)
            .size() == 6);
}

TEST_CASE("a process without a model writes no call file") {
  const TempFolder folder;
  Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
  svp_acl_rt_set_device(0);
  runtime.finalize();
  CHECK(names_in(only_job(folder.path()) + "/data").empty());
}

TEST_CASE("a model that is only loaded and unloaded leaves no files") {
  const TempFolder folder;
  const bool is_unloaded = GENERATE(true, false);
  Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
  Runner runner(tiny_model());
  svp_acl_rt_set_device(0);
  const std::string data = only_job(folder.path()) + "/data";
  CHECK(exists(data + "/acl_api.0.tiny." + std::to_string(runner.id())));
  if (is_unloaded) runner.unload();
  runtime.finalize();
  CHECK(names_in(data).empty());
}

TEST_CASE("of several models, only those that were executed leave files, and the process's calls") {
  const TempFolder folder;
  Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
  Runner first(tiny_model("first")), second(tiny_model("second")), third(tiny_model("third"));
  const std::string data = only_job(folder.path()) + "/data";
  first.unload();
  third.unload();
  second.run(kOneImage);
  second.unload();
  runtime.finalize();
  std::set<std::string> models;
  for (const std::string& name : names_in(data)) {
    for (const char* model : {"first", "second", "third"}) {
      if (name.find(model) != std::string::npos) models.insert(model);
    }
  }
  CHECK(models == std::set<std::string>{"first", "second"});
  const std::string calls = data + "/acl_api.0.first." + std::to_string(first.id());
  CHECK(exists(calls + ".done"));
  CHECK(api_ids(calls).back() == static_cast<uint32_t>(ApiId::kFinalize));
}

TEST_CASE("an execution that is refused leaves the calls") {
  const TempFolder folder;
  Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
  Runner runner(tiny_model());
  svp_acl_mdl_dataset* const none = svp_acl_mdl_create_dataset();
  CHECK(svp_acl_mdl_execute(runner.id(), none, none) != SVP_ACL_SUCCESS);
  svp_acl_mdl_destroy_dataset(none);
  runner.unload();
  runtime.finalize();
  const std::vector<uint32_t> ids =
      api_ids(only_job(folder.path()) + "/data/acl_api.0.tiny." + std::to_string(runner.id()));
  CHECK(std::count(ids.begin(), ids.end(), static_cast<uint32_t>(ApiId::kExecute)) == 1);
}

TEST_CASE("switched-off items create no files") {
  const TempFolder folder;
  {
    Initialised runtime(folder.write("acl.json", R"({"profiler":{"switch":"on","output":")" +
                                                     folder.path() + R"(","acl_api":"off"}})"));
    Runner runner(tiny_model());
    runner.run(kOneImage);
    runner.unload();
  }
  const std::vector<std::string> names = names_in(only_job(folder.path()) + "/data");
  REQUIRE(names.size() == 4);
  CHECK(names[0].starts_with("aicpu."));
}

TEST_CASE("folders and files respect the umask and are never wider than 0750 and 0640") {
  for (const auto& [mask, folder_mode, file_mode] :
       {std::tuple(0U, 0750U, 0640U), std::tuple(077U, 0700U, 0600U)}) {
    const TempFolder folder;
    const std::string json = folder.write("acl.json", acl_json(folder.path()));
    const mode_t before = umask(static_cast<mode_t>(mask));
    {
      Initialised runtime(json);
      Runner runner(tiny_model());
      runner.run(kOneImage);
      runner.unload();
    }
    umask(before);
    const std::string job = only_job(folder.path());
    CHECK(read_mode(job) == folder_mode);
    CHECK(read_mode(job + "/data") == folder_mode);
    CHECK(read_mode(job + "/info.json.0") == file_mode);
    REQUIRE(names_in(job + "/data").size() == 8);
    for (const std::string& name : names_in(job + "/data"))
      CHECK(read_mode(job + "/data/" + name) == file_mode);
  }
}

TEST_CASE("a model's name cannot leave the folder, break a line or overflow a file name") {
  CHECK(file_name_part("../a/b\tc") == ".._a_b_c");
  CHECK(file_name_part("口罩") == "口罩");
  const std::string cut = file_name_part(std::string(200, 'x')),
                    other = file_name_part(std::string(201, 'x'));
  CHECK(cut.size() == 128);
  CHECK(cut != other);
  const std::string wide = file_name_part("x" + [] {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "口罩";
    return text;
  }());
  CHECK(wide.size() <= 128);
  CHECK((static_cast<unsigned char>(wide[wide.find('~') - 1]) & 0x80U) != 0);
  CHECK((wide.find('~') - 1) % 3 == 0);

  const TempFolder folder;
  {
    Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
    Runner runner(tiny_model("../../e\\nvil/" + std::string(200, 'y')));
    runner.run(kOneImage);
    runner.unload();
  }
  const std::string data = only_job(folder.path()) + "/data/";
  REQUIRE(names_in(data).size() == 8);
  for (const std::string& name : names_in(data)) {
    if (name.ends_with(".net.info")) {
      CHECK(read_file(data + name).find("model_name:../../e_vil/yyy") != std::string::npos);
    }
  }
}
