// PROF folders: tasks in stars_soc and hwts records, by stream. Operators are not shown: matching
// tasks to them requires all of the host's records, as in an import. Source: cann_device.md 4, 5.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/text.hpp"
#include "import/cann/cann_import.hpp"
#include "import/cann/device_streams.hpp"
#include "session/cann_files.hpp"
#include "watch/tally.hpp"

namespace msprof::watch {

namespace {

using cann::ChipFamily;

constexpr std::string_view kDeviceFolder = "device_";
constexpr std::size_t kMaxOpenTasks = 100'000;
constexpr std::size_t kMaxStreamRows = 10'000;
constexpr std::size_t kMaxShownStreams = 16;
constexpr double kNsInSecond = 1e9;

// Format of start and end records of tasks, for one family.
struct LogFormat {
  std::size_t record_bytes = 0;
  std::uint16_t (*magic)(std::span<const std::byte> record) = nullptr;
  DeviceLog (*read)(const cann::StreamRecord& record) = nullptr;
};

template <typename Wire>
std::uint16_t decode_magic(std::span<const std::byte> record) {
  return cann::decode<Wire>(record).magic;
}

DeviceLog read_plain_stars_log(const cann::StreamRecord& record) {
  return cann::read_stars_log(record, false);
}

std::optional<LogFormat> find_format(ChipFamily family, std::string_view stem) {
  if (family == ChipFamily::stars && stem == "stars_soc.data")
    return LogFormat{sizeof(cann::StarsLogWire), decode_magic<cann::StarsLogWire>,
                     read_plain_stars_log};
  if (family == ChipFamily::stars_v6 && stem == "stars_soc.data")
    return LogFormat{sizeof(cann::StarsLogV6Wire), decode_magic<cann::StarsLogV6Wire>,
                     cann::read_stars_log_v6};
  const bool is_hwts = family == ChipFamily::hwts || family == ChipFamily::mini;
  if (is_hwts && (stem == "hwts.data" || stem == "hwts.aiv_data"))
    return LogFormat{sizeof(cann::HwtsWire), decode_magic<cann::HwtsWire>, cann::read_hwts_log};
  return std::nullopt;
}

bool are_zeros(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

// Returns the part of a path up to its folder "device_3"; empty if there is none.
std::string_view find_device_folder(std::string_view path) {
  for (std::size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1)) {
    const std::string_view folder = path.substr(0, at);
    if (folder.substr(folder.rfind('/') + 1).starts_with(kDeviceFolder)) return folder;
  }
  return {};
}

struct Device {
  std::optional<ChipFamily> family;
  double hz = 0;  // of the timestamp counter in the records; 0: unknown
};

struct OpenTask {
  std::string device;
  std::uint16_t stream = 0;
  std::uint32_t number = 0;
  auto operator<=>(const OpenTask&) const = default;
};

struct StreamTime {
  std::uint64_t count = 0;
  double ns = 0;
};

class CannTally : public Tally {
 public:
  Content classify_content(const std::string& path) override {
    const std::string_view folder = find_device_folder(path);
    if (folder.empty()) return Content::other;
    const std::string_view inside = std::string_view(path).substr(folder.size() + 1);
    if (inside.starts_with("info.json")) return Content::text;
    if (!inside.starts_with("data/")) return Content::other;
    const auto name = cann::parse_data_name(inside.substr(5));
    const bool is_log = name && (name->stem == "stars_soc.data" || name->stem == "hwts.data" ||
                                 name->stem == "hwts.aiv_data");
    return is_log ? Content::records : Content::other;
  }

  void take_text(const std::string& path, std::string_view text) override {
    cann::Info info;
    if (!cann::read_info_json(text, info)) return;
    Device& device = devices_[std::string(find_device_folder(path))];
    const auto chip = info.platform ? cann::find_chip(*info.platform) : std::nullopt;
    if (chip) device.family = chip->family;
    device.hz = static_cast<double>(info.hwts_frequency_hz);
  }

  bool wants(const std::string& path, std::uint64_t) override {
    return find_format_for(path).has_value();
  }

