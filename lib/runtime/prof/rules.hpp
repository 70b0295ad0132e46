// What profiling through calls may do when, alike for both interfaces (aclprof…, svp_acl_prof_…),
// and what it is told. The codes have the same numbers in both. Rules: docs/host_cann.md.
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

// Who profiles this process; one excludes the others.
enum class ProfMode {
  off,
  configured,  // acl.json or a collector
  api,         // between the calls init and finalize
  subscribed,  // at least one model is
};

// Codes of calls that the mode refuses, or kProfSuccess. `path` is the folder for the results.
int refusal_of_init(ProfMode mode, std::string_view path, bool is_initialized);
int refusal_of_files(ProfMode mode);          // start, stop, finalize
int refusal_of_subscription(ProfMode mode);   // subscribe, unsubscribe
int refusal_by_configuration(ProfMode mode);  // all others

// The folder for the results as it was passed: empty unless it has exactly `length` bytes.
std::string_view path_of(const char* path, std::size_t length);

// One configuration of start and stop.
struct ProfConfig {
  std::vector<std::uint16_t> devices;  // ascending; none: the host alone
  std::uint32_t metrics = kNoMetrics;  // of the interface's enumeration
  std::uint64_t bits = 0;              // those that others imply included

  bool shares_a_device(const ProfConfig& other) const;
};

// Nothing when the list breaks a rule: `ids` has `count` entries, and `existing` devices are there.
std::optional<ProfConfig> make_config(const std::uint32_t* ids, std::uint32_t count,
                                      std::uint32_t existing, std::uint32_t metrics,
                                      std::uint64_t bits);

// What start refuses before it looks at the mode: no bits, others than `supported`; `metrics_bit`
// with metrics that are none.
int check_bits(const ProfConfig& config, std::uint64_t supported, std::uint64_t metrics_bit,
               bool are_metrics);

// kProfAlreadyRun where one of `started` has a device of `config`.
int refusal_of_start(ProfMode mode, const std::vector<const ProfConfig*>& started,
                     const ProfConfig& config);
// Sets `found` to the place of what was started with `config`.
int find_started(ProfMode mode, const std::vector<const ProfConfig*>& started,
                 const ProfConfig& config, std::size_t& found);

// False for a path with a character that collection refuses: control characters and those that
// shells treat specially.
bool is_allowed_path(std::string_view path);
// The path, from the working folder where it is relative.
std::string absolute_path(std::string_view path);

// A whole number in [low, high]; nothing for other texts.
std::optional<std::uint64_t> number_in(std::string_view text, std::uint64_t low,
                                       std::uint64_t high);

}  // namespace msprof::runtime
