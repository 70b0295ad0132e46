#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "acl/prof_fixture.hpp"
#include "runtime/acl/prof/stamps.hpp"
#include "support/eventually.hpp"

using namespace msprof::acl;
using namespace msprof::acl::test;
using msprof::test::eventually;

namespace {

constexpr std::uint64_t kCalls = ACL_PROF_ACL_API;

// A rule of docs/host_cann.md: function, error in the call, resulting code.
struct Rule {
  const char* function;
  const char* rule;
  aclError code;
  std::function<aclError(Scene&)> call;
};

aclError init_with(const std::string& path, std::size_t size) {
  return aclprofInit(path.c_str(), size);
}

aclError set_config(aclprofConfigType type, const std::string& value) {
  return aclprofSetConfig(type, value.c_str(), value.size());
}

void configure(Scene& scene) {
  REQUIRE(scene.acl_init_with("\"switch\":\"on\"") == ACL_SUCCESS);
}

void subscribe_one(Scene& scene) {
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  REQUIRE(aclprofModelSubscribe(scene.model(), scene.subscription()) == ACL_SUCCESS);
}

const std::vector<Rule>& init_rules() {
  static const std::vector<Rule> rules = {
      {"aclprofInit", "a collector starts and stops the recording", ACL_ERROR_FEATURE_UNSUPPORTED,
       [](Scene& scene) {
         const Variable dynamic("PROFILING_MODE", "dynamic");
         return scene.init();
       }},
      {"aclprofInit", "no path", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofInit(nullptr, 3); }},
      {"aclprofInit", "length 0", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return init_with("out", 0); }},
      {"aclprofInit", "a path of 4096 bytes", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return init_with(std::string(4096, 'a'), 4096); }},
      {"aclprofInit", "a length that is longer than the text", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return init_with("out", 4); }},
      {"aclprofInit", "a length that is shorter than the text", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return init_with("out", 2); }},
      {"aclprofInit", "after a profile that aclInit configured", ACL_ERROR_PROF_ALREADY_RUN,
       [](Scene& scene) {
         configure(scene);
         return scene.init();
       }},
      {"aclprofInit", "twice", ACL_ERROR_REPEAT_INITIALIZE,
       [](Scene& scene) {
         REQUIRE(scene.init() == ACL_SUCCESS);
         return scene.init();
       }},
      {"aclprofInit", "while a model is subscribed", ACL_ERROR_PROF_API_CONFLICT,
       [](Scene& scene) {
         subscribe_one(scene);
         return scene.init();
       }},
      {"aclprofInit", "a path with special characters", ACL_ERROR_INVALID_FILE,
       [](Scene&) { return init_with("out;x", 5); }},
      {"aclprofInit", "before aclInit", ACL_ERROR_UNINITIALIZE,
       [](Scene&) { return init_with("out", 3); }},
      {"aclprofDestroyConfig", "no configuration", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofDestroyConfig(nullptr); }},
      {"aclprofDestroyConfig", "one that was destroyed", ACL_ERROR_INVALID_PARAM,
       [](Scene&) {
         std::uint32_t device = 0;
         const auto* config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, kCalls);
         REQUIRE(aclprofDestroyConfig(config) == ACL_SUCCESS);
         return aclprofDestroyConfig(config);
       }},
  };
  return rules;
}

