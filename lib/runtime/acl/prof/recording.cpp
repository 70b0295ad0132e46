#include "runtime/acl/prof/recording.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "runtime/acl/prof/dictionary.hpp"
#include "runtime/acl/prof/info_files.hpp"
#include "runtime/acl/prof/roomy_stack.hpp"
#include "runtime/acl/prof/slice_file.hpp"
#include "runtime/acl/prof/slice_worker.hpp"
#include "runtime/acl/prof/type_names.hpp"
#include "runtime/engine/files.hpp"
#include "runtime/engine/message.hpp"
#include "wire/cann/device_wire.hpp"

namespace msprof::acl {

namespace {

constexpr mode_t kFolderMode = 0750;
constexpr std::size_t kHostFiles = static_cast<std::size_t>(HostFile::kCount);
constexpr std::size_t kDeviceFiles = static_cast<std::size_t>(DeviceFile::kCount);
// Stream ids have 11 bits.
constexpr std::size_t kStreams = 2048;

struct RecordingFile {
  const char* stem;
  SliceLayout layout;
};

// Indexed by HostFile.
constexpr RecordingFile kHostKinds[] = {
    {"aging.api_event.data", {40}},
    {"aging.compact.task_track", {64}},
    {"unaging.compact.task_track", {64, NumberBits::none, true}},
    {"aging.compact.node_basic_info", {64}},
    {"aging.compact.node_attr_info", {64}},
    {"aging.compact.memcpy_info", {64}},
    {"aging.additional.tensor_info", {256}},
    {"aging.additional.fusion_op_info", {256}},
    {"unaging.additional.graph_id_map", {256, NumberBits::none, true}},
    {"aging.additional.task_memory_info", {256}},
    {"aging.additional.msproftx", {256}}};
static_assert(std::size(kHostKinds) == kHostFiles);

// Indexed by DeviceFile; an entry without a name uses the preceding file.
constexpr RecordingFile kStarsKinds[] = {{"stars_soc.data", {64, NumberBits::bits_6_to_9}},
                                         {"ffts_profile.data", {128, NumberBits::bits_6_to_9}},
                                         {nullptr, {}},
                                         {"ts_track.data", {40, NumberBits::none, true}},
                                         {"aicpu.data", {256}},
                                         {"l2_cache.data", {sizeof(cann::L2CacheWire)}}};
constexpr RecordingFile kHwtsKinds[] = {{"hwts.data", {64, NumberBits::bits_4_to_7}},
                                        {"aicore.data", {128, NumberBits::bits_4_to_7}},
                                        {"aiVectorCore.data", {128, NumberBits::bits_4_to_7}},
                                        {"ts_track.data", {40, NumberBits::none, true}},
                                        {"DATA_PREPROCESS.AICPU", {128}},
                                        {"l2_cache.data", {sizeof(cann::L2CacheWire)}}};
static_assert(std::size(kStarsKinds) == kDeviceFiles && std::size(kHwtsKinds) == kDeviceFiles);

struct DeviceFiles {
  std::uint16_t number = 0;
  std::string folder;
  // The folder's name until the info files are complete, so that a killed process leaves no
  // unreadable PROF folder.
  std::string unfinished;
  std::array<std::unique_ptr<SliceFile>, kDeviceFiles> own;
  std::array<SliceFile*, kDeviceFiles> files{};
  std::array<std::array<std::atomic<std::uint32_t>, kStreams>, 2> turns{};
  std::atomic<bool> has_folder{true};
};

// A placeholder file that reserves space for end_info, so that it can be written on a full disk.
// Its name is ignored by the import.
constexpr const char* kReserved = "/.msprof_end_info";
constexpr std::size_t kReservedBytes = 4096;

bool write_reserved(const std::string& folder) {
  const int fd = runtime::open_above_stdio(folder + kReserved, O_WRONLY | O_CREAT | O_EXCL);
  if (fd < 0) return false;
  const std::string blanks(kReservedBytes, ' ');
  const bool is_whole = runtime::write_retrying(fd, blanks.data(), blanks.size()) ==
                        static_cast<ssize_t>(blanks.size());
  ::close(fd);
  return is_whole;
}

bool fill_reserved(const std::string& folder, const std::string& name, const std::string& text) {
  const int fd = runtime::open_above_stdio(folder + kReserved, O_WRONLY);
  if (fd < 0) return false;
  bool is_good =
      runtime::write_retrying(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  is_good = is_good && ftruncate(fd, static_cast<off_t>(text.size())) == 0;
  ::close(fd);
  return is_good && rename((folder + kReserved).c_str(), (folder + name).c_str()) == 0;
}

// Creates a folder and its parents. The application's umask may restrict the permissions.
bool make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (!part.empty() && mkdir(part.c_str(), kFolderMode) != 0 && errno != EEXIST) return false;
    if (end == std::string::npos) break;
  }
  struct stat state = {};
  if (stat(path.c_str(), &state) != 0) return false;
  errno = ENOTDIR;
  return S_ISDIR(state.st_mode);
}

// Makes `path` absolute, since the application may change its working folder.
std::string absolute(const std::string& path) {
  char* const resolved = realpath(path.c_str(), nullptr);
  std::string result = resolved == nullptr ? path : resolved;
  free(resolved);
  return result;
}

}  // namespace

