// A project whose application writes layer records until a file appears, for the tests of --watch.
// It needs only a shell, so that it runs on every board.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "support/files.hpp"

namespace msprof::test {

inline constexpr const char* kWatchedJob = "JOBABCDEFGHIJKLMNOPQRSTUVWXYZABC";

template <typename T>
std::string raw_bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// One execution of two layers in the reference layout (svp_job.md 7.2): conv1 of 2 ms, pool1 of 1
// us.
inline std::string watched_execution() {
  std::string text;
  for (const std::uint32_t layer : {0U, 1U})
    text += raw_bytes(layer) + raw_bytes<std::uint32_t>(0) + raw_bytes<std::uint64_t>(1'000) +
            raw_bytes<std::uint64_t>(layer == 0 ? 2'000'000 : 1'000) + std::string(88, '\0');
  return text;
}

// Writes the project. The application's arguments are the file that ends it, and a text that it
// prints from time to time.
inline void write_watched_project(const std::filesystem::path& project) {
  namespace fs = std::filesystem;
  write_file(project / "acl.json", R"({"profiler": {"switch": "on"}})");
  write_file(project / "head.bin", "MSVP" + raw_bytes<std::uint16_t>(1) +
                                       raw_bytes<std::uint16_t>(112) + raw_bytes<std::uint32_t>(1) +
                                       raw_bytes<std::uint32_t>(0));
  write_file(project / "execution.bin", watched_execution());
  write_file(project / "layers.txt",
             "#msprof-layers 1\n0\t0\tConvolution\tAA_CORE\tconv1\tconv1\n"
             "1\t0\tPooling\tAA_CORE\tpool1\tpool1\n");
  write_file(project / "main", R"sh(#!/bin/sh
out=$(sed -n 's/.*"output": *"\([^"]*\)".*/\1/p' "$MSPROF_ACL_JSON")
job="$out/JOBABCDEFGHIJKLMNOPQRSTUVWXYZABC"
mkdir -p "$job/data"
echo '{"DeviceInfo": [{"aic_frequency": "1000"}]}' > "$job/info.json.0"
cp layers.txt "$job/data/m.1.layer.info"
cp head.bin "$job/data/aicore.0.m.1.1.1.0"
echo "application has begun"
while [ ! -e "$1" ]; do
  cat execution.bin >> "$job/data/aicore.0.m.1.1.1.0"
  [ -z "$2" ] || echo "$2"
  sleep 0.05
done
echo "application has ended"
)sh");
  fs::permissions(project / "main", fs::perms::owner_all);
}

}  // namespace msprof::test
