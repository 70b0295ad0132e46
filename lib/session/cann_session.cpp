#include "session/cann_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// What this program, and the peer, write into a capture.
constexpr std::array<std::string_view, 6> kProductFolders = {
    "sqlite", "mindstudio_profiler_output", "mindstudio_profiler_log", "timeline", "summary",
    "analyze"};

// A database, or what SQLite keeps beside one that is open.
bool is_database_file(std::string_view name) {
  return name.ends_with(".db") || name.ends_with(".db-wal") || name.ends_with(".db-shm") ||
         name.ends_with(".db-journal");
}

bool is_product(std::string_view name) {
  return std::find(kProductFolders.begin(), kProductFolders.end(), name) != kProductFolders.end() ||
         (name.starts_with("msprof_") && is_database_file(name)) || name.starts_with(".msprof");
}

struct PartName {
  std::optional<std::int64_t> device;  // empty: host
};

// "host", "device_0".
std::optional<PartName> part_name(std::string_view name) {
  constexpr std::string_view kDevice = "device_";
  if (name == "host") return PartName{};
  std::uint64_t number = 0;
  if (!name.starts_with(kDevice) || !parse_u64(name.substr(kDevice.size()), number)) {
    return std::nullopt;
  }
  if (number > std::uint64_t{std::numeric_limits<std::int32_t>::max()}) return std::nullopt;
  return PartName{static_cast<std::int64_t>(number)};
}

bool has_slices(const fs::path& data) {
  const auto names = cann::sorted_names(data);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return cann::parse_data_name(name).has_value();
  });
}

bool has_host_slices(const fs::path& data) {
  const auto names = cann::sorted_names(data);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return (name.starts_with("aging.") || name.starts_with("unaging.")) &&
           cann::parse_data_name(name);
  });
}

// Files that only CANN writes; info.json.N is beside svp data, too.
bool has_info_files(const fs::path& folder) {
  const auto names = cann::sorted_names(folder);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return cann::is_info_file_name(name) && !name.starts_with("info.json");
  });
}

// A host or device folder by itself: by its own name, or by the names that host data alone has.
bool is_part(const fs::path& folder) {
  if (!part_name(cann::own_name(folder))) return has_host_slices(folder / "data");
  return has_info_files(folder) || has_slices(folder / "data");
}

// Any project may have a folder called host: it has to be in a PROF folder or to look like one.
bool has_parts(const fs::path& folder) {
  std::error_code error;
  for (const std::string& name : cann::sorted_names(folder)) {
    const auto part = part_name(name);
    if (!part || !fs::is_directory(folder / name, error)) continue;
    if (part->device || cann::own_name(folder).starts_with("PROF") || is_part(folder / name)) {
      return true;
    }
  }
  return false;
}

// A session is made of the parts' names; a folder with another name holds host data (is_part).
std::string name_as_part(const fs::path& folder) {
  const std::string name = cann::own_name(folder);
  return part_name(name) ? name : "host";
}

}  // namespace

bool CannSession::recognises(const fs::path& folder) {
  return has_parts(folder) || is_part(folder);
}

CannSession::CannSession(const fs::path& folder) : Session(Dialect::cann, folder) {
  add_parts();
  report_other_entries();
  PartFiles files = read_info_files();
  set_window(files);
  share_info(files);
  set_chip(files);
  set_clocks(files);
  add_raw_files();
  sort_states();
}

const CannPart* CannSession::host() const {
  return parts_.front().is_host() ? &parts_.front() : nullptr;
}

const cann::Info& CannSession::info() const {
  return parts_.front().info;
}

void CannSession::missing(const CannPart& part, const char* file, std::string consequence) {
  findings_.push_back({FindingId::missing_info, file, part.name + "/" + file, "missing or broken",
                       std::move(consequence)});
}

void CannSession::tell(FindingId id, std::string file, std::string reason, std::string detail) {
  findings_.push_back({id, "capture", std::move(file), std::move(reason), std::move(detail)});
}

