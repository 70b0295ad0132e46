// Board in a box: a sample application to profile when no board is available.
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "demo_board/session.hpp"

namespace {

struct Options {
  std::string model = "face_mask";
  uint64_t images = 60;
  uint64_t batch = 1;
  uint64_t threads = 1;
  bool help = false;
};

constexpr uint64_t kMaxImages = 1'000'000'000;
constexpr uint64_t kMaxThreads = 64;
constexpr uint64_t kMaxBatch = 1024;

bool read_number(std::string_view text, uint64_t most, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= most;
}

const char* const kUsage =
    "usage: main [--model NAME] [--images N] [--batch N] [--threads N]\n"
    "\n"
    "Runs a model on generated images, like an application on a board. Every option has a "
    "default.\n"
    "  --model NAME   models/NAME.json next to this program, or a path ending in .json "
    "(face_mask)\n"
    "  --images N     images to run, shared by all threads (60)\n"
    "  --batch N      images per execution; the last execution runs the rest (1)\n"
    "  --threads N    application threads, each with its own buffers (1)\n"
    "  --help         print this help\n"
    "\n"
    "Profiling is controlled by acl.json next to this program, ../src/acl.json, or "
    "MSPROF_ACL_JSON=FILE.\n"
    "Exit codes: 0 done, 1 a call of the runtime failed, 2 wrong arguments, 3 the model cannot be "
    "read.\n";

// Returns an empty optional and prints a message on stderr if an argument is invalid.
std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view name = argv[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    std::string_view value;
    const std::size_t equals = name.find('=');
    if (equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    } else if (i + 1 < argc) {
      value = argv[++i];
    }
    bool good = !value.empty();
    if (name == "--model") {
      options.model = value;
    } else if (name == "--images") {
      good = good && read_number(value, kMaxImages, options.images);
    } else if (name == "--batch") {
      good = good && read_number(value, kMaxBatch, options.batch);
    } else if (name == "--threads") {
      good = good && read_number(value, kMaxThreads, options.threads);
    } else {
      std::fprintf(stderr, "main: unknown option %.*s; see --help\n", static_cast<int>(name.size()),
                   name.data());
      return std::nullopt;
    }
    if (!good) {
      std::fprintf(stderr, "main: %.*s needs %s; see --help\n", static_cast<int>(name.size()),
                   name.data(), name == "--model" ? "a name" : "a number >= 1");
      return std::nullopt;
    }
  }
  return options;
}

enum ExitCode { kDone = 0, kCallFailed = 1, kUsageError = 2, kNoModel = 3 };

std::string own_folder() {
  std::array<char, PATH_MAX> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return ".";
  const std::string text(path.data(), static_cast<std::size_t>(length));
  return text.substr(0, text.rfind('/'));
}

// Projects keep acl.json in the folder of the executable or in a src/ folder beside that folder.
// Returns "" if there is none: no profiling.
std::string find_acl_json(const std::string& folder) {
  for (const char* place : {"/acl.json", "/../src/acl.json"}) {
    if (access((folder + place).c_str(), R_OK) == 0) return folder + place;
  }
  return "";
}

std::optional<std::string> read_model(const std::string& folder, const std::string& name) {
  const std::string path = name.ends_with(".json") ? name : folder + "/models/" + name + ".json";
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file && !bytes.empty()) return bytes;
  std::fprintf(stderr, "main: cannot read the model %s\n", path.c_str());
  return std::nullopt;
}

void print(const Options& options, demo::ThreadOutcome& total) {
  std::sort(total.milliseconds.begin(), total.milliseconds.end());
  const auto strongest = std::max_element(total.class_counts.begin(), total.class_counts.end());
  std::printf("%s: %llu %s in %zu %s, batch %llu, %llu %s\n", options.model.c_str(),
              static_cast<unsigned long long>(options.images),
              options.images == 1 ? "image" : "images", total.milliseconds.size(),
              total.milliseconds.size() == 1 ? "execution" : "executions",
              static_cast<unsigned long long>(options.batch),
              static_cast<unsigned long long>(options.threads),
              options.threads == 1 ? "thread" : "threads");
  std::printf("top class %td (%llu %s), checksum %.3f, median %.3f ms per execution\n",
              strongest - total.class_counts.begin(), static_cast<unsigned long long>(*strongest),
              *strongest == 1 ? "image" : "images", total.checksum,
              total.milliseconds[total.milliseconds.size() / 2]);
}

demo::ThreadOutcome run_threads(const demo::DemoModel& model, const Options& options) {
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  demo::ThreadOutcome total;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      demo::ThreadOutcome part = demo::run_images(model, next, options.images, options.batch);
      const std::lock_guard lock(mutex);
      total.class_counts.resize(part.class_counts.size());
      for (std::size_t i = 0; i < part.class_counts.size(); ++i)
        total.class_counts[i] += part.class_counts[i];
      total.milliseconds.insert(total.milliseconds.end(), part.milliseconds.begin(),
                                part.milliseconds.end());
      total.checksum += part.checksum;
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  for (uint64_t i = 1; i < options.threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
  return total;
}

int run(const Options& options) {
  const std::string folder = own_folder(), acl_json = find_acl_json(folder);
  const std::optional<std::string> bytes = read_model(folder, options.model);
  if (!bytes) return kNoModel;
  const demo::DemoDevice device(acl_json.empty() ? nullptr : acl_json.c_str());
  const demo::DemoModel model(*bytes);
  demo::ThreadOutcome total = run_threads(model, options);
  print(options, total);
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse_options(argc, argv);
  if (!options) return kUsageError;
  if (options->help) {
    std::fputs(kUsage, stdout);
    return kDone;
  }
  try {
    return run(*options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "main: %s\n", error.what());
    return kCallFailed;
  }
}
