// Detection of the kind of application, and selection of its CANN runtime.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <deque>
#include <filesystem>

#include "base/error.hpp"
#include "collect/cann/application.hpp"
#include "collect/cann/rank.hpp"
#include "collect/cann/runtime_choice.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"
#include "support/variable.hpp"

using namespace msprof;
using namespace msprof::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

void write_program(const fs::path& path, const std::string& text) {
  write_file(path, text);
  fs::permissions(path, fs::perms::owner_all);
}

// A foreign tool, such as the vendor's.
constexpr const char* kVendor = "#!/bin/sh\necho 'Unknown option: --version'\nexit 1\n";

RuntimeSurroundings with_path(const std::string& path) {
  RuntimeSurroundings surroundings;
  surroundings.path = path;
  surroundings.version_limit = kHangLimit;
  surroundings.executable = fs::canonical(msprof_path());
  return surroundings;
}

std::string thrown_message(const std::string& by_hand, const RuntimeSurroundings& surroundings) {
  try {
    choose_runtime(by_hand, surroundings);
  } catch (const Error& error) {
    CHECK(error.code() == Exit::nothing_to_do);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("this msprof on PATH, under any path, is not taken for the vendor's") {
  const TempFolder folder;
  fs::create_directories(folder / "link");
  fs::create_symlink(msprof_path(), folder / "link" / "msprof");
  fs::create_directories(folder / "copy");
  fs::copy_file(msprof_path(), folder / "copy" / "msprof");
  write_program(folder / "script" / "msprof", "#!/bin/sh\nexec '" + msprof_path() + "' \"$@\"\n");
  fs::create_directories(folder / "a=b");
  fs::copy_file(msprof_path(), folder / "a=b" / "msprof");
  const std::string ours = (folder / "link").string() + ":" + (folder / "copy").string() + ":" +
                           (folder / "a=b").string() + ":" + (folder / "script").string() +
                           "::/nowhere";
  CHECK(choose_runtime(std::nullopt, with_path(ours)).runtime == CannRuntime::host);
  CHECK_THAT(thrown_message("vendor", with_path(ours)),
             Contains("the vendor's msprof is not on PATH"));

  write_program(folder / "vendor" / "msprof", kVendor);
  const auto both = with_path(ours + ":" + (folder / "vendor").string());
  const RuntimeChoice choice = choose_runtime(std::nullopt, both);
  CHECK(choice.runtime == CannRuntime::vendor);
  CHECK(choice.place == folder / "vendor" / "msprof");
  CHECK_THAT(choice.sentence, Contains("vendor"));
  CHECK(choose_runtime("host", both).runtime == CannRuntime::host);
}

TEST_CASE("a candidate that does not answer in time is stopped and taken for the vendor's") {
  const TempFolder folder;
  write_program(folder / "msprof", "#!/bin/sh\nexec sleep 1000\n");
  RuntimeSurroundings surroundings = with_path(folder.path().string());
  surroundings.version_limit = std::chrono::milliseconds(200);
  CHECK(choose_runtime(std::nullopt, surroundings).runtime == CannRuntime::vendor);
}

TEST_CASE("a candidate is called with MSPROF_INNER set, and not at all if it is already set") {
  const TempFolder folder;
  write_program(folder / "msprof",
                "#!/bin/sh\necho \"$MSPROF_INNER\" > '" + (folder / "asked").string() + "'\n");
  RuntimeSurroundings surroundings = with_path(folder.path().string());
  surroundings.is_inner = true;
  CHECK(choose_runtime(std::nullopt, surroundings).runtime == CannRuntime::host);
  CHECK_FALSE(fs::exists(folder / "asked"));
  CHECK_THAT(thrown_message("vendor", surroundings), Contains("MSPROF_INNER is set"));
  surroundings.is_inner = false;
  CHECK(choose_runtime(std::nullopt, surroundings).runtime == CannRuntime::vendor);
  CHECK(read_file(folder / "asked") == "1\n");
}

TEST_CASE("an installed CANN is found in the library path and its variables") {
  const TempFolder folder;
  write_file(folder / "cann" / "lib64" / "libascendcl.so", "another library");
  RuntimeSurroundings surroundings = with_path("");
  surroundings.home_path = (folder / "cann").string();
  const RuntimeChoice choice = choose_runtime(std::nullopt, surroundings);
  CHECK(choice.runtime == CannRuntime::cann);
  CHECK_THAT(choice.sentence, Contains("PROFILER_SAMPLECONFIG"));
  surroundings.home_path.clear();
  surroundings.library_path = "/nowhere:" + (folder / "cann" / "lib64").string();
  CHECK(choose_runtime(std::nullopt, surroundings).runtime == CannRuntime::cann);

  // The host runtime in LD_LIBRARY_PATH is not an installed CANN.
  const fs::path host = find_host_runtime(surroundings.executable);
  REQUIRE_FALSE(host.empty());
  surroundings.library_path = (host / "lib64").string();
  CHECK(choose_runtime(std::nullopt, surroundings).runtime == CannRuntime::host);
  CHECK_THAT(thrown_message("cann", surroundings), Contains("no libascendcl.so"));
}

TEST_CASE("the host runtime is found from every installation layout") {
  const TempFolder folder;
  const std::pair<const char*, const char*> layouts[] = {
      {"prefix/tools/profiler/bin/msprof", "prefix/lib/msprof/host"},
      {"deb/lib/msprof/tools/profiler/bin/msprof", "deb/lib/msprof/host"},
      {"archive/lib/msprof/loader/msprof", "archive/lib/msprof/host"},
      {"build/apps/msprof/msprof", "build/msprof-host"},
  };
  for (const auto& [program, host] : layouts) {
    CAPTURE(program);
    CHECK(find_host_runtime(folder / program).empty());
    write_file(folder / host / "lib64" / "libascendcl.so", "");
    CHECK(find_host_runtime(folder / program) == folder / host);
  }
}

TEST_CASE("without a host runtime msprof prints what to install") {
  RuntimeSurroundings surroundings = with_path("");
  surroundings.executable = "/nowhere/bin/msprof";
  CHECK_THAT(thrown_message("host", surroundings), Contains("install the complete msprof"));
}

TEST_CASE("an application is looked up in the current folder, then on PATH") {
  const TempFolder folder;
  write_program(folder / "here" / "app", "#!/bin/sh\n");
  write_program(folder / "path" / "app", "#!/bin/sh\n");
  write_program(folder / "path" / "other", "#!/bin/sh\n");
  write_program(folder / "path" / "python3", "#!/bin/sh\n");
  write_file(folder / "here" / "main.py", "import acl\n");
  write_file(folder / "here" / "data", "1");
  fs::create_symlink(folder / "path" / "other", folder / "here" / "linked");
  const fs::path here = folder / "here";
  const std::string path = "/nowhere:" + (folder / "path").string();
  const auto program = [&](const char* word) {
    return find_application(word, {"1"}, here, path).program;
  };
  CHECK(program("app") == here / "app");
  CHECK(program("./app") == here / "app");
  CHECK(program("../path/other") == folder / "path" / "other");
  CHECK(program("other") == folder / "path" / "other");
  CHECK(program("linked") == here / "linked");
  const Application script = find_application("main.py", {"1"}, here, path);
  CHECK(script.program == folder / "path" / "python3");
  CHECK(script.arguments == std::vector<std::string>{"main.py", "1"});

  const auto why = [&](const char* word) -> std::string {
    try {
      find_application(word, {}, here, path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(why("data"), Contains("is not executable; run chmod +x"));
  CHECK_THAT(why("./none"), Contains("no such file"));
  CHECK_THAT(why("none"), Contains("on PATH"));
  CHECK_THAT(why("../here"), Contains("no such file"));
}

TEST_CASE("an application is for CANN if it, a library or its script loads CANN") {
  const TempFolder folder;
  const auto kind = [&](const fs::path& program, const std::vector<std::string>& words = {}) {
    return detect_kind({program, words}, folder.path(), "");
  };
  CHECK(kind(DEMO_ACL) == ApplicationKind::cann);
  CHECK(kind(SVP_APPLICATION) == ApplicationKind::svp);
  CHECK(kind("/bin/true") == ApplicationKind::unknown);
  CHECK(kind("/nowhere") == ApplicationKind::unknown);

  write_file(folder / "with.py", "# import nothing\n  from acl import rt as r\n");
  write_file(folder / "torch.py", "import torch_npu.profiler\n");
  write_file(folder / "without.py", "import aclocal\n'import acl' in text\n");
  write_file(folder / "package" / "__main__.py", "import acl\n");
  CHECK(kind("/usr/bin/python3", {"with.py"}) == ApplicationKind::cann);
  CHECK(kind("/usr/bin/python3.11", {"-u", "torch.py", "x"}) == ApplicationKind::cann);
  CHECK(kind("/usr/bin/python3", {"-m", "package"}) == ApplicationKind::cann);
  CHECK(kind("/usr/bin/python3", {"without.py"}) == ApplicationKind::unknown);
  CHECK(kind("/usr/bin/python3", {"-c", "import acl"}) == ApplicationKind::unknown);
  CHECK(kind("/bin/sh", {"with.py"}) == ApplicationKind::unknown);
  write_program(folder / "tool", "#!/usr/bin/env python3\nimport acl\n");
  CHECK(kind(folder / "tool") == ApplicationKind::cann);
}

TEST_CASE("the rank of a process comes from its launcher if it is unknown") {
  std::deque<Variable> unset;
  for (const char* name :
       {"SLURM_PROCID", "SLURM_STEP_ID", "OMPI_COMM_WORLD_RANK", "RANK", "RANK_ID"}) {
    unset.emplace_back(name, std::nullopt);
  }
  CHECK_FALSE(find_rank_variable());
  const Variable slurm("SLURM_PROCID", "5");
  // In a batch script, SLURM_PROCID is 0 for every process started by the script.
  CHECK_FALSE(find_rank_variable());
  const Variable step("SLURM_STEP_ID", "0");
  CHECK(find_rank_variable() == "RANK_ID=5");
  const Variable mpi("OMPI_COMM_WORLD_RANK", "3");
  CHECK(find_rank_variable() == "RANK_ID=3");
  const Variable torch("RANK", "2");
  CHECK(find_rank_variable() == "RANK_ID=2");
  const Variable own("RANK_ID", "7");
  CHECK_FALSE(find_rank_variable());
}
