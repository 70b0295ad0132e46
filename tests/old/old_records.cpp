#include "old/old_records.hpp"

#include <fmt/format.h>

#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

std::string hwts_record(unsigned type, unsigned number, std::uint16_t task, std::uint64_t tick,
                        std::uint32_t stream) {
  return Bytes()
      .put(static_cast<std::uint8_t>(type | (number & 15) << 4))
      .put(std::uint8_t{0})
      .put(std::uint16_t{0x6BD3})
      .put(std::uint16_t{0})
      .put(task)
      .put(tick)
      .put(stream)
      .fill(64)
      .bytes();
}

std::string aicore_record(unsigned number, std::uint16_t task, std::uint32_t stream,
                          std::uint64_t cycles, std::uint64_t counter) {
  Bytes bytes;
  bytes.put(static_cast<std::uint8_t>((number & 15) << 4))
      .put(std::uint8_t{0})
      .put(std::uint16_t{0x6BD3})
      .put(std::uint16_t{0})
      .put(task)
      .fill(16)
      .put(cycles)
      .put(std::uint64_t{0});
  for (int slot = 0; slot < 8; ++slot) bytes.put(counter + static_cast<unsigned>(slot));
  return bytes.put(stream).fill(128).bytes();
}

namespace {

void put_text(Bytes& bytes, const std::string& text, std::size_t room) {
  bytes.put(std::uint64_t{1}).text(text, room);
}

}  // namespace

std::string task_desc(const std::string& name, const std::string& type, std::uint64_t iteration,
                      std::uint32_t stream, std::uint16_t task, std::uint16_t batch,
                      std::uint32_t kind) {
  Bytes bytes;
  bytes.put(std::uint16_t{0x5A5A}).put(std::uint16_t{23}).put(kind);
  put_text(bytes, name, 120);
  put_text(bytes, type, 56);
  return bytes.put(iteration)
      .put(std::uint64_t{1000})
      .put(std::uint32_t{0})
      .put(std::uint32_t{8})  // blocks
      .put(std::uint32_t{1})  // model
      .put(stream)
      .put(task)
      .put(batch)
      .fill(256)
      .bytes();
}

std::string step_mark(std::uint64_t tick, std::uint16_t tag, std::uint64_t model) {
  return Bytes()
      .put(std::uint8_t{0})
      .put(std::uint8_t{10})
      .put(std::uint16_t{40})
      .put(std::uint32_t{0})
      .put(tick)
      .put(std::uint64_t{1})
      .put(model)
      .put(std::uint16_t{3})
      .put(std::uint16_t{1})
      .put(tag)
      .fill(40)
      .bytes();
}

std::string acl_call(const std::string& name, std::uint64_t begin_ns, std::uint64_t end_ns) {
  return Bytes()
      .put(std::uint16_t{0x5A5A})
      .put(std::uint16_t{0})
      .put(std::uint32_t{2})
      .put(begin_ns)
      .put(end_ns)
      .put(std::uint32_t{77})
      .put(std::uint32_t{78})
      .text(name, 64)
      .fill(128)
      .bytes();
}

std::string trace_mark(std::uint64_t tag, std::uint16_t stream, std::uint64_t tick) {
  return Bytes().put(tag).put(std::uint16_t{1}).put(stream).put(tick).bytes();
}

void write_old_info(const fs::path& folder, bool has_count_of_host) {
  write_file(folder / "info.json.0",
             R"({"platform_version": "1", "pid": "77", "DeviceInfo": [{"hwts_frequency": "100",)"
             R"( "aic_frequency": "1000", "ai_core_num": 32}]})");
  write_file(folder / "sample.json",
             R"({"ai_core_profiling": "on", "ai_core_profiling_mode": "task-based",)"
             R"( "ai_core_profiling_events": "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55",)"
             R"( "ai_core_metrics": "PipeUtilization"})");
  write_file(folder / "host_start.log.0",
             fmt::format("[Device0]\nclock_realtime: {}\nclock_monotonic_raw: {}\n{}", kOldWallNs,
                         kOldMonotonicNs, has_count_of_host ? "cntvct: 7\n" : ""));
  write_file(folder / "dev_start.log.0",
             fmt::format("clock_realtime: {}\nclock_monotonic_raw: 1\ncntvct: {}\n", kOldWallNs,
                         kOldTicks));
  write_file(folder / "start_info.0",
             fmt::format(R"({{"collectionTimeBegin": "{}", "clockMonotonicRaw": "{}"}})",
                         kOldWallNs / 1000, kOldMonotonicNs));
  write_file(folder / "end_info.0",
             fmt::format(R"({{"collectionTimeEnd": "{}", "clockMonotonicRaw": "{}"}})",
                         kOldWallNs / 1000 + 1'000'000, kOldMonotonicNs + 1'000'000'000));
}

}  // namespace msprof::test
