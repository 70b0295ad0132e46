#include "cluster/merge.hpp"
#include "seeds.hpp"
#include "support/files.hpp"
#include "support/ranks/rank_part_file.hpp"
#include "support/temp_folder.hpp"

namespace msprof::fuzz {

namespace fs = std::filesystem;

// Returns the summary of a rank with its rows, and a summary of two ranks with totals instead. Uses
// small pages, so that empty tables are small.
std::vector<std::string> parts() {
  const test::TempFolder folder;
  test::ranks::ClusterShape shape;
  shape.ranks = 2;
  shape.steps = 2;
  shape.collectives = 3;
  shape.operators = 2;
  shape.tasks = 20;
  const test::ranks::ClusterRun run(shape);
  const std::vector<fs::path> ranks = {folder / "0.part", folder / "1.part"};
  for (std::size_t i = 0; i < ranks.size(); ++i)
    test::ranks::write_rank_part_file(ranks[i], run, static_cast<std::int64_t>(i));
  cluster::merge_parts(ranks, folder / "both.part", {.detail_rows = 0, .expected = {}});
  std::vector<std::string> bytes;
  for (const fs::path& part : {ranks[0], folder / "both.part"}) {
    test::query(part, "PRAGMA page_size=512; VACUUM");
    bytes.push_back(test::read_file(part));
  }
  return bytes;
}

}  // namespace msprof::fuzz
