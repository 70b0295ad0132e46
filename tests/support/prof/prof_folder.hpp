// ProfFolder: a PROF folder of an Atlas machine, written record by record into slices, with its
// info files and dictionaries. For golden, damage, fuzz and bench tests. Built by the tables of the
// format, without product code, so that an error in the product cannot hide itself.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "support/prof/device_records.hpp"
#include "support/prof/host_records.hpp"
#include "support/prof/other_host_records.hpp"
#include "support/prof/prof_setup.hpp"

namespace msprof::test::prof {

inline constexpr std::string_view kProfName = "PROF_000001_20231114221320000_ABCDEFGHIJKLMNOP";

class ProfFolder {
 public:
  // Makes parent/name with host/data and a device_N/data for each device.
  explicit ProfFolder(const std::filesystem::path& parent, const ProfSetup& setup = {},
                      std::string_view name = kProfName);
  ~ProfFolder();
  ProfFolder(const ProfFolder&) = delete;
  ProfFolder& operator=(const ProfFolder&) = delete;

  const ProfSetup& setup() const { return setup_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path store() const { return folder_ / "sqlite" / "msprof.db"; }
  std::filesystem::path products() const { return folder_ / "mindstudio_profiler_output"; }

  // Appends a record to the slices of a stem: "aging.compact.task_track", "stars_soc.data".
  void host(std::string_view stem, std::string_view record);
  void device(int device, std::string_view stem, std::string_view record);
  template <typename Record>
  void host(const Record& record) {
    host(Record::kStem, bytes(record));
  }
  template <typename Record>
  void device(int number, const Record& record) {
    device(number, Record::kStem, bytes(record));
  }

  // Maximum size of a slice; a record that would exceed it starts a new one.
  void set_slice_limit(std::uint64_t bytes) { slice_limit_ = bytes; }
  // Starts a new slice for the following records of this stem; `device` -1 is the host.
  void next_slice(std::string_view stem, int device = -1);

  // Returns the hash of a text and adds it to hash_dic; 0 for an empty text.
  std::uint64_t hash(std::string_view text);
  void set_hash(std::uint64_t hash, std::string_view text);
  void set_type(std::uint32_t level, std::uint32_t type, std::string_view name);

  // Writes the remaining slices with their .done, dictionaries and info files. Can be called again
  // after more records.
  void finish();

  std::uint64_t raw_bytes() const { return raw_bytes_; }

 private:
  struct Slices {
    std::filesystem::path path;  // without the number
    int next = 0;
    int fd = -1;
    std::uint64_t size = 0;
    std::string buffer;
  };
  Slices& slices(int device, std::string_view stem);
  void append(Slices& slices, std::string_view record);
  void drain(Slices& slices);
  void close(Slices& slices);
  void write_dictionaries();
  void write_info_files();

  ProfSetup setup_;
  std::filesystem::path folder_;
  std::uint64_t slice_limit_ = 20u << 20;
  std::uint64_t raw_bytes_ = 0;
  std::map<int, std::map<std::string, Slices, std::less<>>> open_;  // by device and stem
  std::map<std::uint64_t, std::string> texts_;
  std::unordered_map<std::string, std::uint64_t> hashes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> types_;
};

}  // namespace msprof::test::prof