// There is always a part.
void CannSession::add_parts() {
  std::error_code error;
  const auto names =
      has_parts(folder()) ? cann::sorted_names(folder()) : std::vector<std::string>{};
  for (const std::string& name : names) {
    if (part_name(name) && fs::is_directory(folder() / name, error)) {
      add_part(name, folder() / name);
    }
  }
  if (parts_.empty()) {
    add_part(name_as_part(folder()), folder());
    return;
  }
  std::stable_sort(parts_.begin(), parts_.end(), [](const CannPart& a, const CannPart& b) {
    return a.device.value_or(-1) < b.device.value_or(-1);
  });
  if (!host()) {
    tell(FindingId::missing_folder, "host", "no host folder",
         "calls, operators and their names are not there");
  }
}

void CannSession::add_part(const std::string& name, const fs::path& part_folder) {
  CannPart part;
  part.name = name;
  part.folder = part_folder;
  part.device = part_name(name)->device;
  const auto same = std::find_if(parts_.begin(), parts_.end(), [&](const CannPart& other) {
    return other.device == part.device;
  });
  if (same != parts_.end()) {
    tell(FindingId::second_folder, name, "a second folder of one device, not read",
         fmt::format("{} is read", same->name));
    return;
  }
  std::error_code error;
  if (fs::is_symlink(part_folder, error)) {
    tell(FindingId::followed_link, name, "a link to another folder, followed");
  }
  parts_.push_back(std::move(part));
}

void CannSession::report_other_entries() {
  std::error_code error;
  const bool is_whole = has_parts(folder());
  for (const std::string& name : cann::sorted_names(folder())) {
    if (!is_whole || part_name(name) || is_product(name) || cann::is_companion(name)) continue;
    const bool is_folder = fs::is_directory(folder() / name, error);
    tell(FindingId::other_entry, name,
         is_folder ? "unrelated folder, not read" : "present, not read");
  }
  for (const CannPart& part : parts_) {
    for (const std::string& name : cann::sorted_names(part.folder)) {
      if (name == "data" || is_product(name) || cann::is_info_file_name(name)) continue;
      const bool is_folder = fs::is_directory(part.folder / name, error);
      tell(FindingId::other_entry, part.name + "/" + name,
           is_folder ? "unrelated folder, not read" : "present, not read");
    }
  }
}

CannSession::PartFiles CannSession::read_info_files() {
  PartFiles files;
  const cann::TrackFile tracker = [this](const fs::path& path, const std::string& name) {
    return track(path, name);
  };
  for (const CannPart& part : parts_) {
    files.push_back(cann::read_part_files(part.folder, part.name, part.device, tracker, findings_));
  }
  return files;
}

void CannSession::add_raw_files() {
  for (std::size_t part = 0; part < parts_.size(); ++part) add_data_folder(part);
  // Behind the files that are no slices, those of one kind, kept data before the ring.
  const auto key = [this](const RawFile& file) {
    const Named& named = names_.at(file.name);
    return std::tuple(named.part, std::string_view(named.name.stem), !named.name.is_unaging,
                      named.name.device.value_or(-1), named.name.slice,
                      std::string_view(file.name));
  };
  std::sort(raw_files_.begin(), raw_files_.end(),
            [&](const RawFile& a, const RawFile& b) { return key(a) < key(b); });
}

void CannSession::add_data_folder(std::size_t index) {
  const CannPart& part = parts_[index];
  const fs::path data = part.folder / "data";
  std::error_code error;
  if (!fs::is_directory(data, error)) {
    tell(FindingId::missing_folder, part.name + "/data", "no data folder",
         "nothing was recorded there, or it was lost");
    return;
  }
  for (const std::string& name : cann::sorted_names(data)) {
    if (cann::is_companion(name)) continue;
    const std::string shown = part.name + "/data/" + name;
    if (fs::is_directory(data / name, error)) {
      tell(FindingId::other_entry, shown, "unrelated folder, not read");
      continue;
    }
    if (!track(data / name, shown)) continue;
    names_[shown] = {cann::parse_data_name(name).value_or(cann::FileName{}), index};
    raw_files_.push_back(
        {data / name, shown, static_cast<std::uint64_t>(file_states_.back().size_bytes), {}});
  }
}

}  // namespace msprof
