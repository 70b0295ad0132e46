#include "analyze/cluster/listed_cluster.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/words.hpp"
#include "cluster/part.hpp"

namespace msprof {

namespace {

std::string some_ranks(std::string_view what, const cluster::RankSet& ranks) {
  constexpr std::size_t kMaxShownRanges = 4;
  if (ranks.empty()) return "";
  return fmt::format(", {}: {} ({})", what,
                     counted(static_cast<std::uint64_t>(ranks.count()), "rank"),
                     ranks.text(kMaxShownRanges));
}

}  // namespace

ListedCluster describe_cluster(const std::filesystem::path& file) {
  ListedCluster result;
  result.file = file;
  struct stat status = {};
  if (::stat(file.c_str(), &status) == 0) {
    result.bytes = static_cast<std::uint64_t>(status.st_size);
    result.time_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  }
  try {
    const cluster::Part part = cluster::Part::open(file, true);
    std::int64_t begin_ns = 0;
    for (const cluster::MemberRow& member : part.members()) {
      ++result.captures;
      const bool is_known = member.begin_ns != kNull && member.begin_ns > 0;
      if (is_known && (begin_ns == 0 || member.begin_ns < begin_ns)) begin_ns = member.begin_ns;
    }
    result.ranks = cluster::read_ranks(part);
    if (begin_ns != 0) result.time_ns = begin_ns;
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    result.problem = error.what();
  }
  return result;
}

std::string cluster_verdict(const ListedCluster& cluster) {
  if (!cluster.problem.empty()) return "cannot be read";
  return fmt::format("{} on {}{}{}", counted(static_cast<std::uint64_t>(cluster.captures), "rank"),
                     counted(static_cast<std::uint64_t>(cluster.ranks.hosts), "host"),
                     some_ranks("MISSING", cluster.ranks.missing),
                     some_ranks("PARTIAL DATA", cluster.ranks.partial));
}

}  // namespace msprof