struct Recording::Files {
  explicit Files(const RecordingOptions& recording_options)
      : options(recording_options), space(recording_options.storage_limit_bytes) {}

  // Return false with errno on error.
  bool make_folder();
  bool write_info(const std::string& part, std::optional<std::uint16_t> device);
  void make_files();
  // Creates the folder of a device; called at its first record if creation was deferred.
  void make_device(DeviceFiles& device);
  DeviceFiles* device(std::uint16_t number) const {
    return number < by_number.size() ? by_number[number] : nullptr;
  }
  template <typename Use>
  void for_each(Use use) const {
    for (const auto& file : host) use(*file);
    for (const auto& device : devices) {
      for (const auto& file : device->own) {
        if (file != nullptr) use(*file);
      }
    }
  }
  // Returns why records were lost, for the first file that lost any.
  std::string why_lost() const;
  bool is_parents() const { return generation != ActiveRecordings::generation(); }

  RecordingOptions options;
  SpaceBudget space;
  const std::uint32_t generation = ActiveRecordings::generation();
  const pid_t process = getpid();
  ClockMoment begin = now();
  std::string folder;
  // The folder's name until the info files are complete, so that a killed process leaves no
  // unreadable PROF folder.
  std::string unfinished;
  SliceWorker worker;
  bool is_worker_gone = false;
  std::array<std::unique_ptr<SliceFile>, kHostFiles> host;
  std::vector<std::unique_ptr<DeviceFiles>> devices;
  std::vector<DeviceFiles*> by_number;
  std::unique_ptr<Dictionary> hashes;
  std::unique_ptr<Dictionary> types;
  std::unique_ptr<HostUsage> usage;
  std::atomic<bool> is_finished{false};
  std::mutex device_mutex;  // guards make_device()
};

bool Recording::Files::make_folder() {
  static std::atomic<std::uint32_t> starts{0};
  if (!make_folders(options.output)) return false;
  const std::string output = absolute(options.output);
  const std::uint32_t number = starts.fetch_add(1) + 1;
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    const std::string name = folder_name(number, begin);
    if (name.empty()) return false;
    const std::string parent = output + (output.ends_with('/') ? "" : "/");
    folder = parent + name;
    unfinished = parent;
    unfinished.append(".").append(name);
    if (mkdir(unfinished.c_str(), kFolderMode) == 0) return true;
    if (errno != EEXIST) break;
  }
  unfinished.clear();
  return false;
}

bool Recording::Files::write_info(const std::string& part, std::optional<std::uint16_t> device) {
  const std::string number = device ? "." + std::to_string(*device) : "";
  const auto write = [&](const std::string& name, const std::string& text) {
    return runtime::write_whole_file(part + name, text);
  };
  const std::string data = part + "/data";
  if (mkdir(part.c_str(), kFolderMode) != 0 || mkdir(data.c_str(), kFolderMode) != 0) return false;
  return write_reserved(part) && write("/info.json" + number, info_json(options, device)) &&
         write("/sample.json", sample_json(options, device, folder)) &&
         write("/start_info" + number, start_info(begin)) &&
         write("/host_start.log" + number, host_start_log(begin)) &&
         (!device || write("/dev_start.log" + number, dev_start_log(begin)));
}