const std::vector<Rule>& start_rules() {
  static const std::vector<Rule> rules = {
      {"aclprofStart", "no configuration", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofStart(nullptr); }},
      {"aclprofStart", "no bits", ACL_ERROR_INVALID_PARAM,
       [](Scene& scene) { return aclprofStart(scene.config({0}, 0)); }},
      {"aclprofStart", "bits that are none", ACL_ERROR_PROF_MODULES_UNSUPPORTED,
       [](Scene& scene) { return aclprofStart(scene.config({0}, kCalls | 0x400)); }},
      {"aclprofStart", "metrics that are none", ACL_ERROR_INVALID_PARAM,
       [](Scene& scene) {
         return aclprofStart(
             scene.config({0}, ACL_PROF_AICORE_METRICS, static_cast<aclprofAicoreMetrics>(9)));
       }},
      {"aclprofStart", "before aclprofInit", ACL_ERROR_PROF_NOT_RUN,
       [](Scene& scene) { return aclprofStart(scene.config({0}, kCalls)); }},
      {"aclprofStart", "after a profile that aclInit configured", ACL_ERROR_PROF_ALREADY_RUN,
       [](Scene& scene) {
         configure(scene);
         return aclprofStart(scene.config({0}, kCalls));
       }},
      {"aclprofStart", "while a model is subscribed", ACL_ERROR_PROF_API_CONFLICT,
       [](Scene& scene) {
         subscribe_one(scene);
         return aclprofStart(scene.config({0}, kCalls));
       }},
      {"aclprofStart", "the same configuration twice", ACL_ERROR_PROF_ALREADY_RUN,
       [](Scene& scene) {
         scene.init();
         const auto* config = scene.config({0}, kCalls);
         REQUIRE(aclprofStart(config) == ACL_SUCCESS);
         return aclprofStart(config);
       }},
      {"aclprofStart", "a device that is recorded already", ACL_ERROR_PROF_ALREADY_RUN,
       [](Scene& scene) {
         scene.init();
         REQUIRE(aclprofStart(scene.config({0, 1}, kCalls)) == ACL_SUCCESS);
         return aclprofStart(scene.config({1, 2}, kCalls));
       }},
      {"aclprofStart", "a folder that cannot be made", ACL_ERROR_INVALID_FILE,
       [](Scene& scene) {
         scene.acl_init();
         REQUIRE(init_with("/proc/nowhere", 13) == ACL_SUCCESS);
         return aclprofStart(scene.config({0}, kCalls));
       }},
      {"aclprofStart", "a chip family that is none", ACL_ERROR_INVALID_PROFILING_CONFIG,
       [](Scene& scene) {
         const Variable chip("MSPROF_HOST_CHIP", "2");
         scene.init();
         return aclprofStart(scene.config({0}, kCalls));
       }},
      {"aclprofStop", "no configuration", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofStop(nullptr); }},
      {"aclprofStop", "before aclprofInit", ACL_ERROR_PROF_NOT_RUN,
       [](Scene& scene) { return aclprofStop(scene.config({0}, kCalls)); }},
      {"aclprofStop", "before aclprofStart", ACL_ERROR_PROF_NOT_RUN,
       [](Scene& scene) {
         scene.init();
         return aclprofStop(scene.config({0}, kCalls));
       }},
      {"aclprofStop", "twice", ACL_ERROR_PROF_NOT_RUN,
       [](Scene& scene) {
         scene.init();
         const auto* config = scene.config({0}, kCalls);
         REQUIRE(aclprofStart(config) == ACL_SUCCESS);
         REQUIRE(aclprofStop(config) == ACL_SUCCESS);
         return aclprofStop(config);
       }},
      {"aclprofStop", "other bits than those of the start", ACL_ERROR_INVALID_PROFILING_CONFIG,
       [](Scene& scene) {
         scene.init();
         REQUIRE(aclprofStart(scene.config({0}, kCalls)) == ACL_SUCCESS);
         return aclprofStop(scene.config({0}, kCalls | ACL_PROF_TASK_TIME));
       }},
      {"aclprofStop", "other devices than those of the start", ACL_ERROR_INVALID_PROFILING_CONFIG,
       [](Scene& scene) {
         scene.init();
         REQUIRE(aclprofStart(scene.config({0, 1}, kCalls)) == ACL_SUCCESS);
         return aclprofStop(scene.config({1}, kCalls));
       }},
      {"aclprofStop", "after a profile that aclInit configured", ACL_ERROR_PROF_ALREADY_RUN,
       [](Scene& scene) {
         configure(scene);
         return aclprofStop(scene.config({0}, kCalls));
       }},
      {"aclprofFinalize", "before aclprofInit", ACL_ERROR_PROF_NOT_RUN,
       [](Scene&) { return aclprofFinalize(); }},
      {"aclprofFinalize", "twice", ACL_ERROR_PROF_NOT_RUN,
       [](Scene& scene) {
         scene.init();
         REQUIRE(aclprofFinalize() == ACL_SUCCESS);
         return aclprofFinalize();
       }},
      {"aclprofFinalize", "after a profile that aclInit configured", ACL_ERROR_PROF_ALREADY_RUN,
       [](Scene& scene) {
         configure(scene);
         return aclprofFinalize();
       }},
      {"aclprofFinalize", "while a model is subscribed", ACL_ERROR_PROF_API_CONFLICT,
       [](Scene& scene) {
         subscribe_one(scene);
         return aclprofFinalize();
       }},
  };
  return rules;
}

