#include "cluster/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/number.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "cluster/part_streams.hpp"
#include "store/new_database.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;

namespace {

// Number of parts read at the same time. More parts are first merged in groups, with a
// byte-identical result. 10,000 parts need two levels; three levels would take 1.4 times the CPU
// time.
constexpr std::size_t kFanIn = 128;
constexpr std::size_t kMergeThreads =
    2;  // because each merge has a second thread that inserts rows

// Thrown for a defect in one input. The merge continues without that input.
struct InputError {
  std::size_t input = 0;
  std::string reason;
};

// Calls `work`, which reads one input, and converts Error(partial_data) to InputError.
template <typename Work>
auto reading(std::size_t input, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != Exit::partial_data) throw;
    throw InputError{input, error.what()};
  }
}

// Merges sorted streams with a heap and calls `emit` for each row in key order.
template <typename Stream, typename Emit>
void merge_streams(const std::vector<MergeInput>& inputs, Emit&& emit) {
  struct Source {
    std::unique_ptr<Stream> stream;
    PartRowKey key;
    std::size_t input = 0;
  };
  std::vector<Source> heap;
  const auto is_later = [](const Source& a, const Source& b) {
    return std::tie(b.key, b.input) < std::tie(a.key, a.input);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    reading(i, [&] {
      auto stream = std::make_unique<Stream>(inputs[i]);
      if (!stream->next()) return;
      const PartRowKey key = make_key(**stream);
      heap.push_back({std::move(stream), key, i});
    });
  }
  std::make_heap(heap.begin(), heap.end(), is_later);
  std::size_t rows = 0;
  while (!heap.empty()) {
    if (++rows % 4096 == 0) interrupt::check();
    std::pop_heap(heap.begin(), heap.end(), is_later);
    Source& first = heap.back();
    emit(**first.stream);
    const bool has_more = reading(first.input, [&] {
      if (!first.stream->next()) return false;
      const PartRowKey key = make_key(**first.stream);
      if (key <= first.key) throw inputs[first.input].part.damaged("rows are not in order");
      first.key = key;
      return true;
    });
    if (has_more) {
      std::push_heap(heap.begin(), heap.end(), is_later);
    } else {
      heap.pop_back();
    }
  }
}

// Like merge_streams(), but combines rows with the same key with `add`.
template <typename Stream, typename Row, typename Add, typename Emit>
void merge_sums(const std::vector<MergeInput>& inputs, Add&& add, Emit&& emit) {
  std::optional<Row> sum;
  merge_streams<Stream>(inputs, [&](const Row& row) {
    if (sum && make_key(*sum) == make_key(row)) return add(*sum, row);
    if (sum) emit(*sum);
    sum = row;
  });
  if (sum) emit(*sum);
}

// Captures without a rank come last.
auto sort_key(const MemberRow& row) {
  return std::tuple(row.rank == kNull ? INT64_MAX : row.rank, row.host_name_id, row.device_id,
                    row.capture_name_id);
}

