#include <algorithm>

#include "session/session.hpp"
#include "watch/tally.hpp"

namespace msprof::watch {

namespace {

constexpr std::uint64_t kMaxTextBytes = 1 << 20;
constexpr std::uint64_t kLeastShareBytes = 16 << 10;
constexpr std::size_t kMaxWishes = 32;
// If a file is this many budgets behind, its oldest unread data is skipped, if the rest is
// representative.
constexpr std::uint64_t kMaxRoundsBehind = 4;

constexpr std::string_view kDone = ".done";

// Returns the first folder name in `path` that looks like a capture; empty if there is none.
std::string_view capture_in(std::string_view path) {
  for (std::size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1)) {
    const std::string_view folder = path.substr(0, at);
    const std::string_view name = folder.substr(folder.rfind('/') + 1);
    if (is_named_as_capture(name)) return name;
  }
  return {};
}

}  // namespace

RunTally::RunTally(LayoutSearch search)
    : svp_(make_svp_tally(std::move(search))), cann_(make_cann_tally()) {}

RunTally::Source& RunTally::find_or_add_source(const std::string& path) {
  const auto [at, is_new] = sources_.try_emplace(path);
  Source& source = at->second;
  if (!is_new) return source;
  const std::string_view capture = capture_in(path);
  if (capture.empty() || path.ends_with(kDone)) return source;
  Tally* const tally = capture.starts_with("PROF") ? cann_.get() : svp_.get();
  source.content = tally->classify_content(path);
  if (source.content != Tally::Content::other) source.tally = tally;
  return source;
}

bool RunTally::is_wanted(const std::string& path, Source& source, std::uint64_t file_bytes) {
  if (source.tally == nullptr) return false;
  const bool has_same_size = source.file_bytes == file_bytes;
  source.file_bytes = file_bytes;
  if (source.content == Tally::Content::text)
    return has_same_size && source.from != file_bytes && file_bytes <= kMaxTextBytes;
  if (source.from >= file_bytes || !source.tally->wants(path, file_bytes)) return false;
  return !(source.is_at_end && source.is_complete);
}

std::vector<PeekWish> RunTally::plan(const std::vector<PeekedFile>& files,
                                     std::uint64_t budget_bytes) {
  ++round_;
  for (const PeekedFile& file : files) {
    if (!file.path.ends_with(kDone)) continue;
    const auto found = sources_.find(file.path.substr(0, file.path.size() - kDone.size()));
    if (found != sources_.end()) found->second.is_complete = true;
  }
  // Registers all files first: their names determine how each is read.
  for (const PeekedFile& file : files) find_or_add_source(file.path);
  std::vector<std::pair<const std::string*, Source*>> wanted;
  for (const PeekedFile& file : files) {
    Source& source = find_or_add_source(file.path);
    if (is_wanted(file.path, source, file.bytes)) wanted.emplace_back(&file.path, &source);
  }
  // Texts first, since they describe the records; then the file that was read least recently.
  std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) {
    const bool a_is_text = a.second->content == Tally::Content::text;
    const bool b_is_text = b.second->content == Tally::Content::text;
    return a_is_text != b_is_text ? a_is_text : a.second->round < b.second->round;
  });
  if (wanted.size() > kMaxWishes) wanted.resize(kMaxWishes);
  std::vector<PeekWish> wishes;
  std::uint64_t left = budget_bytes;
  for (std::size_t i = 0; i < wanted.size() && left > 0; ++i) {
    const std::string& path = *wanted[i].first;
    Source& source = *wanted[i].second;
    source.round = round_;
    if (source.content == Tally::Content::text) {
      wishes.push_back({path, 0, source.file_bytes});
      left -= std::min(left, source.file_bytes);
      continue;
    }
    std::uint64_t unread = source.file_bytes - source.from;
    if (unread > kMaxRoundsBehind * budget_bytes && source.from > 0)
      source.from += source.tally->pass_over(path, unread - budget_bytes / 2);
    unread = source.file_bytes - source.from;
    const std::uint64_t share = std::max(left / (wanted.size() - i), kLeastShareBytes);
    wishes.push_back({path, source.from, std::min(unread, share)});
    left -= std::min(left, wishes.back().bytes);
  }
  return wishes;
}

void RunTally::take(const PeekedPart& part) {
  const auto found = sources_.find(part.path);
  if (found == sources_.end() || found->second.tally == nullptr) return;
  Source& source = found->second;
  if (source.content == Tally::Content::text) {
    // A text that is still being written is read again when its size changes.
    source.from = part.bytes.size();
    source.tally->take_text(part.path, part.bytes);
    return;
  }
  if (part.from != source.from || part.bytes.empty()) return;
  constexpr std::size_t kMaxRecordBytes = 4096;
  const std::size_t taken =
      std::min(source.tally->take_records(part.path, part.from, part.bytes), part.bytes.size());
  source.from += taken;
  source.is_at_end = part.bytes.size() - taken > kMaxRecordBytes ||
                     (taken == 0 && source.from + part.bytes.size() < source.file_bytes);
}

RecordFigures RunTally::figures() const {
  const RecordFigures of_cann = cann_->figures();
  RecordFigures figures = of_cann.has_records ? of_cann : svp_->figures();
  if (!figures.has_records && figures.note.empty()) figures.note = of_cann.note;
  for (const auto& [path, source] : sources_) {
    const bool is_read = source.tally != nullptr && source.content == Tally::Content::records &&
                         source.from > 0 && !source.is_at_end;
    if (is_read)
      figures.unread_bytes += source.file_bytes - std::min(source.from, source.file_bytes);
  }
  // A small backlog is normal and not reported.
  constexpr std::uint64_t kNewsBytes = 1 << 20;
  if (figures.unread_bytes < kNewsBytes) figures.unread_bytes = 0;
  return figures;
}

}  // namespace msprof::watch
