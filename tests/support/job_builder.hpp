// JobBuilder: capture folders of svp boards, built byte by byte in the test. For golden, command
// line, fuzz and bench tests. Writes records and headers directly by the tables of the format
// (svp_job.md 3 to 7), without product code, so that an error in the product cannot hide itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::test {

// One layer execution: 112 bytes.
struct AicoreRecord {
  std::uint32_t layer_id = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t total = 0;
  std::uint64_t mac_busy = 0, mac_ppen = 0, vec_busy = 0, vec_ppen = 0;
  std::uint64_t dstr = 0, dtrans = 0, dld = 0, wld = 0;
  std::uint64_t ddr_read = 0, ddr_write = 0;
  std::uint64_t execution = 0;
};

// One execution of a CPU operator: 32 bytes.
struct AicpuRecord {
  std::uint32_t layer_id = 0, thread_id = 0;
  std::uint64_t start_ns = 0, end_ns = 0, execution = 0;
};

// One call: 32 bytes.
struct AclRecord {
  std::uint32_t api_id = 0, thread_id = 0;
  std::uint64_t start_ns = 0, end_ns = 0;
};

// Overrides of values in a file header.
struct HeaderChange {
  std::string magic = "MSVP";
  std::uint16_t version = 1;
  std::optional<std::uint16_t> record_bytes{};  // records are padded with 0xee to this size
  std::optional<std::uint32_t> kind{};
};

// Whole files: header and records.
std::string aicore_file(const std::vector<AicoreRecord>& records, const HeaderChange& change = {});
std::string aicpu_file(const std::vector<AicpuRecord>& records, const HeaderChange& change = {});
std::string acl_api_file(const std::vector<AclRecord>& records, const HeaderChange& change = {});

// Little-endian bytes of a number.
std::string u32_bytes(std::uint32_t value);
std::string u64_bytes(std::uint64_t value);

// Returns `bytes` with `patch` written over them at `offset`.
std::string patched(std::string bytes, std::size_t offset, std::string_view patch);

// The name of a data file, in the form of the oldest boards (with `net`) or of newer ones.
struct DataName {
  std::string type = "aicore";
  std::string model = "net";
  std::int64_t model_id = 1;
  std::optional<std::int64_t> net{};
  std::int64_t batch = 1, pics = 1, current = 0;
  std::int64_t device = 0;
  std::string text() const;
};

// The `.done` file of a data file.
struct Done {
  bool written = true;
  std::optional<std::uint64_t> file_len{};  // empty: the size of the data
  std::optional<std::uint64_t> cache_hit{}, cache_mis{};
  std::optional<std::uint64_t> pid{}, tid{};
  std::string batch_numbers{};        // "1,2": the optional last line, without newline
  std::optional<std::string> text{};  // replaces the whole file
};
inline const Done kNoDone{.written = false};

struct LayerLine {
  std::int64_t layer_id = 0, net_id = 0;
  std::string type, task_type, name, original_names;
};

struct NetInfo {
  std::string model_name{};  // empty: as in the file name
  std::int64_t net_id = 0;
  std::string net_type = "CNN";
  std::string batch_num = "1";
  std::int64_t layer_num = 0;
};

// The text of info.json.N for the three board generations.
enum class Generation { ss928, hi3519, hi3516 };
std::string info_json_text(Generation generation, const std::string& frequency);

class JobBuilder {
 public:
  // Makes parent/name with an empty data folder.
  explicit JobBuilder(const std::filesystem::path& parent,
                      const std::string& name = "JOBNQMIARCTRDJATNRTRSOITDNRDSNYG");

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path store() const { return folder_ / "sqlite" / "msprof.db"; }

  JobBuilder& info_json(const std::string& frequency, Generation generation = Generation::ss928,
                        int device = 0);
  JobBuilder& net_info(const std::string& model, std::int64_t model_id, const NetInfo& net = {});
  JobBuilder& layer_info(const std::string& model, std::int64_t model_id,
                         const std::vector<LayerLine>& layers);
  // Adds data/<name> and its .done.
  JobBuilder& data(const std::string& name, std::string_view bytes, const Done& done = {});
  JobBuilder& data(const DataName& name, std::string_view bytes, const Done& done = {}) {
    return data(name.text(), bytes, done);
  }
  // Adds any file; `name` is relative to the capture's folder.
  JobBuilder& file(const std::string& name, std::string_view bytes);
  JobBuilder& remove(const std::string& name);

 private:
  std::filesystem::path folder_;
};

}  // namespace msprof::test
