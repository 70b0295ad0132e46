#include "demo_board/options.hpp"

#include <charconv>
#include <cstdio>
#include <string_view>

namespace demo {
namespace {

constexpr uint64_t kMaxImages = 1'000'000'000;
constexpr uint64_t kMaxThreads = 64;
constexpr uint64_t kMaxBatch = 1024;

bool read_number(std::string_view text, uint64_t most, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= most;
}

}  // namespace

const char* const kUsage =
    "usage: main [--model NAME] [--images N] [--batch N] [--threads N]\n"
    "\n"
    "Runs a model on made-up images, as an application on a board does. Every option has a "
    "default.\n"
    "  --model NAME   models/NAME.json beside this program, or a path ending in .json (face_mask)\n"
    "  --images N     images to run, shared by all threads (60)\n"
    "  --batch N      images of one execution; the last one takes what is left (1)\n"
    "  --threads N    application threads, each executing with buffers of its own (1)\n"
    "  --help         this text\n"
    "\n"
    "Profiling is switched by acl.json beside this program, ../src/acl.json, or "
    "MSPROF_ACL_JSON=FILE.\n"
    "Exit codes: 0 done, 1 a call of the runtime failed, 2 wrong arguments, 3 the model cannot be "
    "read.\n";

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
      std::fprintf(stderr, "main: %.*s is not an option; see --help\n",
                   static_cast<int>(name.size()), name.data());
      return std::nullopt;
    }
    if (!good) {
      std::fprintf(stderr, "main: %.*s needs %s; see --help\n", static_cast<int>(name.size()),
                   name.data(), name == "--model" ? "a name" : "a number from 1 up");
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace demo