void Recording::Files::make_files() {
  const std::string data = folder + "/host/data/";
  const bool is_mapped = runtime::may_be_mapped(folder);
  for (std::size_t i = 0; i < kHostFiles; ++i)
    host[i] = std::make_unique<SliceFile>(data + kHostKinds[i].stem, kHostKinds[i].layout, space,
                                          &worker, is_mapped);
  // Creates the file in advance, so that the first stamp is not slower than the others.
  if ((options.bits & prof_bits::kMsprofTx) != 0)
    host[static_cast<std::size_t>(HostFile::msproftx)]->prepare_first();
  hashes = std::make_unique<Dictionary>(data + "unaging.additional.hash_dic.slice_0");
  types = std::make_unique<Dictionary>(data + "unaging.additional.type_info_dic.slice_0");
  types->add_lines(type_info_lines());
  if (options.host_usage.any())
    usage = std::make_unique<HostUsage>(options.host_usage, data, space);
  constexpr int kAscend910b = 5;
  constexpr int kAscend910a = 1;
  const RecordingFile* const kinds = options.chip == kAscend910b ? kStarsKinds : kHwtsKinds;
  for (const std::uint16_t number : options.devices) {
    auto made = std::make_unique<DeviceFiles>();
    made->number = number;
    made->has_folder.store(!options.devices_on_use);
    made->folder = folder + "/device_" + std::to_string(number);
    for (std::size_t i = 0; i < kDeviceFiles; ++i) {
      // A 910A has a single kind of cores.
      const bool has_own =
          kinds[i].stem != nullptr && !(options.chip == kAscend910a &&
                                        i == static_cast<std::size_t>(DeviceFile::vector_counters));
      if (has_own) {
        made->own[i] = std::make_unique<SliceFile>(
            made->folder + "/data/" + kinds[i].stem + "." + std::to_string(number), kinds[i].layout,
            space, &worker, is_mapped);
      }
      made->files[i] = has_own ? made->own[i].get() : made->files[i - 1];
    }
    if (by_number.size() <= number) by_number.resize(number + std::size_t{1});
    by_number[number] = made.get();
    devices.push_back(std::move(made));
  }
}

void Recording::Files::make_device(DeviceFiles& device) {
  const std::lock_guard lock(device_mutex);
  if (device.has_folder.load() || is_finished.load()) return;
  // The folder is renamed once it is complete. If that fails, its files cannot be created either;
  // they count their lost records.
  const std::string made = folder + "/.msprof_device_" + std::to_string(device.number);
  if (!write_info(made, device.number) || rename(made.c_str(), device.folder.c_str()) != 0)
    runtime::say(device.folder + " cannot be written (" + strerror(errno) + ")");
  device.has_folder.store(true, std::memory_order_release);
}

std::string Recording::Files::why_lost() const {
  const SliceFile* first = nullptr;
  for_each([&](const SliceFile& file) {
    if (first == nullptr && file.lost() > 0) first = &file;
  });
  const int error = first != nullptr ? first->error() : ENOSPC;
  return error == 0 ? "the storage limit" : strerror(error);
}

// Runs on a larger stack, because the first mark of a program may create the folder from any
// thread.
std::shared_ptr<Recording> Recording::start(const RecordingOptions& options, std::string& why) {
  return on_roomy_stack([&] { return make(options, why); });
}

std::shared_ptr<Recording> Recording::make(const RecordingOptions& options, std::string& why) {
  auto files = std::make_unique<Files>(options);
  errno = 0;
  bool is_good =
      files->make_folder() && files->write_info(files->unfinished + "/host", std::nullopt);
  for (const std::uint16_t device : options.devices) {
    if (options.devices_on_use) break;
    is_good = is_good &&
              files->write_info(files->unfinished + "/device_" + std::to_string(device), device);
  }
  is_good = is_good && rename(files->unfinished.c_str(), files->folder.c_str()) == 0;
  if (!is_good) {
    const std::string& where = files->unfinished.empty() ? options.output : files->folder;
    why = where + " cannot be written (" + strerror(errno == 0 ? EIO : errno) + ")";
    std::error_code ignored;
    if (!files->unfinished.empty()) std::filesystem::remove_all(files->unfinished, ignored);
    return nullptr;
  }
  files->make_files();
  return std::shared_ptr<Recording>(new Recording(std::move(files)));
}

