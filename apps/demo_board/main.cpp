// The board in a box: the sample application that is profiled where there is no board.
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include "demo_board/options.hpp"
#include "demo_board/session.hpp"

namespace {

enum ExitCode { kDone = 0, kCallFailed = 1, kUsageError = 2, kNoModel = 3 };

std::string own_folder() {
  std::array<char, PATH_MAX> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return ".";
  const std::string text(path.data(), static_cast<std::size_t>(length));
  return text.substr(0, text.rfind('/'));
}

// Projects keep acl.json beside the executable or in src/ beside its folder; none: no profiling.
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
  std::fprintf(stderr, "main: the model %s cannot be read\n", path.c_str());
  return std::nullopt;
}

void print(const demo::Options& options, demo::Outcome& total) {
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

demo::Outcome run_threads(const demo::LoadedModel& model, const demo::Options& options) {
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  demo::Outcome total;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      demo::Outcome part = demo::run_images(model, next, options.images, options.batch);
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

int run(const demo::Options& options) {
  const std::string folder = own_folder(), acl_json = find_acl_json(folder);
  const std::optional<std::string> bytes = read_model(folder, options.model);
  if (!bytes) return kNoModel;
  const demo::Device device(acl_json.empty() ? nullptr : acl_json.c_str());
  const demo::LoadedModel model(*bytes);
  demo::Outcome total = run_threads(model, options);
  print(options, total);
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<demo::Options> options = demo::parse_options(argc, argv);
  if (!options) return kUsageError;
  if (options->help) {
    std::fputs(demo::kUsage, stdout);
    return kDone;
  }
  try {
    return run(*options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "main: %s\n", error.what());
    return kCallFailed;
  }
}
