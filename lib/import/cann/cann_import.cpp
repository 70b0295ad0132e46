#include "import/cann/cann_import.hpp"

#include <algorithm>

namespace msprof::cann {

bool OwnedFiles::is_last(const ImportContext& context, const RawKind& kind) {
  if (!missing_) {
    const auto& files = context.session.raw_files();
    missing_ = static_cast<std::size_t>(
        std::count_if(files.begin(), files.end(), [&](const RawFile& f) { return kind.owns(f); }));
  }
  return *missing_ == 0 || --*missing_ == 0;
}

void SliceKind::import(const ImportContext& context, const RawFile& file) {
  const CannPart& part = import_.session.find_part(file);
  const std::pair<std::string_view, std::string_view> key{part.name,
                                                          import_.session.parsed_name(file).stem};
  auto found = gathered_.find(key);
  if (found == gathered_.end()) {
    found = gathered_.emplace(key, Gathered{&part, RecordStream(record_format(file))}).first;
    const auto& clock = part.is_host() ? import_.session.host_clock() : part.clock;
    if (clock) found->second.stream.limit_times(*clock);
  }
  found->second.stream.add(file, import_.session.parsed_name(file).is_unaging);
  arrive(context);
}

void SliceKind::arrive(const ImportContext& context) {
  if (!files_.is_last(context, *this)) return;
  for (auto& [key, gathered] : gathered_) read(context, *gathered.part, gathered.stream);
  gathered_.clear();
}

bool has_record_magic(std::span<const std::byte> record) {
  std::uint16_t magic = 0;
  std::memcpy(&magic, record.data(), sizeof(magic));
  return magic == kRecordMagic;
}

bool has_record_head(std::span<const std::byte> record) {
  std::uint16_t level = 0;
  std::memcpy(&level, record.data() + 2, sizeof(level));
  return has_record_magic(record) && level >= call_level::kNames[0].level;
}

std::uint64_t host_record_time(std::span<const std::byte> record) {
  std::uint64_t time = 0;
  std::memcpy(&time, record.data() + offsetof(HostHeader, time), sizeof(time));
  return time;
}

std::string_view fixed_text(const char* bytes, std::size_t room) {
  const void* end = std::memchr(bytes, 0, room);
  const auto length =
      end == nullptr ? room : static_cast<std::size_t>(static_cast<const char*>(end) - bytes);
  return {bytes, length};
}

std::int64_t cell(std::uint64_t value) {
  const auto number = static_cast<std::int64_t>(value);
  return number == kNull ? kNull + 1 : number;
}

}  // namespace msprof::cann
