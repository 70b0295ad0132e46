#include "import/cann/device_streams.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace msprof::cann {

namespace {

class Kind : public RawKind {
 public:
  Kind(CannImport& import, StreamsOfChip of_chip, std::vector<std::string_view> stems)
      : import_(import),
        kind_(of_chip(import.session.chip().value_or(Chip{}))),
        stems_(std::move(stems)) {}

  std::string_view name() const override { return kind_.name; }

  // Without a chip nobody knows how the records look.
  bool owns(const RawFile& file) const override {
    const std::string& stem = import_.session.name_of(file).stem;
    return import_.session.chip().has_value() && !import_.session.part_of(file).is_host() &&
           std::find(stems_.begin(), stems_.end(), stem) != stems_.end();
  }

  void import(const ImportContext& context, const RawFile& file) override {
    const CannPart& part = import_.session.part_of(file);
    const std::string& stem = import_.session.name_of(file).stem;
    const auto stream =
        std::find_if(kind_.streams.begin(), kind_.streams.end(),
                     [&](const DeviceStream& candidate) { return candidate.stem == stem; });
    if (stream == kind_.streams.end()) {
      report_other_chip(context, file);
    } else if (kind_.is_counters && !part.info.is_task_based) {
      context.report.add(FindingId::sampled_counters, name(), file.name, "present, not read",
                         "Its counters are sampled over time, not taken for each task.");
    } else {
      auto& records = import_.devices[*part.device].*(stream->stream);
      if (!records) records.emplace(stream->format);
      records->add(file, false);
    }
  }

 private:
  void report_other_chip(const ImportContext& context, const RawFile& file) const {
    const Chip& chip = *import_.session.chip();
    const bool is_later = chip.family == ChipFamily::stars_v6 || chip.family == ChipFamily::nano;
    context.report.add(
        is_later ? FindingId::unknown_chip_files : FindingId::other_chip_files, name(), file.name,
        "present, not read",
        fmt::format("Its records are not read for platform {} ({}){}.", chip.platform, chip.name,
                    is_later ? " yet: there will be no tasks" : ""));
  }

  CannImport& import_;
  DeviceStreamKind kind_;
  std::vector<std::string_view> stems_;
};

}  // namespace

std::unique_ptr<RawKind> make_device_stream_kind(CannImport& import, StreamsOfChip of_chip,
                                                 std::vector<std::string_view> stems) {
  return std::make_unique<Kind>(import, of_chip, std::move(stems));
}

}  // namespace msprof::cann