const std::vector<Rule>& setting_rules() {
  static const std::vector<Rule> rules = {
      {"aclprofSetConfig", "a type that is none", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return set_config(ACL_PROF_ARGS_MIN, "1"); }},
      {"aclprofSetConfig", "the type without a meaning", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return set_config(static_cast<aclprofConfigType>(2), "1"); }},
      {"aclprofSetConfig", "a type beyond the last", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return set_config(ACL_PROF_ARGS_MAX, "1"); }},
      {"aclprofSetConfig", "no value", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofSetConfig(ACL_PROF_LLC_MODE, nullptr, 4); }},
      {"aclprofSetConfig", "a value of 257 bytes", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return set_config(ACL_PROF_PATH, std::string(257, 'a')); }},
      {"aclprofSetConfig", "a length that is not that of the value", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofSetConfig(ACL_PROF_LLC_MODE, "read", 3); }},
      {"aclprofSetConfig", "a value outside its range", ACL_ERROR_INVALID_PROFILING_CONFIG,
       [](Scene&) { return set_config(ACL_PROF_SYS_IO_FREQ, "101"); }},
      {"aclprofSetConfig", "what a host does not have", ACL_ERROR_INVALID_PROFILING_CONFIG,
       [](Scene&) { return set_config(ACL_PROF_SYS_MEM_SERVICEFLOW, "a"); }},
      {"aclprofSetConfig", "NTS metrics", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return set_config(ACL_PROF_NTS_METRICS, "a"); }},
      {"aclprofSetConfig", "after a profile that aclInit configured", ACL_ERROR_PROF_ALREADY_RUN,
       [](Scene& scene) {
         configure(scene);
         return set_config(ACL_PROF_LLC_MODE, "read");
       }},
  };
  return rules;
}

const std::vector<Rule>& subscription_rules() {
  static const std::vector<Rule> rules = {
      {"aclprofDestroySubscribeConfig", "no configuration", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofDestroySubscribeConfig(nullptr); }},
      {"aclprofModelSubscribe", "no configuration", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofModelSubscribe(1, nullptr); }},
      {"aclprofModelSubscribe", "after a profile that aclInit configured",
       ACL_ERROR_PROF_ALREADY_RUN,
       [](Scene& scene) {
         configure(scene);
         return aclprofModelSubscribe(scene.model(), scene.subscription());
       }},
      {"aclprofModelSubscribe", "between aclprofInit and aclprofFinalize",
       ACL_ERROR_PROF_API_CONFLICT,
       [](Scene& scene) {
         scene.init();
         return aclprofModelSubscribe(scene.model(), scene.subscription());
       }},
      {"aclprofModelSubscribe", "a model that is not loaded", ACL_ERROR_INVALID_MODEL_ID,
       [](Scene& scene) {
         scene.acl_init();
         return aclprofModelSubscribe(99, scene.subscription());
       }},
      {"aclprofModelSubscribe", "neither times nor metrics", ACL_ERROR_INVALID_PARAM,
       [](Scene& scene) {
         scene.acl_init();
         return aclprofModelSubscribe(scene.model(), scene.subscription(0));
       }},
      {"aclprofModelSubscribe", "a model that is subscribed", ACL_ERROR_PROF_REPEAT_SUBSCRIBE,
       [](Scene& scene) {
         scene.acl_init();
         const std::uint32_t model = scene.model();
         const auto* config = scene.subscription();
         REQUIRE(aclprofModelSubscribe(model, config) == ACL_SUCCESS);
         return aclprofModelSubscribe(model, config);
       }},
      {"aclprofModelSubscribe", "another configuration on the same device",
       ACL_ERROR_INVALID_PROFILING_CONFIG,
       [](Scene& scene) {
         subscribe_one(scene);
         return aclprofModelSubscribe(scene.model(), scene.subscription());
       }},
      {"aclprofModelSubscribe", "a pipe that is closed", ACL_ERROR_INVALID_PARAM,
       [](Scene& scene) {
         scene.acl_init();
         int none = -1;
         const auto* config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &none);
         const aclError result = aclprofModelSubscribe(scene.model(), config);
         aclprofDestroySubscribeConfig(config);
         return result;
       }},
      {"aclprofModelUnSubscribe", "a model that is not subscribed", ACL_ERROR_INVALID_MODEL_ID,
       [](Scene& scene) {
         scene.acl_init();
         return aclprofModelUnSubscribe(scene.model());
       }},
      {"aclprofModelUnSubscribe", "after a profile that aclInit configured",
       ACL_ERROR_PROF_ALREADY_RUN,
       [](Scene& scene) {
         configure(scene);
         return aclprofModelUnSubscribe(1);
       }},
      {"aclprofGetOpDescSize", "no place for the size", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofGetOpDescSize(nullptr); }},
      {"aclprofGetOpNum", "no records", ACL_ERROR_INVALID_PARAM,
       [](Scene&) {
         std::uint32_t count = 0;
         return aclprofGetOpNum(nullptr, 80, &count);
       }},
      {"aclprofGetOpNum", "no whole number of records", ACL_ERROR_INVALID_PARAM,
       [](Scene&) {
         const char bytes[100] = {};
         std::uint32_t count = 0;
         return aclprofGetOpNum(bytes, sizeof bytes, &count);
       }},
      {"aclprofGetOpName", "a wrong signature", ACL_ERROR_INVALID_PARAM,
       [](Scene&) {
         const char bytes[80] = {};
         char name[8];
         return aclprofGetOpName(bytes, sizeof bytes, 0, name, sizeof name);
       }},
  };
  return rules;
}