Recording::Recording(std::unique_ptr<Files> files) : files_(std::move(files)) {}

Recording::~Recording() {
  // A forked child has no worker to stop. Memory still used by a worker is never freed.
  const bool is_free =
      files_->process == getpid() &&
      (files_->is_worker_gone || (!files_->is_finished.load() && files_->worker.stop(false)));
  if (!is_free) static_cast<void>(files_.release());
}

const std::string& Recording::folder() const {
  return files_->folder;
}

const RecordingOptions& Recording::options() const {
  return files_->options;
}

bool Recording::has_device(std::uint16_t device) const {
  return files_->device(device) != nullptr;
}

std::uint64_t Recording::begin_ns() const {
  return files_->begin.monotonic_ns;
}

void Recording::append(HostFile file, const void* record, std::size_t used_bytes) {
  if (!files_->is_parents())
    files_->host[static_cast<std::size_t>(file)]->append(record, used_bytes);
}

void Recording::append(std::uint16_t device, DeviceFile file, const void* record) {
  DeviceFiles* const files = files_->device(device);
  if (files == nullptr || files_->is_parents()) return;
  if (!files->has_folder.load(std::memory_order_acquire)) files_->make_device(*files);
  files->files[static_cast<std::size_t>(file)]->append(record);
}

std::uint64_t Recording::intern(std::string_view text) {
  const std::uint64_t hash = text_hash(text);
  intern(hash, text);
  return hash;
}

void Recording::intern(std::uint64_t hash, std::string_view text) {
  if (files_->hashes->has(hash) || files_->is_parents()) return;
  files_->hashes->add(hash, std::to_string(hash), text);
}

void Recording::name_type(std::uint16_t level, std::uint32_t type, std::string_view name) {
  const std::uint64_t key = std::uint64_t{level} << 32U | type;
  if (files_->types->has(key) || files_->is_parents()) return;
  files_->types->add(key, std::to_string(level) + "_" + std::to_string(type), name);
}

std::atomic<std::uint32_t>* Recording::turns(std::uint16_t device, std::uint16_t stream,
                                             RecordSide side) {
  DeviceFiles* const files = files_->device(device);
  if (files == nullptr) return nullptr;
  return &files->turns[static_cast<std::size_t>(side)][stream % kStreams];
}

void Recording::finish(bool at_exit) {
  Files& files = *files_;
  if (files.process != getpid() || files.is_finished.exchange(true)) return;
  // Stops before the end time is read, so that the last samples are in the recording.
  if (files.usage != nullptr) files.usage->stop();
  const ClockMoment end = now();
  files.for_each([](SliceFile& file) { file.refuse(); });
  files.is_worker_gone = files.worker.stop(at_exit);
  files.for_each([&](SliceFile& file) { file.finish(at_exit); });
  files.hashes->finish(at_exit);
  files.types->finish(at_exit);
  const std::uint64_t lost_records = lost();
  bool is_good = fill_reserved(files.folder + "/host", "/end_info",
                               end_info(end, {{lost_records, removed()}}));
  for (const auto& device : files.devices) {
    if (!device->has_folder.load()) continue;
    const std::string name = "/end_info." + std::to_string(device->number);
    is_good = fill_reserved(device->folder, name, end_info(end, std::nullopt)) && is_good;
  }
  if (!is_good)
    runtime::say(files.folder +
                 ": end_info cannot be written, the end of the recording is unknown");
  if (lost_records > 0) {
    runtime::say(files.folder + ": " + std::to_string(lost_records) +
                 " records were dropped for lack of space (" + files.why_lost() +
                 "): the profile is partial");
  }
  if (removed() > 0) {
    runtime::say(files.folder + ": the oldest " + std::to_string(removed()) +
                 " records were deleted at the storage limit");
  }
}

std::uint64_t Recording::removed() const {
  return files_->space.removed_records();
}

std::uint64_t Recording::lost() const {
  std::uint64_t sum = files_->hashes->lost() + files_->types->lost();
  if (files_->usage != nullptr) sum += files_->usage->lost();
  files_->for_each([&](const SliceFile& file) { sum += file.lost(); });
  return sum;
}

}  // namespace msprof::acl
