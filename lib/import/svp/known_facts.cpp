#include "import/svp/known_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "session/run_record.hpp"

namespace msprof::svp {

namespace {

// Returns, for example, "10 layers, 2 of them fused: conv1 of conv1+bn1+relu1".
std::string layers_text(const std::vector<SvpLayer>& layers) {
  constexpr std::size_t kMaxNamed = 8;
  std::vector<std::string> fused;
  std::size_t count = 0;
  for (const SvpLayer& layer : layers) {
    if (layer.original_names.find('+') == std::string::npos) continue;
    ++count;
    if (fused.size() < kMaxNamed)
      fused.push_back(fmt::format("{} of {}", layer.name, layer.original_names));
  }
  std::string text = counted(layers.size(), "layer");
  if (count > 0) text += fmt::format(", {} of them fused: {}", count, fmt::join(fused, ", "));
  if (count > fused.size()) text += fmt::format(" and {} more", count - fused.size());
  return text;
}

void add_times(const DoneFile& done, std::vector<std::string>& facts) {
  const auto begin = done.integer("start_time");
  const auto end = done.integer("end_time");
  if (!begin || !end || *begin < 0 || *end < *begin) return;
  facts.push_back(
      fmt::format("from {} to {}, a span of {} in the unit of .done", *begin, *end, *end - *begin));
}

void add_icache(const DoneFile& done, std::vector<std::string>& facts) {
  const auto hits = done.integer("cache_hit");
  const auto misses = done.integer("cache_mis");
  if (!hits || !misses || *hits < 0 || *misses < 0) return;
  const int128 all = int128{*hits} + *misses;
  if (all > 0) facts.push_back("icache miss rate " + fixed(*misses, all, 4));
}

// Adds possible numbers of calls in a file, for record sizes that board software may have.
void add_calls(std::uint64_t size_bytes, std::vector<std::string>& facts) {
  std::vector<std::string> counts;
  for (const std::uint64_t record : {24u, 32u, 40u, 48u, 64u}) {
    if (size_bytes % record == 0)
      counts.push_back(fmt::format("{} of {} bytes", size_bytes / record, record));
  }
  if (!counts.empty()) facts.push_back(fmt::format("calls: {}", fmt::join(counts, " or ")));
}

bool is_given(const RunRecord& run, const char* option, const char* value) {
  const std::pair<std::string, std::string> given(option, value);
  return std::find(run.options.begin(), run.options.end(), given) != run.options.end();
}

}  // namespace

void report_known(const ImportContext& context, const SvpModels& models) {
  std::set<std::string> unknown;
  for (const UnknownLayout& file : context.report.unknown_layouts()) unknown.insert(file.file);
  if (unknown.empty()) return;
  for (const RawFile& file : models.session().raw_files()) {
    const SvpFileName& name = models.parsed_name(file);
    std::vector<std::string> facts;
    if (name.kind == SvpFileKind::layer_info) {
      const auto* layers = models.find_layers(name);
      if (layers != nullptr && !layers->empty()) facts.push_back(layers_text(*layers));
    } else if (unknown.contains(file.name)) {
      facts.push_back(counted(file.size_bytes, "byte"));
      if (file.done) {
        add_times(*file.done, facts);
        add_icache(*file.done, facts);
      }
      if (name.kind == SvpFileKind::acl_api) add_calls(file.size_bytes, facts);
    }
    if (facts.empty()) continue;
    context.report.add(FindingId::known_facts, kind_name(name.kind), file.name,
                       "known facts, without the layout",
                       fmt::format("{}", fmt::join(facts, "; ")));
  }
}

// Without a run.json it is unknown what was requested. `collect` requests layers unless one of its
// options switches them off.
void report_no_execution(const ImportContext& context, const SvpModels& models) {
  // Unreadable data is reported separately and does not mean that nothing was executed.
  if (context.report.is_partial()) return;
  for (const SvpFileKind kind : {SvpFileKind::aicore, SvpFileKind::aicpu}) {
    const auto total = context.report.kinds().find(std::string(kind_name(kind)));
    if (total != context.report.kinds().end() && total->second.records > 0) return;
  }
  const auto run = read_run_record(models.session().folder());
  if (!run || is_given(*run, "--switch", "off") || is_given(*run, "--aac_metrics", "none")) return;
  context.report.add(FindingId::no_execution, kind_name(SvpFileKind::aicore), "",
                     "no execution of a model was recorded");
}

}  // namespace msprof::svp
