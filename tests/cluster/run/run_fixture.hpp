// Captures of a small training job, and fake msprof programs, for the tests of runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/ranks/rank_folder.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

// A job of `count` ranks with small captures, four ranks per host.
inline ranks::ClusterRun small_job(std::int64_t count) {
  ranks::ClusterShape shape;
  shape.ranks = count;
  shape.ranks_per_host = 4;
  shape.steps = 2;
  shape.collectives = 2;
  shape.operators = 4;
  shape.tasks = 60;
  return ranks::ClusterRun(shape);
}

inline std::vector<std::filesystem::path> write_job(const std::filesystem::path& parent,
                                                    std::int64_t count) {
  const ranks::ClusterRun run = small_job(count);
  std::vector<std::filesystem::path> captures;
  for (std::int64_t rank = 0; rank < count; ++rank)
    captures.push_back(ranks::write_rank_folder(parent, run, rank));
  return captures;
}

// Writes an executable shell script; `text` follows the #! line.
inline std::filesystem::path write_script(const std::filesystem::path& path,
                                          const std::string& text) {
  write_file(path, "#!/bin/sh\n" + text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace msprof::test
