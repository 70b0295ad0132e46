// Rules for the order and the arguments of profiling calls, shared by both interfaces (aclprof…,
// svp_acl_prof_…). The error codes have the same numbers in both. Codes: acl/api/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::runtime {

inline constexpr int kProfSuccess = 0;
inline constexpr int kProfInvalidParam = 100000;
inline constexpr int kProfUninitialized = 100001;
inline constexpr int kProfRepeatInitialize = 100002;
inline constexpr int kProfInvalidFile = 100003;
inline constexpr int kProfInvalidConfig = 100010;
inline constexpr int kProfInvalidModel = 100011;
inline constexpr int kProfAlreadyRun = 100042;
inline constexpr int kProfNotRun = 100043;
inline constexpr int kProfRepeatSubscribe = 148046;
inline constexpr int kProfApiConflict = 148047;
inline constexpr int kProfModulesUnsupported = 200007;

inline constexpr std::uint32_t kNoMetrics = 0xFF;
inline constexpr std::size_t kMaxProfPathBytes = 4096;

// The source that requested profiling of this process; only one at a time.
enum class ProfMode {
  off,
  configured,  // by acl.json or a collector
  api,         // between the calls init and finalize
  subscribed,  // at least one model is subscribed
};

// These functions return the error if the mode forbids the call, else kProfSuccess. `path` is the
// output folder.
int refusal_of_init(ProfMode mode, std::string_view path, bool is_initialized);
int refusal_of_files(ProfMode mode);          // for start, stop, finalize
int refusal_of_subscription(ProfMode mode);   // for subscribe, unsubscribe
int refusal_by_configuration(ProfMode mode);  // for all other calls

// Returns `path`; empty unless it has exactly `length` bytes.
std::string_view checked_path(const char* path, std::size_t length);

// Configuration passed to start and stop.
struct ProfConfig {
  std::vector<std::uint16_t> devices;  // ascending; empty: host only
  std::uint32_t metrics = kNoMetrics;  // value of the C interface's enumeration
  std::uint64_t bits = 0;              // including implied bits

  bool shares_a_device(const ProfConfig& other) const;
};

// Returns nullopt if the list is invalid. `ids` has `count` entries; `existing` is the number of
// devices.
std::optional<ProfConfig> make_config(const std::uint32_t* ids, std::uint32_t count,
                                      std::uint32_t existing, std::uint32_t metrics,
                                      std::uint64_t bits);

// Checks performed by start before it checks the mode. Rejects empty bits, bits not in `supported`,
// and `metrics_bit` with invalid metrics.
int check_bits(const ProfConfig& config, std::uint64_t supported, std::uint64_t metrics_bit,
               bool are_metrics);

// Returns kProfAlreadyRun if one of `started` shares a device with `config`.
int refusal_of_start(ProfMode mode, const std::vector<const ProfConfig*>& started,
                     const ProfConfig& config);
// Sets `found` to the index of the entry that was started with `config`.
int find_started(ProfMode mode, const std::vector<const ProfConfig*>& started,
                 const ProfConfig& config, std::size_t& found);

// Returns false if the path contains a character that collection rejects: control characters and
// characters that are special in shells.
bool is_allowed_path(std::string_view path);
// Makes a relative path absolute, from the working folder.
std::string absolute_path(std::string_view path);

// Parses an integer in [low, high]; empty for any other text.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t low,
                                          std::uint64_t high);

}  // namespace msprof::runtime
