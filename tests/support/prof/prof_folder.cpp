#include "support/prof/prof_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>

#include "support/files.hpp"
#include "support/prof/type_names.hpp"

namespace msprof::test::prof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBuffer = 256 * 1024;

std::string device_name(int device) {
  return "device_" + std::to_string(device);
}

// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

ProfFolder::ProfFolder(const fs::path& parent, const ProfSetup& setup, std::string_view name)
    : setup_(setup), folder_(parent / name) {
  fs::create_directories(folder_ / "host" / "data");
  for (const int device : setup_.devices) {
    fs::create_directories(folder_ / device_name(device) / "data");
  }
  for (const auto& [level, type, text] : kTypeNames) set_type(level, type, text);
}

ProfFolder::~ProfFolder() {
  for (auto& [device, stems] : open_) {
    for (auto& [stem, slices] : stems) {
      if (slices.fd >= 0) ::close(slices.fd);
    }
  }
}

void ProfFolder::host(std::string_view stem, std::string_view record) {
  append(slices(-1, stem), record);
}

void ProfFolder::device(int device, std::string_view stem, std::string_view record) {
  append(slices(device, stem), record);
}

ProfFolder::Slices& ProfFolder::slices(int device, std::string_view stem) {
  auto& of_device = open_[device];
  const auto found = of_device.find(stem);
  if (found != of_device.end()) return found->second;
  Slices& made = of_device[std::string(stem)];
  if (device < 0) {
    made.path = folder_ / "host" / "data" / (std::string(stem) + ".slice_");
  } else {
    made.path = folder_ / device_name(device) / "data" /
                (std::string(stem) + "." + std::to_string(device) + ".slice_");
  }
  return made;
}

void ProfFolder::append(Slices& slices, std::string_view record) {
  if (slices.size + record.size() > slice_limit_) close(slices);
  slices.buffer += record;
  slices.size += record.size();
  raw_bytes_ += record.size();
  if (slices.buffer.size() >= kBuffer) drain(slices);
}

void ProfFolder::drain(Slices& slices) {
  if (slices.fd < 0) {
    const std::string path = slices.path.string() + std::to_string(slices.next++);
    slices.fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (slices.fd < 0) throw std::runtime_error("cannot write " + path);
  }
  std::string_view left = slices.buffer;
  while (!left.empty()) {
    const ssize_t count = ::write(slices.fd, left.data(), left.size());
    if (count <= 0) throw std::runtime_error("cannot write " + slices.path.string());
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  slices.buffer.clear();
}

void ProfFolder::close(Slices& slices) {
  if (slices.size == 0) return;
  drain(slices);
  ::close(slices.fd);
  slices.fd = -1;
  slices.size = 0;
  write_file(slices.path.string() + std::to_string(slices.next - 1) + ".done", "");
}

void ProfFolder::next_slice(std::string_view stem, int device) {
  close(slices(device, stem));
}

std::uint64_t ProfFolder::hash(std::string_view text) {
  if (text.empty()) return 0;
  const auto [found, added] = hashes_.try_emplace(std::string(text), 0);
  if (added) {
    found->second = hash_of(text);
    texts_[found->second] = text;
  }
  return found->second;
}

void ProfFolder::set_hash(std::uint64_t hash, std::string_view text) {
  hashes_[std::string(text)] = hash;
  texts_[hash] = text;
}

void ProfFolder::set_type(std::uint32_t level, std::uint32_t type, std::string_view name) {
  types_[{level, type}] = name;
}

void ProfFolder::finish() {
  for (auto& [device, stems] : open_) {
    for (auto& [stem, slices] : stems) close(slices);
  }
  write_dictionaries();
  write_info_files();
}

void ProfFolder::write_dictionaries() {
  std::string types;
  for (const auto& [key, name] : types_) types += type_line(key.first, key.second, name);
  std::string hashes;
  for (const auto& [hash, text] : texts_) hashes += hash_line(hash, text);
  const fs::path data = folder_ / "host" / "data";
  write_file(data / "unaging.additional.type_info_dic.slice_0", types);
  write_file(data / "unaging.additional.type_info_dic.slice_0.done", "");
  write_file(data / "unaging.additional.hash_dic.slice_0", hashes);
  write_file(data / "unaging.additional.hash_dic.slice_0.done", "");
}

void ProfFolder::write_info_files() {
  const fs::path host = folder_ / "host";
  write_file(host / "info.json", info_json(setup_, -1));
  write_file(host / "sample.json", sample_json(setup_, -1));
  write_file(host / "start_info", start_info(setup_));
  if (setup_.end_us != 0) write_file(host / "end_info", end_info(setup_));
  write_file(host / "host_start.log", host_start_log(setup_));
  for (const int device : setup_.devices) {
    const fs::path folder = folder_ / device_name(device);
    const std::string number = "." + std::to_string(device);
    write_file(folder / ("info.json" + number), info_json(setup_, device));
    write_file(folder / "sample.json", sample_json(setup_, device));
    write_file(folder / ("start_info" + number), start_info(setup_));
    if (setup_.end_us != 0) write_file(folder / ("end_info" + number), end_info(setup_));
    write_file(folder / ("host_start.log" + number), host_start_log(setup_));
    write_file(folder / ("dev_start.log" + number), dev_start_log(setup_));
  }
}

}  // namespace msprof::test::prof
