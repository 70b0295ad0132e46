// The command line of the demo application.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace demo {

struct Options {
  std::string model = "face_mask";
  uint64_t images = 60;
  uint64_t batch = 1;
  uint64_t threads = 1;
  bool help = false;
};

extern const char* const kUsage;

// Nothing, with a sentence on stderr, for arguments that are not understood.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace demo