const std::vector<Rule>& stamp_rules() {
  static const std::vector<Rule> rules = {
      {"aclprofSetStampTraceMessage", "no stamp", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofSetStampTraceMessage(nullptr, "a", 1); }},
      {"aclprofMark", "no stamp", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofMark(nullptr); }},
      {"aclprofPush", "no stamp", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofPush(nullptr); }},
      {"aclprofPop", "nothing is pushed", kTxFailure, [](Scene&) { return aclprofPop(); }},
      {"aclprofRangeStart", "no stamp", ACL_ERROR_INVALID_PARAM,
       [](Scene&) {
         std::uint32_t id = 0;
         return aclprofRangeStart(nullptr, &id);
       }},
      {"aclprofRangeStop", "no such range", kTxFailure, [](Scene&) { return aclprofRangeStop(7); }},
      {"aclprofMarkEx", "no message", ACL_ERROR_INVALID_PARAM,
       [](Scene& scene) { return aclprofMarkEx(nullptr, 1, &scene); }},
      {"aclprofMarkEx", "no stream", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofMarkEx("a", 1, nullptr); }},
      {"aclprofMarkEx", "length 0", ACL_ERROR_INVALID_PARAM,
       [](Scene& scene) { return aclprofMarkEx("", 0, &scene); }},
      {"aclprofMarkEx", "a message of 128 bytes", ACL_ERROR_INVALID_PARAM,
       [](Scene& scene) { return aclprofMarkEx(std::string(128, 'a').c_str(), 128, &scene); }},
      {"aclprofMarkEx", "a length that is not that of the message", ACL_ERROR_INVALID_PARAM,
       [](Scene& scene) { return aclprofMarkEx("ab", 1, &scene); }},
      {"aclprofGetStepTimestamp", "no step", ACL_ERROR_INVALID_PARAM,
       [](Scene&) { return aclprofGetStepTimestamp(nullptr, ACL_STEP_START, nullptr); }},
      {"aclprofGetStepTimestamp", "no stream", ACL_ERROR_GE_FAILURE,
       [](Scene&) {
         auto* step = aclprofCreateStepInfo();
         int no_stream = 0;
         const aclError result = aclprofGetStepTimestamp(step, ACL_STEP_START, &no_stream);
         aclprofDestroyStepInfo(step);
         return result;
       }},
      {"aclprofGetStepTimestamp", "a tag that was used", ACL_ERROR_INVALID_PARAM,
       [](Scene& scene) {
         scene.acl_init();
         aclrtSetDevice(0);
         aclrtStream stream = nullptr;
         REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
         auto* step = aclprofCreateStepInfo();
         REQUIRE(aclprofGetStepTimestamp(step, ACL_STEP_START, stream) == ACL_SUCCESS);
         const aclError result = aclprofGetStepTimestamp(step, ACL_STEP_START, stream);
         aclprofDestroyStepInfo(step);
         aclrtDestroyStream(stream);
         return result;
       }},
  };
  return rules;
}

void check(const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) {
    INFO(rule.function << ": " << rule.rule);
    const CapturedStderr quiet;
    Scene scene;
    CHECK(rule.call(scene) == rule.code);
  }
}

std::atomic<bool> told{false};
void be_told(int) {
  told = true;
}

bool is_complete(const std::string& output) {
  const auto folders = prof_folder_names(output);
  return folders.size() == 1 &&
         std::filesystem::exists(std::filesystem::path(output) / folders[0] / "host" / "end_info");
}

