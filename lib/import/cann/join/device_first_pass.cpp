#include "import/cann/join/device_first_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace msprof::cann {

namespace {

unsigned gap(unsigned last, unsigned next) {
  return (next - last - 1) & 0xF;
}

}  // namespace

void RecordCounter::see(const StreamRecord& record, unsigned counter) {
  if (slices_.empty() || slices_.back().file != record.file) {
    slices_.push_back({record.file, record.time, counter, counter});
    return;
  }
  lost_ += gap(slices_.back().last, counter);
  slices_.back().last = counter;
}

std::uint64_t RecordCounter::lost() const {
  std::vector<Slice> in_time = slices_;
  std::stable_sort(in_time.begin(), in_time.end(),
                   [](const Slice& a, const Slice& b) { return a.time < b.time; });
  return lost_ + std::min(lost_between(slices_), lost_between(in_time));
}

std::uint64_t RecordCounter::lost_between(const std::vector<Slice>& slices) {
  std::uint64_t lost = 0;
  for (std::size_t i = 1; i < slices.size(); ++i) lost += gap(slices[i - 1].last, slices[i].first);
  return lost;
}

DeviceFirstPass::DeviceFirstPass(CannImport& import, const CannPart& part, DeviceInputs& inputs)
    : import_(import),
      part_(part),
      inputs_(inputs),
      decoder_(import),
      counts_(import.session.has_batch_ids()),
      states_(inputs.ts_track.states, *import.session.chip()) {
  add_track();
  for (auto* stream : {&inputs.stars_soc, &inputs.hwts, &inputs.hwts_vector, &inputs.ffts_profile,
                       &inputs.aicore, &inputs.aicore_vector}) {
    if (*stream) (*stream)->read_ahead(import.ahead);
  }
  logs_job_ = import.ahead.start([this] { count_logs(); });
  if (inputs.ffts_profile)
    ffts_job_ = import.ahead.start([this] { count_ffts(*inputs_.ffts_profile); });
}

void DeviceFirstPass::add_track() {
  for (const StreamFlip& flip : inputs_.ts_track.flips)
    counts_.add_flip(flip.stream, flip.ticks, flip.task_number);
  for (const TaskBlocks& blocks : inputs_.ts_track.blocks) {
    if (decoder_.is_v6()) {
      counts_.add_blocks(0, blocks.ticks, unique_task_id(blocks.stream, blocks.task_number),
                         blocks.block_num, blocks.mix_ratio);
      continue;
    }
    StarsIds ids{static_cast<std::uint16_t>(blocks.stream & kStreamMask), blocks.task_number};
    if (import_.session.chip()->family == ChipFamily::stars)
      ids = stars_ids(blocks.stream, blocks.task_number, 0, import_.are_streams_expanded);
    counts_.add_blocks(ids.stream, blocks.ticks, ids.task_number, blocks.block_num,
                       blocks.mix_ratio);
  }
}

void DeviceFirstPass::count_logs() {
  if (inputs_.stars_soc) count_stars(*inputs_.stars_soc);
  if (inputs_.hwts) count_hwts(*inputs_.hwts, hwts_[0]);
  if (inputs_.hwts_vector) count_hwts(*inputs_.hwts_vector, hwts_[1]);
}

void DeviceFirstPass::count_stars(RecordStream& stream) {
  stream.scan([&](const StreamRecord& record) {
    const DeviceLog log = decoder_.log(record);
    stars_.counter.see(record, log.counter);
    if (log.what == DeviceLog::What::task) {
      counts_.count(log);
    } else if (log.what == DeviceLog::What::other) {
      ++stars_.unread[log.function];
    } else if (log.what == DeviceLog::What::unknown) {
      stars_.skipped.skip_record("stars_soc", stream.file_name(record), "unknown function type",
                                 record.offset);
    }
  });
}

void DeviceFirstPass::count_hwts(RecordStream& stream, Found& found) {
  stream.scan([&](const StreamRecord& record) {
    const DeviceLog log = read_hwts_log(record);
    found.counter.see(record, log.counter);
    if (log.what != DeviceLog::What::task) return;
    counts_.count(log);
    if (states_.empty()) return;
    states_.seen(log.stream, static_cast<std::uint16_t>(log.task_number), log.place.ticks);
  });
}

void DeviceFirstPass::count_ffts(RecordStream& stream) {
  stream.scan([&](const StreamRecord& record) {
    const TaskCounters counters = decoder_.counters(record);
    ffts_.counter.see(record, counters.counter);
    ffts_.overflows += counters.has_overflowed ? 1 : 0;
    counts_.count(counters);
    if (counters.what == TaskCounters::What::block_run) {
      has_block_runs_ = true;
    } else if (counters.what == TaskCounters::What::unknown) {
      ffts_.skipped.skip_record("ffts_profile", stream.file_name(record), "unknown function type",
                                record.offset);
    }
  });
}

void DeviceFirstPass::finish(const ImportContext& context) {
  logs_job_.get();
  if (ffts_job_) ffts_job_.get();
  if (inputs_.stars_soc) report_stars(context);
  for (auto [stream, found] :
       {std::pair(&inputs_.hwts, &hwts_[0]), std::pair(&inputs_.hwts_vector, &hwts_[1])}) {
    if (!*stream) continue;
    (*stream)->open(context);
    report_lost(context, "hwts", *found);
  }
  if (inputs_.ffts_profile) report_ffts(context);
  for (auto* aicore : {&inputs_.aicore, &inputs_.aicore_vector}) {
    if (!*aicore) continue;
    Found found;
    (*aicore)->open(context, [&](const StreamRecord& record) {
      found.counter.see(record, read_aicore_record(record).counter);
    });
    report_lost(context, "aicore", found);
  }
}

void DeviceFirstPass::report_stars(const ImportContext& context) {
  for (const Finding& finding : stars_.skipped.findings()) context.report.add(finding);
  inputs_.stars_soc->open(context);
  report_lost(context, "stars_soc", stars_);
  for (unsigned function = 0; function < stars_.unread.size(); ++function) {
    if (stars_.unread[function] == 0) continue;
    // Block logs are redundant if ffts_profile has block runs, which include counters.
    const bool is_block = decoder_.is_v6() && (function == kBlockStart || function == kBlockEnd);
    context.report.add(
        is_block && has_block_runs_ ? FindingId::obsolete_records : FindingId::unread_records,
        "stars_soc", part_.name,
        is_block ? std::string("logs of blocks, not read")
                 : fmt::format("records of function type {}, not read", function),
        "", stars_.unread[function]);
  }
}

void DeviceFirstPass::report_ffts(const ImportContext& context) {
  for (const Finding& finding : ffts_.skipped.findings()) context.report.add(finding);
  inputs_.ffts_profile->open(context);
  report_lost(context, "ffts_profile", ffts_);
  report_finding(context, FindingId::overflowed_counters, "ffts_profile", ffts_.overflows,
                 "counters overflowed", "Their values are not corrected.");
}

void DeviceFirstPass::report_finding(const ImportContext& context, FindingId id,
                                     std::string_view kind, std::uint64_t count, std::string reason,
                                     std::string detail) const {
  if (count == 0) return;
  context.report.add(id, kind, part_.name, std::move(reason), std::move(detail),
                     static_cast<std::int64_t>(count));
}

void DeviceFirstPass::report_lost(const ImportContext& context, std::string_view kind,
                                  const Found& found) const {
  report_finding(context, FindingId::records_missing, kind, found.counter.lost(),
                 "records missing according to their sequence counter",
                 "the counter has 4 bits: this is a minimum");
}

}  // namespace msprof::cann
