#include "session/svp_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "store/store_limits.hpp"

namespace msprof {

namespace fs = std::filesystem;
using svp::SvpFileKind;
using svp::SvpFileName;

namespace {

constexpr std::string_view kDone = ".done";

bool is_done(std::string_view name) {
  return lower_ascii(name).ends_with(kDone);
}

svp::KnownModels models_with_net_info(const std::vector<std::string>& names) {
  svp::KnownModels known;
  for (const auto& name : names) {
    const auto info = svp::parse_info_name(name);
    if (info && info->kind == SvpFileKind::net_info) known.insert({info->model, info->model_id});
  }
  return known;
}

SessionFinding finding(FindingId id, std::string_view kind, const std::string& file,
                       std::string reason) {
  return {id, std::string(kind), file, std::move(reason), ""};
}

// Checks for a key that SVP boards never write.
bool is_classic_info(const fs::path& path, CaptureFolders& folders) {
  constexpr std::uint64_t kMaxInfoBytes = 1 << 20;
  try {
    return read_text_file(path, kMaxInfoBytes).find("\"hwts_frequency\"") != std::string::npos;
  } catch (const Error& error) {
    folders.add_problem(path, error.what());
    return false;
  }
}

// Removes the files of devices, models and steps that would exceed the limits of a store. Returns
// their number.
std::size_t drop_beyond_limits(std::vector<RawFile>& files,
                               const std::map<std::string, SvpFileName>& names) {
  if (files.size() <= store_limit::kDevices) return 0;
  std::set<std::int64_t> devices;
  std::set<decltype(std::declval<const SvpFileName&>().model_key())> models;
  std::set<decltype(std::declval<const SvpFileName&>().capture_key())> steps;
  const auto add = [](auto& known, const auto& key, std::size_t limit) {
    if (known.contains(key)) return true;
    return known.size() < limit && known.insert(key).second;
  };
  return std::erase_if(files, [&](const RawFile& file) {
    const SvpFileName& name = names.at(file.name);
    const bool has_tasks = name.kind == SvpFileKind::aicore || name.kind == SvpFileKind::aicpu;
    const bool has_rows = has_tasks || name.kind == SvpFileKind::acl_api;
    if (!has_rows && name.kind != SvpFileKind::info_json) return false;
    const bool fits = add(devices, name.device, store_limit::kDevices) &&
                      (!has_rows || add(models, name.model_key(), store_limit::kBoardModels)) &&
                      (!has_tasks || add(steps, name.capture_key(), store_limit::kBoardSteps));
    return !fits;
  });
}

}  // namespace

std::string SvpSession::file_stem(const RawFile& file) const {
  const SvpFileKind kind = parsed_name(file).kind;
  if (kind != SvpFileKind::other) return std::string(kind_name(kind));
  const std::string_view own = std::string_view(file.name).substr(file.name.find('/') + 1);
  return std::string(own.substr(0, own.find('.')));
}

bool SvpSession::has_classic_info(const fs::path& folder, CaptureFolders& folders) {
  const auto& names = folders.names(folder);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return svp::parse_info_json_name(name) && is_classic_info(folder / name, folders);
  });
}

bool SvpSession::recognises(const fs::path& folder, CaptureFolders& folders) {
  if (!folders.is_folder(folder / "data")) return false;
  for (const auto& name : folders.names(folder)) {
    if (svp::parse_info_json_name(name)) return true;
  }
  const auto& names = folders.names(folder / "data");
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    const std::string_view stem =
        is_done(name) ? std::string_view(name).substr(0, name.size() - kDone.size()) : name;
    return svp::parse_data_name(stem, {}).kind != SvpFileKind::other;
  });
}

SvpSession::SvpSession(const fs::path& folder, CaptureFolders folders)
    : Session(Dialect::svp, folder, std::move(folders)) {
  add_info_json();
  add_data_folder();
  finish();
  std::sort(raw_files_.begin(), raw_files_.end(), [this](const RawFile& a, const RawFile& b) {
    const SvpFileName& x = parsed_name(a);
    const SvpFileName& y = parsed_name(b);
    return std::tuple(x.kind, x.capture_key(), x.net.value_or(-1), a.name) <
           std::tuple(y.kind, y.capture_key(), y.net.value_or(-1), b.name);
  });
  if (const std::size_t count = drop_beyond_limits(raw_files_, names_); count > 0) {
    findings_.push_back({FindingId::unreadable_file, "capture", "",
                         "files beyond the limits, not read",
                         fmt::format("{}; at most {} devices, {} models and {} steps are read",
                                     counted(count, "file"), with_thousands(store_limit::kDevices),
                                     with_thousands(store_limit::kBoardModels),
                                     with_thousands(store_limit::kBoardSteps))});
  }
}