class Merge {
 public:
  explicit Merge(const std::vector<fs::path>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      reading(i, [&] { inputs_.push_back({Part::open(parts[i], true), {}, {}}); });
    }
    merge_names();
    merge_members();
  }

  void write(const fs::path& output, const MergeOptions& options, bool is_to_stay) {
    PartFacts facts;
    facts.has_detail = has_detail(options.detail_rows);
    RankSet expected = options.expected;
    for (const MergeInput& input : inputs_)
      expected.add(RankSet::parse(input.part.facts().expected_ranks).value_or(RankSet()));
    facts.expected_ranks = expected.text();
    PartWriter out(output, names_);
    for (const MemberRow& member : members_) out.add(member);
    const auto add = [&out](const auto& row) { out.add(row); };
    merge_streams<TableStream<GroupMemberRow>>(inputs_, add);
    merge_streams<TableStream<RankStepRow>>(inputs_, add);
    if (facts.has_detail) {
      merge_streams<TableStream<RankCollectiveRow>>(inputs_, add);
      merge_streams<TableStream<PacketRow>>(inputs_, add);
    } else {
      merge_streams<FoldedPackets>(inputs_, add);
    }
    merge_streams<TableStream<LinkRow>>(inputs_, add);
    if (!facts.has_detail) write_totals(out);
    merge_sums<OpStream, OpTotal>(
        inputs_, [](OpTotal& sum, const OpTotal& row) { sum.add(row); }, add);
    out.publish(facts, is_to_stay);
  }

 private:
  void merge_names() {
    std::vector<PartTexts> of_inputs;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      reading(i, [&] { of_inputs.push_back(inputs_[i].part.names()); });
      // Most inputs have the same texts: skip repeated lists.
      if (i == 0 || !(of_inputs[i] == of_inputs[i - 1])) names_ = both(names_, of_inputs[i]);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      for (std::size_t name = 0; name < of_inputs[i].size(); ++name) {
        const std::size_t at = names_.find_index(of_inputs[i][name]);
        inputs_[i].names.push_back(static_cast<std::int64_t>(at) + 1);
      }
      of_inputs[i] = {};
    }
  }

  // Merges two sorted lists of texts without duplicates.
  static PartTexts both(const PartTexts& a, const PartTexts& b) {
    PartTexts all;
    std::size_t in_a = 0;
    std::size_t in_b = 0;
    while (in_a < a.size() || in_b < b.size()) {
      const bool is_of_a = in_b == b.size() || (in_a < a.size() && a[in_a] <= b[in_b]);
      const bool is_of_b = in_a == a.size() || (in_b < b.size() && b[in_b] <= a[in_a]);
      all.add(is_of_a ? a[in_a] : b[in_b]);
      in_a += is_of_a ? 1 : 0;
      in_b += is_of_b ? 1 : 0;
    }
    return all;
  }

  void merge_members() {
    struct Found {
      MemberRow row;
      std::size_t input = 0;
    };
    std::vector<Found> found;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      reading(i, [&] {
        for (MemberRow row : inputs_[i].part.members()) {
          for (const auto text :
               {&MemberRow::host_name_id, &MemberRow::hostname_name_id, &MemberRow::capture_name_id,
                &MemberRow::chip_name_id, &MemberRow::verdict_text_name_id}) {
            row.*text = inputs_[i].name(row.*text);
          }
          found.push_back({row, i});
        }
      });
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
      return sort_key(a.row) < sort_key(b.row);
    });
    for (const Found& one : found) {
      MergeInput& input = inputs_[one.input];
      members_.push_back(one.row);
      input.members.push_back(static_cast<std::int64_t>(members_.size()));
    }
  }

  bool has_detail(std::int64_t limit) const {
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].part.facts().has_detail) return false;
      reading(i, [&] {
        Statement count = inputs_[i].part.db().prepare("SELECT max(id) FROM rank_collective");
        if (count.step()) rows = saturating_add(rows, count.integer(0));
      });
    }
    return rows <= limit;
  }

  void write_totals(PartWriter& out) {
    merge_streams<TotalStream>(inputs_, [&](const CollectiveTotalRow& row) { out.add(row); });
    // Two passes, because the rows of a part must be written one table after the other.
    const auto for_each_collective = [&](auto&& emit) {
      merge_sums<CollectiveStream, Collective>(inputs_, add_ranks, emit);
    };
    for_each_collective([&](const Collective& one) { out.add(one.total); });
    for_each_collective([&](const Collective& one) {
      for (const CollectiveHostRow& host : one.hosts) out.add(host);
    });
  }

  std::vector<MergeInput> inputs_;
  PartTexts names_;
  std::vector<MemberRow> members_;
};

// Merges `parts`; adds those that cannot be read to `refused` and continues without them.
void merge_group(std::vector<fs::path> parts, const fs::path& output, const MergeOptions& options,
                 bool is_to_stay, std::vector<RefusedPart>& refused) {
  while (!parts.empty()) {
    try {
      Merge(parts).write(output, options, is_to_stay);
      return;
    } catch (const InputError& error) {
      refused.push_back({parts[error.input], error.reason});
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(error.input));
    }
  }
}

// Identifies a member independently of the ids of its part. Unique within a cluster.
using Identity = std::tuple<std::int64_t, std::string, std::int64_t, std::string>;

struct Checked {
  std::vector<Identity> members;
  std::string refused;  // reason; empty if the part is valid
};

Checked check(const fs::path& path) {
  Checked result;
  try {
    const Part part = Part::open(path);
    const PartTexts names = part.names();
    const auto text = [&](std::int64_t id) {
      if (id == kNull) return std::string();
      if (id < 1 || static_cast<std::size_t>(id) > names.size())
        throw part.damaged("an unknown text id");
      return std::string(names[static_cast<std::size_t>(id) - 1]);
    };
    for (const MemberRow& row : part.members()) {
      // Identifies a member with a rank by the rank only, so that capture names do not matter.
      result.members.push_back(
          row.rank == kNull
              ? Identity{kNull, text(row.host_name_id), row.device_id, text(row.capture_name_id)}
              : Identity{row.rank, "", 0, ""});
    }
    if (result.members.empty()) result.refused = fmt::format("{} has no rank", path.string());
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    result.refused = error.what();
  }
  return result;
}

std::string describe_member(const Identity& member) {
  const auto& [rank, host, device, capture] = member;
  if (rank != kNull) return fmt::format("rank {}", rank);
  return fmt::format("the capture {} of device {}", printable(capture), device);
}

