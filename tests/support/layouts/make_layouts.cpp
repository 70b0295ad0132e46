// make_layouts FOLDER [COUNT] [SEED]: makes JOB folders of boards with random layouts, with the
// seeds SEED to SEED + COUNT - 1, and writes the true layout next to each.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "support/layouts/layout_generator.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: make_layouts FOLDER [COUNT] [SEED]\n", stderr);
    return 2;
  }
  try {
    const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto job = msprof::test::make_layout_job(
          std::filesystem::path(argv[1]) / ("JOB" + std::to_string(seed + i)), seed + i);
      std::printf("%s: %zu executions of %zu layers, records of %zu bytes behind %zu%s%s\n",
                  job.folder.c_str(), job.executions, job.layers, job.aicore.record_size,
                  job.aicore.header_size, job.aicore.select ? ", several types" : "",
                  job.is_cut ? ", cut" : "");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_layouts: %s\n", error.what());
    return 1;
  }
  return 0;
}