// Child process: records until SIGINT, with its own or the default handler. Creates the file
// output.on once it records.
int record_until_interrupted(const std::string& output, bool own_handler) {
  // Catch installs a handler.
  signal(SIGINT, own_handler ? be_told : SIG_DFL);
  if (aclInit(nullptr) != ACL_SUCCESS) return 1;
  if (aclprofInit(output.c_str(), output.size()) != ACL_SUCCESS) return 2;
  std::uint32_t device = 0;
  const auto* config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, kCalls);
  if (aclprofStart(config) != ACL_SUCCESS) return 3;
  msprof::test::write_file(output + ".on", "");
  auto before_signal = std::chrono::steady_clock::now();
  for (auto now = before_signal; !told; now = std::chrono::steady_clock::now()) {
    before_signal = now;
    usleep(1000);
  }
  // The application's handler is given some time; then the recording ends, although the application
  // continues.
  if (!eventually([&] { return is_complete(output); })) return 5;
  return std::chrono::steady_clock::now() - before_signal > std::chrono::seconds(1) ? 0 : 6;
}

}  // namespace

TEST_CASE("each wrong order and argument of the configuration has its code") {
  check(init_rules());
  check(setting_rules());
}

TEST_CASE("each wrong order and argument of starting and stopping has its code") {
  check(start_rules());
}

TEST_CASE("each wrong order and argument of subscriptions has its code") {
  check(subscription_rules());
}

TEST_CASE("each wrong order and argument of stamps and steps has its code") {
  check(stamp_rules());
}

TEST_CASE("a refused call changes nothing: valid calls work after each wrong order") {
  const CapturedStderr quiet;
  Scene scene;
  const auto* one = scene.config({0, 1}, kCalls);
  const auto* other = scene.config({2}, kCalls | ACL_PROF_MSPROFTX);
  CHECK(aclprofStart(one) == ACL_ERROR_PROF_NOT_RUN);
  REQUIRE(scene.init() == ACL_SUCCESS);
  CHECK(scene.init() == ACL_ERROR_REPEAT_INITIALIZE);
  REQUIRE(aclprofStart(one) == ACL_SUCCESS);
  CHECK(aclprofStart(scene.config({1}, kCalls)) == ACL_ERROR_PROF_ALREADY_RUN);
  REQUIRE(aclprofStart(other) == ACL_SUCCESS);
  CHECK(aclprofStop(scene.config({0, 1}, ACL_PROF_TASK_TIME)) ==
        ACL_ERROR_INVALID_PROFILING_CONFIG);
  CHECK(aclprofStop(one) == ACL_SUCCESS);
  CHECK(aclprofStop(other) == ACL_SUCCESS);
  CHECK(aclprofFinalize() == ACL_SUCCESS);
  CHECK(scene.folders().size() == 2);
}

TEST_CASE("each start creates a separate folder, with other devices and bits") {
  Scene scene;
  REQUIRE(scene.init() == ACL_SUCCESS);
  CHECK(scene.folders().empty());
  const auto* first = scene.config({0, 1}, kCalls);
  REQUIRE(aclprofStart(first) == ACL_SUCCESS);
  REQUIRE(aclprofStop(first) == ACL_SUCCESS);
  const auto* second = scene.config({1, 2}, kCalls | ACL_PROF_TASK_TIME);
  REQUIRE(aclprofStart(second) == ACL_SUCCESS);
  REQUIRE(aclprofStop(second) == ACL_SUCCESS);
  CHECK(scene.folders().size() == 2);
  for (const std::string& name : scene.folders()) {
    INFO(name);
    CHECK(std::filesystem::exists(scene.output() + "/" + name + "/host/end_info"));
  }
}

TEST_CASE("a host recording is possible next to a device recording, but not twice") {
  Scene scene;
  REQUIRE(scene.init() == ACL_SUCCESS);
  REQUIRE(aclprofStart(scene.config({}, ACL_PROF_MSPROFTX)) == ACL_SUCCESS);
  CHECK(aclprofStart(scene.config({}, ACL_PROF_MSPROFTX | kCalls)) == ACL_ERROR_PROF_ALREADY_RUN);
  CHECK(aclprofStart(scene.config({0}, kCalls)) == ACL_SUCCESS);
}