// Returns the valid parts in the order of their first members. Refuses parts with a duplicate
// member.
std::vector<fs::path> sound_parts(const std::vector<fs::path>& parts, MergeReport& report) {
  std::vector<Checked> checked(parts.size());
  in_parallel(parts.size(), kMergeThreads,
              [&](std::size_t i, std::size_t) { checked[i] = check(parts[i]); });
  std::map<Identity, std::size_t> owner;
  std::vector<std::pair<Identity, std::size_t>> order;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string& why = checked[i].refused;
    for (const Identity& member : checked[i].members) {
      const auto known = owner.find(member);
      if (why.empty() && known != owner.end()) {
        why = fmt::format("{} has {}, which is already in {}", parts[i].string(),
                          describe_member(member), parts[known->second].string());
      }
    }
    if (!why.empty()) {
      report.refused.push_back({parts[i], why});
      continue;
    }
    for (const Identity& member : checked[i].members) owner.emplace(member, i);
    order.emplace_back(checked[i].members.front(), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<fs::path> sound;
  for (const auto& [first, i] : order) sound.push_back(parts[i]);
  return sound;
}

}  // namespace

fs::path IntermediateParts::add() {
  if (!folder_) folder_.emplace(output_);
  return paths_.emplace_back(folder_->path() / fmt::format("{}.part", paths_.size()));
}

void IntermediateParts::clear() {
  std::error_code ignored;
  for (const fs::path& path : paths_) fs::remove(path, ignored);
  paths_.clear();
}

MergeReport merge_parts(const std::vector<fs::path>& parts, const fs::path& output,
                        const MergeOptions& options) {
  check_replaceable(output);
  MergeReport report;
  std::vector<fs::path> level = sound_parts(parts, report);
  // Double-buffered: level N is deleted once N+1 is complete.
  IntermediateParts intermediates[] = {IntermediateParts(output), IntermediateParts(output)};
  for (std::size_t turn = 0; level.size() > kFanIn; ++turn) {
    IntermediateParts& made = intermediates[turn % 2];
    const std::size_t groups = (level.size() + kFanIn - 1) / kFanIn;
    std::vector<fs::path> merged;
    for (std::size_t i = 0; i < groups; ++i) merged.push_back(made.add());
    std::vector<std::vector<RefusedPart>> refused(groups);
    in_parallel(groups, kMergeThreads, [&](std::size_t i, std::size_t) {
      const auto begin = level.begin() + static_cast<std::ptrdiff_t>(i * kFanIn);
      const auto end = i + 1 == groups ? level.end() : begin + static_cast<std::ptrdiff_t>(kFanIn);
      merge_group({begin, end}, merged[i], {options.detail_rows, {}}, false, refused[i]);
    });
    for (auto& some : refused) {
      report.refused.insert(report.refused.end(), some.begin(), some.end());
    }
    intermediates[(turn + 1) % 2].clear();
    std::error_code ignored;
    std::erase_if(merged, [&](const fs::path& path) { return !fs::exists(path, ignored); });
    level = std::move(merged);
  }
  if (!level.empty()) {
    std::vector<RefusedPart> refused;
    merge_group(level, output, options, true, refused);
    report.refused.insert(report.refused.end(), refused.begin(), refused.end());
  }
  report.merged = parts.size() - report.refused.size();
  if (report.merged > 0) return report;
  throw Error(Exit::nothing_to_do, report.refused.empty()
                                       ? "no rank summaries to merge"
                                       : fmt::format("cannot merge any of {} rank summaries: {}",
                                                     parts.size(), report.refused.front().reason));
}

Ranks read_ranks(const Part& part) {
  Ranks ranks;
  std::set<std::int64_t> hosts;
  std::int64_t highest = -1;
  const std::vector<MemberRow> members = part.members();
  for (const MemberRow& member : members) {
    hosts.insert(member.host_name_id);
    if (member.rank == kNull) {
      ++ranks.unknown;
      continue;
    }
    ranks.present.add(member.rank);
    highest = std::max(highest, member.rank);
    if (member.verdict == 2) ranks.partial.add(member.rank);
  }
  ranks.hosts = static_cast<std::int64_t>(hosts.size());
  ranks.missing = RankSet::parse(part.facts().expected_ranks).value_or(RankSet());
  if (ranks.missing.empty() && highest >= 0) {
    // Communication groups record their number of ranks, which may exceed the known ranks.
    Statement count = part.db().prepare("SELECT max(rank_count) FROM group_member");
    if (count.step())
      highest = std::max(highest, std::min(count.integer(0), RankSet::kMaxRank) - 1);
    ranks.missing.add(0, highest);
  }
  for (const MemberRow& member : members) ranks.missing.remove(member.rank);
  return ranks;
}

std::vector<LackingRanks> lacking_ranks(const Ranks& ranks) {
  constexpr std::size_t kMaxNamedRanges = 12;
  std::vector<LackingRanks> lacking;
  const auto add = [&](const char* what, const RankSet& set) {
    if (set.empty()) return;
    lacking.push_back(
        {what, fmt::format("{} ({})", counted(static_cast<std::uint64_t>(set.count()), "rank"),
                           set.text(kMaxNamedRanges))});
  };
  add("MISSING", ranks.missing);
  add("PARTIAL DATA", ranks.partial);
  return lacking;
}

}  // namespace msprof::cluster
