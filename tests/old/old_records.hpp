// Builders of the records and info files of captures of CANN 5 and of 2019 to 2021. For their tests
// and the fuzz target.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace msprof::test {

// Bytes of a record, little-endian, built field by field.
class Bytes {
 public:
  template <typename Number>
  Bytes& put(Number value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Bytes& text(const std::string& value, std::size_t room) {
    std::string field = value;
    field.resize(room, '\0');
    text_ += field;
    return *this;
  }
  Bytes& fill(std::size_t size) {
    text_.resize(size, '\0');
    return *this;
  }
  const std::string& bytes() const { return text_; }

 private:
  std::string text_;
};

// hwts record: `type` is 0 for start, 1 for end; `number` is the running number in the file.
std::string hwts_record(unsigned type, unsigned number, std::uint16_t task, std::uint64_t tick,
                        std::uint32_t stream);
std::string aicore_record(unsigned number, std::uint16_t task, std::uint32_t stream,
                          std::uint64_t cycles, std::uint64_t counter);
std::string task_desc(const std::string& name, const std::string& type, std::uint64_t iteration,
                      std::uint32_t stream, std::uint16_t task, std::uint16_t batch = 0,
                      std::uint32_t kind = 0);
std::string step_mark(std::uint64_t tick, std::uint16_t tag, std::uint64_t model = 1);
std::string acl_call(const std::string& name, std::uint64_t begin_ns, std::uint64_t end_ns);
std::string trace_mark(std::uint64_t tag, std::uint16_t stream, std::uint64_t tick);

// Writes the info files of a 910 device with a tick of 10 ns; `folder` is device_0/ or the JOB
// folder.
void write_old_info(const std::filesystem::path& folder, bool has_count_of_host = true);

// The clocks of these files: device ticks at a moment of the host's monotonic clock.
inline constexpr std::uint64_t kOldTicks = 1'000'000;
inline constexpr std::uint64_t kOldMonotonicNs = 50'000'000'000;
inline constexpr std::int64_t kOldWallNs = 1'600'000'000'000'000'000;
inline std::uint64_t old_ns(std::uint64_t tick) {
  return kOldMonotonicNs + (tick - kOldTicks) * 10;
}

}  // namespace msprof::test