TEST_CASE("finalizing stops running recordings, and so does aclFinalize") {
  Scene scene;
  REQUIRE(scene.init() == ACL_SUCCESS);
  REQUIRE(aclprofStart(scene.config({0}, kCalls)) == ACL_SUCCESS);
  REQUIRE(aclprofFinalize() == ACL_SUCCESS);
  CHECK(std::filesystem::exists(scene.only_folder() / "host" / "end_info"));
  CHECK(aclprofStop(scene.config({0}, kCalls)) == ACL_ERROR_PROF_NOT_RUN);

  Scene left;
  REQUIRE(left.init() == ACL_SUCCESS);
  REQUIRE(aclprofStart(left.config({0}, kCalls)) == ACL_SUCCESS);
  aclFinalize();
  CHECK(std::filesystem::exists(left.only_folder() / "host" / "end_info"));
  CHECK(aclprofFinalize() == ACL_ERROR_PROF_NOT_RUN);
}

TEST_CASE("invalid configurations are not created") {
  std::uint32_t ids[] = {0, 1, 0, 8};
  const auto refused = [&](std::uint32_t* list, std::uint32_t count, std::uint64_t bits,
                           const void* events = nullptr) {
    const auto* config = aclprofCreateConfig(list, count, ACL_AICORE_NONE,
                                             static_cast<const aclprofAicoreEvents*>(events), bits);
    if (config != nullptr) aclprofDestroyConfig(config);
    return config == nullptr;
  };
  CHECK_FALSE(refused(ids, 2, kCalls));
  CHECK(refused(nullptr, 1, kCalls));
  CHECK(refused(ids, 2, kCalls, ids));
  CHECK(refused(ids, 3, kCalls));      // device 0 twice
  CHECK(refused(ids + 3, 1, kCalls));  // only 8 devices exist
  std::vector<std::uint32_t> many(65);
  CHECK(refused(many.data(), 65, kCalls));
  CHECK(refused(many.data(), 9, kCalls));
  CHECK(refused(nullptr, 0, kCalls));
  CHECK_FALSE(refused(nullptr, 0, ACL_PROF_MSPROFTX));
  CHECK(aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, nullptr) == nullptr);
}

TEST_CASE("an unknown chip family is refused with the list, in one line") {
  const Variable chip("MSPROF_HOST_CHIP", "7");
  Scene scene;
  REQUIRE(scene.init() == ACL_SUCCESS);
  const CapturedStderr captured;
  CHECK(aclprofStart(scene.config({0}, kCalls)) != ACL_SUCCESS);
  CHECK(captured.text() ==
        "msprof runtime: MSPROF_HOST_CHIP must be 5, 4 or 1, not \"7\": nothing is recorded\n");
}

TEST_CASE("a forked child has no lock held by a thread that created configurations") {
  Scene scene;
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  std::uint32_t device = 0;
  const auto make = [&device] {
    int fd = 1;
    aclprofDestroyConfig(aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, 1));
    aclprofDestroySubscribeConfig(aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &fd));
  };
  std::atomic<bool> stop{false};
  std::vector<std::thread> makers;
  for (int i = 0; i < 2; ++i) {
    makers.emplace_back([&] {
      while (!stop) make();
    });
  }
  int hung = 0;
  for (int i = 0; i < 300 && hung == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(msprof::test::kAmpleSeconds);
      make();
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    hung += WIFEXITED(status) ? 0 : 1;
  }
  stop = true;
  for (std::thread& maker : makers) maker.join();
  CHECK(hung == 0);
}

TEST_CASE("a forked child has no profiling, and its parent's continues") {
  Scene scene;
  REQUIRE(scene.init() == ACL_SUCCESS);
  const auto* config = scene.config({0}, kCalls | ACL_PROF_MSPROFTX);
  REQUIRE(aclprofStart(config) == ACL_SUCCESS);
  const pid_t child = fork();
  if (child == 0) {
    const bool right = aclprofCreateStamp() == nullptr &&
                       aclprofStop(config) == ACL_ERROR_PROF_NOT_RUN &&
                       aclprofFinalize() == ACL_ERROR_PROF_NOT_RUN;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_FALSE(std::filesystem::exists(scene.only_folder() / "host" / "end_info"));
  CHECK(aclprofStop(config) == ACL_SUCCESS);
  CHECK(std::filesystem::exists(scene.only_folder() / "host" / "end_info"));
}

TEST_CASE("an interrupted application ends by the signal or continues, with complete files") {
  const bool own_handler = GENERATE(false, true);
  const TempFolder folder;
  const std::string output = (folder / "out").string();
  const pid_t child = fork();
  if (child == 0) _exit(record_until_interrupted(output, own_handler));
  REQUIRE(eventually([&] { return std::filesystem::exists(output + ".on"); }));
  kill(child, SIGINT);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (own_handler) {
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  } else {
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGINT);
  }
  CHECK(is_complete(output));
}
