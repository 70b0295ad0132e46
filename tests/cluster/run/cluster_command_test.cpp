// msprof cluster with real captures: one result, a list of missing captures, and a second run that
// processes only those; locally, and on a fake Slurm that runs submitted jobs immediately.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cluster/run/run_fixture.hpp"
#include "support/eventually.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

struct ClusterScene {
  explicit ClusterScene(std::int64_t ranks) : captures(write_job(folder / "in", ranks)) {}

  RunResult run(const Words& more, const std::string& output = "out") const {
    Words words = {"cluster", in(), "--output", (folder / output).string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_msprof(words);
  }
  std::string in() const { return (folder / "in").string(); }
  // Makes an msprof that first runs the shell code `text`; $1 is the verb.
  std::string other_msprof(const std::string& text) const {
    return write_script(folder / "msprof.sh", text + "\nexec '" + msprof_path() + "' \"$@\"\n")
        .string();
  }
  std::string answer(const std::string& output = "out") const {
    return read_file(folder / output / "cluster.db");
  }

  TempFolder folder;
  std::vector<fs::path> captures;
};

// A fake Slurm: sbatch runs all tasks of an array one after the other before it returns; the queue
// is always empty.
struct FalseSlurm {
  explicit FalseSlurm(const fs::path& folder) : tools(folder / "slurm_tools") {
    write_script(tools / "sinfo", "echo 'n1 2 idle'; echo 'n2 2 idle'; echo 'n3 2 down*'\n");
    write_script(tools / "scontrol", "echo 'MaxArraySize = 1001'\n");
    write_script(tools / "squeue", "");
    write_script(tools / "scancel", "echo \"$@\" >>'" + (folder / "cancelled").string() + "'\n");
    write_script(tools / "sbatch", R"sh(
here=${0%/*}
echo "$*" >>"$here/submitted"
while [ $# -gt 0 ]; do
  case $1 in
    --array=*) array=$(echo "${1#*=}" | tr , ' ') ;;
    --output=*) log=${1#*=} ;;
    -*) ;;
    *) break ;;
  esac
  shift
done
[ ! -e "$here/refuse" ] || { echo 'sbatch: error: no such partition' >&2; exit 1; }
for range in $array; do
  for index in $(seq "${range%-*}" "${range#*-}"); do
    SLURM_ARRAY_TASK_ID=$index SLURMD_NODENAME=n1 "$@" >>"${log%%.%a/log}.$index/log" 2>&1 </dev/null
  done
done
echo "$(wc -l <"$here/submitted")"
)sh");
  }
  RunOptions options() const {
    return {{}, {{"PATH", tools.string() + ":" + std::getenv("PATH")}}};
  }
  std::string submitted() const { return read_file(tools / "submitted"); }
  fs::path tools;
};

}  // namespace

TEST_CASE("cluster merges all captures, and a repeated run reuses all parts") {
  const ClusterScene scene(5);
  const RunResult first = scene.run({"--jobs", "2", "--json"});
  INFO(first.err);
  CHECK(first.exit_code == 0);
  const json document = json::parse(first.out);
  CHECK(document["schema"] == "msprof.cluster/1");
  REQUIRE(document["captures"].size() == 5);
  for (const json& one : document["captures"]) CHECK(one["outcome"] == "made");
  CHECK(query(scene.folder / "out/cluster.db", "SELECT count(*) FROM member") == Words{"5"});

  const std::string answer = scene.answer();
  const RunResult again = scene.run({"--msprof", scene.other_msprof("[ $1 != rank ] || exit 1")});
  INFO(again.err);
  CHECK(again.exit_code == 0);
  CHECK(says(again.err, "5 current"));
  CHECK(scene.answer() == answer);
  CHECK_FALSE(fs::exists(scene.folder / "out/run.lock"));
}

TEST_CASE("a second run only rebuilds the part of a changed capture") {
  const ClusterScene scene(3);
  REQUIRE(scene.run({}).exit_code == 0);
  fs::last_write_time(scene.captures[1] / "host" / "info.json", fs::file_time_type::clock::now());
  CHECK(says(scene.run({}).err, "1 made, 2 current"));
}

TEST_CASE("a capture that cannot be read is reported and the rest is merged") {
  const ClusterScene scene(4);
  fs::remove_all(scene.captures[2]);
  write_file(scene.captures[2] / "readme.txt", "nothing");
  const RunResult run = scene.run({"--json"});
  CHECK(run.exit_code == 3);
  CHECK(says(run.err, "MISSING: " + scene.captures[2].string() + ": "));
  CHECK(says(run.err, "MISSING: 1 rank (2)"));
  CHECK(query(scene.folder / "out/cluster.db", "SELECT count(*) FROM member") == Words{"3"});
  const json document = json::parse(run.out);
  CHECK(document["captures"].at(2)["outcome"] == "failed");
  CHECK(document["exit_code"] == 3);
}

TEST_CASE("a crashing import does not affect others and is retried twice") {
  const ClusterScene scene(3);
  const std::string crash = "case \"$1 $*\" in rank*" + scene.captures[0].filename().string() +
                            "*) echo x >>'" + (scene.folder / "tries").string() +
                            "'; kill -SEGV $$ ;; esac";
  const RunResult run = scene.run({"--msprof", scene.other_msprof(crash)});
  CHECK(run.exit_code == 3);
  CHECK(says(run.err, scene.captures[0].string() + " (rank 0): killed by signal 11"));
  CHECK(read_file(scene.folder / "tries") == "x\nx\nx\n");
  const RunResult healed = scene.run({});
  CHECK(healed.exit_code == 0);
  CHECK(says(healed.err, "1 made, 2 current"));
}

TEST_CASE("if no capture can be read, nothing is written, and the exit code tells the reason") {
  const TempFolder folder;
  fs::create_directories(folder / "in/PROF_x");
  const RunResult run =
      run_msprof({"cluster", (folder / "in").string(), "--output", (folder / "out").string()});
  CHECK(run.exit_code == 4);
  CHECK_FALSE(fs::exists(folder / "out/cluster.db"));
  const RunResult empty =
      run_msprof({"cluster", (folder / "out").string(), "--output", (folder / "out").string()});
  CHECK(empty.exit_code == 4);
  CHECK(says(empty.err, "no capture (PROF_…) in"));
  fs::create_directory_symlink("loop", folder / "loop");
  const RunResult unreadable =
      run_msprof({"cluster", (folder / "loop").string(), "--output", (folder / "out").string()});
  CHECK(unreadable.exit_code == 3);
  CHECK(says(unreadable.err, "no capture (PROF_…) in"));
}

TEST_CASE("an interrupted run stops its processes, and the next one continues") {
  const ClusterScene scene(3);
  const fs::path hold = scene.folder / "hold";
  write_file(hold, "");
  const std::string wait = "case \"$1 $*\" in rank*" + scene.captures[2].filename().string() +
                           "*) echo $$ >'" + (scene.folder / "pid").string() + "'; while [ -e '" +
                           hold.string() + "' ]; do sleep 0.02; done ;; esac";
  const std::string msprof = scene.other_msprof(wait);
  RunningProgram running(
      msprof_path(), {"cluster", scene.in(), "--output", (scene.folder / "out").string(), "--jobs",
                      "1", "--msprof", msprof});
  REQUIRE(eventually([&] {
    return fs::exists(scene.folder / "pid") && read_file(scene.folder / "pid").ends_with("\n");
  }));
  running.send(SIGINT);
  CHECK(running.wait().exit_code == 130);
  const pid_t pid = std::stoi(read_file(scene.folder / "pid"));
  CHECK(eventually([&] { return ::kill(pid, 0) != 0; }));
  CHECK_FALSE(fs::exists(scene.folder / "out/run.lock"));
  CHECK_FALSE(fs::exists(scene.folder / "out/cluster.db"));
  fs::remove(hold);
  const RunResult next = scene.run({});
  CHECK(next.exit_code == 0);
  CHECK(says(next.err, "1 made, 2 current"));
}

TEST_CASE("--parquet writes the tasks of every rank once and reports failures") {
  const ClusterScene scene(2);
  const std::string data = (scene.folder / "data").string();
  const RunResult run = scene.run({"--parquet", data});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(names_in(data + "/tasks") == Words{"rank=00000", "rank=00001"});
  const auto before = fingerprint(data);
  CHECK(scene.run({"--parquet", data}).exit_code == 0);
  CHECK(fingerprint(data) == before);

  const std::string failing = scene.other_msprof("[ $1 != export ] || { echo odd >&2; exit 5; }");
  const RunResult failed = scene.run({"--parquet", data + "2", "--msprof", failing});
  CHECK(failed.exit_code == 3);
  CHECK(says(failed.err, "NO PARQUET of " + scene.captures[1].string() + ": odd"));
}

TEST_CASE("--part on two machines and merge equal the result of one machine") {
  const ClusterScene scene(4);
  for (int half = 0; half < 2; ++half) {
    Words words = {"cluster", "--output", (scene.folder / std::to_string(half)).string(), "--part",
                   (scene.folder / (std::to_string(half) + ".part")).string()};
    for (int i = 0; i < 2; ++i)
      words.push_back(scene.captures[static_cast<std::size_t>(2 * half + i)].string());
    const RunResult run = run_msprof(words);
    INFO(run.err);
    CHECK(run.exit_code == 0);
  }
  REQUIRE(
      run_msprof({"merge", (scene.folder / "0.part").string(), (scene.folder / "1.part").string(),
                  "--output", (scene.folder / "both.db").string()})
          .exit_code == 0);
  REQUIRE(scene.run({}).exit_code == 0);
  CHECK(read_file(scene.folder / "both.db") == scene.answer());
}

TEST_CASE("conflicting options are refused with a message") {
  const TempFolder folder;
  const std::string out = (folder / "out").string();
  for (const Words& words :
       {Words{"cluster", "x"}, Words{"cluster", "--output", out},
        Words{"cluster", "x", "--output", out, "--slurm", "--ssh", "f"},
        Words{"cluster", "x", "--output", out, "--no-wait"},
        Words{"cluster", "x", "--output", out, "--jobs", "0"},
        Words{"cluster", "x", "--output", out, "--attach"},
        Words{"cluster", "x", "--output", out, "--job", "1", "--nodelist", "n"},
        Words{"cluster", "x", "--output", out, "--slurm", "--part", "p"}}) {
    const RunResult run = run_msprof(words);
    CAPTURE(words, run.err);
    CHECK(run.exit_code == 2);
    CHECK(says(run.err, "error: "));
  }
  CHECK_FALSE(fs::exists(out + "/cluster.db"));
}

TEST_CASE("an array of groups followed by a merge gives the same bytes as one machine") {
  const ClusterScene scene(6);
  const FalseSlurm slurm(scene.folder.path());
  REQUIRE(scene.run({}, "here").exit_code == 0);
  const RunResult run =
      run_msprof({"cluster", scene.in(), "--output", (scene.folder / "out").string(), "--slurm",
                  "--slurm-arg=--partition=batch"},
                 slurm.options());
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(scene.answer() == scene.answer("here"));
  const std::string submitted = slurm.submitted();
  CHECK(says(submitted, "--array=0-1 "));
  CHECK(says(submitted, "--requeue"));
  CHECK(says(submitted, "--partition=batch"));
  CHECK(says(submitted, "--dependency=afterany:1 --kill-on-invalid-dep=yes"));
}

TEST_CASE("lost tasks are submitted again twice, then reported") {
  const ClusterScene scene(6);
  const FalseSlurm slurm(scene.folder.path());
  // The task of the second group exits before doing anything, `$lost` times.
  const auto run_with = [&](int lost) {
    const std::string count = (scene.folder / "lost").string();
    write_file(count, std::string(static_cast<std::size_t>(lost), 'x'));
    const std::string msprof =
        scene.other_msprof("case \"$*\" in *parts.1/task.json) [ -s '" + count +
                           "' ] && { truncate -s -1 '" + count + "'; exit 1; } ;; esac");
    return run_msprof({"cluster", scene.in(), "--output", (scene.folder / "out").string(),
                       "--slurm", "--msprof", msprof},
                      slurm.options());
  };
  const RunResult twice = run_with(2);
  INFO(twice.err);
  CHECK(twice.exit_code == 0);
  CHECK(says(twice.err, "1 task failed: submitted again, attempt 3 of 3"));
  CHECK(query(scene.folder / "out/cluster.db", "SELECT count(*) FROM member") == Words{"6"});
  CHECK(says(slurm.submitted(), "--array=1 "));

  fs::remove_all(scene.folder / "out");
  const RunResult lost = run_with(3);
  INFO(lost.err);
  CHECK(lost.exit_code == 3);
  CHECK(says(lost.err, "its task ended 3 times without a result"));
  CHECK(query(scene.folder / "out/cluster.db", "SELECT count(*) FROM member") == Words{"3"});
}

TEST_CASE("Slurm's error message is printed, and no lock remains") {
  const ClusterScene scene(2);
  const FalseSlurm slurm(scene.folder.path());
  write_file(slurm.tools / "refuse", "");
  const RunResult run =
      run_msprof({"cluster", scene.in(), "--output", (scene.folder / "out").string(), "--slurm"},
                 slurm.options());
  CHECK(run.exit_code == 6);
  CHECK(says(run.err, "no such partition"));
  CHECK_FALSE(fs::exists(scene.folder / "out/run.lock"));
}

TEST_CASE("--no-wait returns, and --attach gives the result") {
  const ClusterScene scene(4);
  const FalseSlurm slurm(scene.folder.path());
  const std::string out = (scene.folder / "out").string();
  const RunResult first =
      run_msprof({"cluster", scene.in(), "--output", out, "--slurm", "--no-wait"}, slurm.options());
  INFO(first.err);
  CHECK(first.exit_code == 0);
  CHECK(says(first.err, "msprof cluster --attach --output "));
  const RunResult attached = run_msprof({"cluster", "--attach", "--output", out}, slurm.options());
  INFO(attached.err);
  CHECK(attached.exit_code == 0);
  CHECK(says(attached.err, "4 captures: 4 made"));
  CHECK_FALSE(fs::exists(scene.folder / "out/run.lock"));
  const TempFolder empty;
  CHECK(run_msprof({"cluster", "--attach", "--output", empty.path().string()}).exit_code == 4);
}
