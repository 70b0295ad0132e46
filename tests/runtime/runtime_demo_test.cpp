#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <regex>

#include "runtime/runtime_fixture.hpp"
#include "support/sample.hpp"

using namespace msprof::runtime;
using namespace msprof::runtime::test;

namespace {

std::string folder_of_demo() {
  return demo_main().substr(0, demo_main().rfind('/'));
}

std::string checksum(const ProcessResult& result) {
  std::smatch found;
  REQUIRE(std::regex_search(result.out, found, std::regex("checksum ([0-9.]+)")));
  return found[1];
}

// Starts the demo on an endless run and kills it after this time.
void run_and_kill(const std::string& model, const std::string& json, long microseconds) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv("MSPROF_ACL_JSON", json.c_str(), 1);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    execl(demo_main().c_str(), "main", "--model", model.c_str(), "--images", "1000000000", nullptr);
    _exit(127);
  }
  const timespec pause = {0, microseconds * 1000};
  nanosleep(&pause, nullptr);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
}

// Checks a raw file of a killed run: complete records in order, at most the last one truncated.
// Returns the number of complete records.
std::size_t check_raw(const std::string& path, const std::string& name) {
  if (std::filesystem::file_size(path) < sizeof(FileHeader))
    return 0;  // killed between creation and header
  std::size_t partial = 0, count = 0;
  if (name.starts_with("aicore")) {
    const auto records = read_records<SvpAicoreRecord>(path, RecordKind::kAicore, &partial);
    bool in_order = true;
    for (std::size_t i = 0; i < records.size(); ++i) {
      in_order = in_order && records[i].layer_id == i % 3 && records[i].execution == i / 3;
    }
    REQUIRE(in_order);
    count = records.size();
    CHECK(partial < sizeof(SvpAicoreRecord));
  } else if (name.starts_with("aicpu")) {
    count = read_records<AicpuRecord>(path, RecordKind::kAicpu, &partial).size();
  } else {
    count = read_records<AclApiRecord>(path, RecordKind::kAclApi, &partial).size();
  }
  return count;
}

}  // namespace

TEST_CASE("the demo needs no argument and leaves no profile by default") {
  const ProcessResult result = run_process({demo_main()});
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(result.out.find("face_mask: ") == 0);
  CHECK(jobs_in(folder_of_demo()).empty());
}

TEST_CASE("the demo's folder is self-contained") {
  for (const char* name :
       {"main", "libsvp_acl.so", "acl.json", "board.ini.example", "models/face_mask.json",
        "models/face_mask_fused.json", "models/mish.json", "models/leaky_relu.json"}) {
    INFO(name);
    CHECK(exists(folder_of_demo() + "/" + name));
  }
  // Statically linked, except with sanitizers, which do not support it.
  const ProcessResult result = run_process({"/usr/bin/env", "readelf", "-d", demo_main()});
  const char* const expected = MSPROF_DEMO_IS_STATIC ? "There is no dynamic section" : "[$ORIGIN]";
  CHECK(result.out.find(expected) != std::string::npos);
}

TEST_CASE("wrong arguments, a missing model and an invalid model have separate exit codes") {
  const TempFolder folder;
  const ProcessResult help = run_process({demo_main(), "--help"});
  CHECK(help.exit_code == 0);
  for (const char* option : {"--model", "--images", "--batch", "--threads"}) {
    CHECK(help.out.find(option) != std::string::npos);
  }
  CHECK(run_process({demo_main(), "--imgaes", "5"}).exit_code == 2);
  CHECK(run_process({demo_main(), "--images"}).exit_code == 2);
  CHECK(run_process({demo_main(), "--images", "0"}).exit_code == 2);
  CHECK(run_process({demo_main(), "--batch=2x"}).exit_code == 2);
  CHECK(run_process({demo_main(), "--model", "nothing"}).exit_code == 3);
  const ProcessResult bad = run_process({demo_main(), "--model", folder.write("bad.json", "{}")});
  CHECK(bad.exit_code == 1);
  CHECK(bad.err.find("svp_acl_mdl_load_from_mem failed with code 100013") != std::string::npos);
}

TEST_CASE("the fused model computes the same as the unfused one, with any batch and threads") {
  const std::string wanted = checksum(run_process({demo_main(), "--images", "7"}));
  CHECK(checksum(run_process({demo_main(), "--images", "7", "--model", "face_mask_fused"})) ==
        wanted);
  const ProcessResult batched = run_process({demo_main(), "--images", "7", "--batch", "3"});
  CHECK(batched.out.find("7 images in 3 executions") != std::string::npos);
  CHECK(checksum(batched) == wanted);
  CHECK(checksum(run_process({demo_main(), "--images", "7", "--threads", "3"})) == wanted);
}

TEST_CASE("every model of the demo has a CPU layer and runs") {
  for (const char* model : {"face_mask", "face_mask_fused", "mish", "leaky_relu"}) {
    INFO(model);
    const TempFolder folder;
    const std::string json = folder.write("acl.json", acl_json(folder.path()));
    const ProcessResult result =
        run_process({demo_main(), "--images", "2", "--model", model}, {{"MSPROF_ACL_JSON", json}});
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    REQUIRE(jobs_in(folder.path()).size() == 1);
    const std::string cpu = jobs_in(folder.path())[0] + "/data/aicpu.0." + model + ".1.0.1.1.0";
    CHECK(read_records<AicpuRecord>(cpu, RecordKind::kAicpu).size() == 2);
  }
}

TEST_CASE("a demo killed at any moment loses at most the record being written") {
  const TempFolder folder;
  const std::string model = folder.write("tiny.json", tiny_model());
  const std::string json = folder.write("acl.json", acl_json(folder.path()));
  std::mt19937 engine(17);
  std::uniform_int_distribution<long> moment(5'000, 60'000);
  std::vector<long> moments(300);
  for (long& microseconds : moments) microseconds = moment(engine);
  std::size_t records = 0;
  for (const long microseconds : msprof::test::sample(moments, 40)) {
    run_and_kill(model, json, microseconds);
    for (const std::string& job : jobs_in(folder.path())) {
      const std::string data = job + "/data/";
      for (const std::string& name : names_in(data)) {
        if (name.ends_with(".info") || name.ends_with(".tmp")) continue;
        REQUIRE_FALSE(name.ends_with(".done"));
        records += check_raw(data + name, name);
      }
      std::error_code ignored;
      std::filesystem::remove_all(job, ignored);
    }
  }
  CHECK(records > 0);
}
