// Fuzz target: the bytes of a rank summary. Its checksum is corrected, so that the code after the
// check is reached. A summary must be read or rejected as damaged, merged or skipped, and the
// merged result must be valid.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <tuple>

#include "base/error.hpp"
#include "base/log.hpp"
#include "cluster/cluster_analysis.hpp"
#include "cluster/collectives.hpp"
#include "cluster/merge.hpp"
#include "cluster/part.hpp"
#include "cluster/part_files.hpp"
#include "cluster/products/cluster_view.hpp"
#include "fuzz_cann.hpp"
#include "page_graph.hpp"
#include "seeds.hpp"
#include "store/row_cursor.hpp"

namespace {

using namespace msprof;
namespace fs = std::filesystem;
using cluster::Part;

// Any error except Error(partial_data) is a finding.
template <typename Work>
void refuse_as_damaged(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != Exit::partial_data) std::abort();
  }
}

template <typename... Rows>
void read_tables(const Part& part, std::tuple<Rows...>*) {
  const auto read = [&](auto&& rows) {
    refuse_as_damaged([&] {
      while (rows.next()) {
      }
    });
  };
  (read(RowCursor<Rows>(part.db())), ...);
  read(cluster::OpTotals(part));
  read(cluster::Collectives(part));
}

void read_all(const Part& part) {
  read_tables(part, static_cast<cluster::PartRows*>(nullptr));
  refuse_as_damaged([&] { (void)part.names(); });
  refuse_as_damaged([&] { (void)lacking_ranks(cluster::read_ranks(part)); });
  refuse_as_damaged([&] { (void)cluster::analyse(part); });
  refuse_as_damaged([&] { (void)cluster::ClusterView(part); });
}

// Merges and reads the result; false if nothing was merged. Merging the result again must not
// change it.
bool merge(const std::vector<fs::path>& parts, const fs::path& output, std::int64_t detail_rows) {
  try {
    cluster::merge_parts(parts, output, {detail_rows, {}});
  } catch (const Error& error) {
    if (error.code() != Exit::nothing_to_do) std::abort();
    return false;
  }
  read_all(Part::open(output));
  const fs::path again = output.parent_path() / "again.part";
  cluster::merge_parts({output}, again, {detail_rows, {}});
  if (test::read_file(output) != test::read_file(again)) std::abort();
  return true;
}

}  // namespace

MSPROF_MUTATE_PAGES

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_level(log::Level::silent);
  static const fuzz::ScratchFolder scratch;
  static const fs::path good = [] {
    const fs::path file = scratch.path() / "good.part";
    test::write_file(file, fuzz::parts().front());
    test::change_part(file, "UPDATE member SET rank = 4711");
    return file;
  }();
  const fs::path file = scratch.path() / "input.part";
  test::write_file(file, test::sealed(std::string(reinterpret_cast<const char*>(data), size)));
  refuse_as_damaged([&] { read_all(Part::open(file)); });
  try {
    constexpr std::int64_t kAllRows = INT64_MAX;
    const fs::path output = scratch.path() / "merged.part";
    merge({file, file}, output, kAllRows);
    merge({file}, output, 0);
    if (!merge({file, good}, output, kAllRows)) std::abort();
  } catch (const Error&) {
    std::abort();  // a merged summary must be valid
  }
  return 0;
}