void SvpSession::add_info_json() {
  for (const auto& name : folders_.names(folder())) {
    const auto device = svp::parse_info_json_name(name);
    if (!device || !track(folder() / name, name)) continue;
    SvpFileName parsed;
    parsed.kind = SvpFileKind::info_json;
    parsed.device = *device;
    names_[name] = parsed;
    raw_files_.push_back(
        {folder() / name, name, static_cast<std::uint64_t>(file_states_.back().size_bytes), {}});
  }
}

void SvpSession::add_data_folder() {
  const fs::path data = folder() / "data";
  const auto& names = folders_.names(data);
  const svp::KnownModels known = models_with_net_info(names);
  std::map<std::string, DoneFile> done_files;  // keyed by data file name
  for (const auto& name : names) {
    const std::string shown = "data/" + name;
    std::error_code error;  // ignored: fails for a symbolic link to itself
    if (fs::is_directory(data / name, error)) {
      findings_.push_back(finding(FindingId::other_entry, "capture", shown, "present, not read"));
      continue;
    }
    if (!track(data / name, shown)) continue;
    if (is_done(name)) {
      done_files.emplace(shown.substr(0, shown.size() - kDone.size()),
                         read_done(data / name, shown));
      continue;
    }
    const SvpFileName parsed = svp::parse_data_name(name, known);
    names_[shown] = parsed;
    if (parsed.is_ambiguous) {
      findings_.push_back(finding(FindingId::ambiguous_name, kind_name(parsed.kind), shown,
                                  "ambiguous name, the shorter interpretation is used"));
    }
    raw_files_.push_back(
        {data / name, shown, static_cast<std::uint64_t>(file_states_.back().size_bytes), {}});
  }
  for (RawFile& file : raw_files_) {
    const auto done = done_files.find(file.name);
    if (done == done_files.end()) continue;
    file.done = std::move(done->second);
    done_files.erase(done);
  }
  for (const auto& [name, done] : done_files) {
    names_[name] = svp::parse_data_name(std::string_view(name).substr(5), known);
  }
  pair_short_names(done_files);
  report_orphans(done_files);
}

void SvpSession::pair_short_names(std::map<std::string, DoneFile>& orphans) {
  const auto is_short = [this](const RawFile& file) {
    return parsed_name(file).kind == SvpFileKind::short_data;
  };
  const auto fits = [this](const RawFile& file, const std::string& long_name,
                           const DoneFile& done) {
    return done.file_len_bytes == file.size_bytes &&
           svp::short_name_fits(parsed_name(file), names_.at(long_name));
  };
  // A `.done` that could belong to two data files is assigned to neither.
  std::map<const RawFile*, std::vector<std::string>> candidates;
  std::map<std::string, int> claims;
  for (const RawFile& file : raw_files_) {
    if (!is_short(file)) continue;
    for (const auto& [long_name, done] : orphans) {
      if (!fits(file, long_name, done)) continue;
      candidates[&file].push_back(long_name);
      ++claims[long_name];
    }
  }
  for (RawFile& file : raw_files_) {
    if (!is_short(file)) continue;
    const auto& found = candidates[&file];
    if (found.size() != 1 || claims[found.front()] != 1) {
      findings_.push_back(
          finding(FindingId::unknown_short_name, kind_name(SvpFileKind::short_data), file.name,
                  found.empty() ? "short name without a matching .done, not read"
                                : "short name that matches several .done, not read"));
      continue;
    }
    findings_.push_back(finding(FindingId::short_name, kind_name(SvpFileKind::short_data),
                                file.name, fmt::format("read as {}", found.front())));
    names_[file.name] = names_.at(found.front());
    file.done = std::move(orphans.at(found.front()));
    orphans.erase(found.front());
  }
}

void SvpSession::report_orphans(const std::map<std::string, DoneFile>& orphans) {
  for (const auto& [name, done] : orphans) {
    const bool was_empty = done.file_len_bytes == std::uint64_t{0};
    const auto kind = kind_name(names_.at(name).kind);
    findings_.push_back(
        was_empty ? finding(FindingId::empty_data, kind, done.name,
                            "no data file, and 0 bytes in its .done")
                  : finding(FindingId::missing_data_file, kind, done.name, "data file is missing"));
  }
}

}  // namespace msprof