  std::size_t take_records(const std::string& path, std::uint64_t, std::string_view text) override {
    const auto format = find_format_for(path);
    if (!format) return 0;
    const auto bytes = std::as_bytes(std::span(text));
    const std::string folder(find_device_folder(path));
    std::size_t done = 0;
    while (bytes.size() - done >= format->record_bytes) {
      const auto record = bytes.subspan(done, format->record_bytes);
      if (format->magic(record) == cann::kDeviceMagic) {
        take(folder, format->read({record, 0, 0, false, 0, 0}));
        done += format->record_bytes;
        continue;
      }
      // Zeros: space that has been allocated but not written yet.
      if (are_zeros(record)) break;
      ++done;  // resynchronize: a slice may start with the rest of the previous slice's last record
    }
    return done;
  }

  // Skips nothing: the number of tasks in unread bytes is unknown.
  std::uint64_t pass_over(const std::string&, std::uint64_t) override { return 0; }

  RecordFigures figures() const override {
    RecordFigures figures;
    figures.has_records = tasks_ > 0;
    figures.unit = "task";
    figures.part = "stream";
    figures.count = tasks_;
    for (const auto& [key, time] : streams_) {
      figures.all_ns += time.ns;
      const std::string device = key.first.substr(key.first.rfind('/') + 1);
      figures.slowest.push_back(
          {(devices_.size() > 1 ? device + " " : "") + key.second, time.count, time.ns});
    }
    std::sort(figures.slowest.begin(), figures.slowest.end(),
              [](const SlowPart& a, const SlowPart& b) {
                return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
              });
    if (figures.slowest.size() > kMaxShownStreams) figures.slowest.resize(kMaxShownStreams);
    if (figures.has_records && figures.all_ns <= 0)
      figures.note = "no times: info.json has no clock for the tasks";
    return figures;
  }

 private:
  std::optional<LogFormat> find_format_for(const std::string& path) const {
    const std::string_view folder = find_device_folder(path);
    const auto device = devices_.find(std::string(folder));
    if (device == devices_.end() || !device->second.family) return std::nullopt;
    const auto name = cann::parse_data_name(std::string_view(path).substr(path.rfind('/') + 1));
    return name ? find_format(*device->second.family, name->stem) : std::nullopt;
  }

  void take(const std::string& folder, const DeviceLog& log) {
    if (log.what != DeviceLog::What::task || log.is_sub_task) return;
    const OpenTask key = {folder, log.stream, log.task_number};
    if (log.is_start) {
      // Lost end records leave their starts in the map.
      if (open_.size() >= kMaxOpenTasks) open_.clear();
      open_[key] = log.place.ticks;
      return;
    }
    const auto begin = open_.find(key);
    if (begin == open_.end()) return;
    ++tasks_;
    const Device& device = devices_[folder];
    const std::string row = row_name(device, log.stream, log.type);
    const bool has_room = streams_.size() < kMaxStreamRows || streams_.contains({folder, row});
    if (has_room) {
      StreamTime& time = streams_[{folder, row}];
      ++time.count;
      if (device.hz > 0 && log.place.ticks > begin->second)
        time.ns += static_cast<double>(log.place.ticks - begin->second) * kNsInSecond / device.hz;
    }
    open_.erase(begin);
  }

  // Returns "stream 3 AI_CORE"; records of some chips contain no stream.
  static std::string row_name(const Device& device, std::uint16_t stream, unsigned type) {
    const ChipFamily family = device.family.value_or(ChipFamily::stars);
    std::string name =
        family == ChipFamily::stars_v6 ? "tasks" : "stream " + std::to_string(stream);
    const std::string_view type_name = cann::sqe_type_name(family, type);
    if (!type_name.empty()) name += " " + std::string(type_name);
    return name;
  }

  std::map<std::string, Device> devices_;  // by folder
  std::map<OpenTask, std::uint64_t> open_;
  std::map<std::pair<std::string, std::string>, StreamTime> streams_;  // by folder and row name
  std::uint64_t tasks_ = 0;
};

}  // namespace

std::unique_ptr<Tally> make_cann_tally() {
  return std::make_unique<CannTally>();
}

}  // namespace msprof::watch
