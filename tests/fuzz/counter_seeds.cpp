#include "counter_seeds.hpp"

#include <array>
#include <cstdint>

namespace msprof::fuzz {

namespace {

// Appends fixed-width integers to a byte string.
class CounterBytes {
 public:
  template <typename Number>
  CounterBytes& put(Number value, std::size_t times = 1) {
    for (std::size_t i = 0; i < times; ++i)
      text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  CounterBytes& u16(std::uint16_t value) { return put(value); }
  CounterBytes& u32(std::uint32_t value, std::size_t times = 1) { return put(value, times); }
  CounterBytes& u64(std::uint64_t value, std::size_t times = 1) { return put(value, times); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

constexpr std::uint32_t kSamples = 3;
constexpr std::uint64_t kStepUs = 10'000;
constexpr std::uint64_t kTicks = 250'000'000;  // device clock at its start, as in ProfSetup
constexpr std::uint64_t kStepTicks = 500'000;  // 10 ms
constexpr std::uint64_t kHostTicks = 500'000'000;

std::string npu_mem(std::uint32_t event) {
  CounterBytes bytes;
  for (std::uint32_t i = 0; i < kSamples; ++i)
    bytes.u32(i * kStepUs).u32(event).u64(0).u64(4096).u64((i + 1) << 20);
  return bytes.text();
}

std::string npu_module_mem() {
  CounterBytes bytes;
  for (std::uint32_t i = 0; i < kSamples; ++i)
    bytes.u32(i * 7).u32(0).u64(kHostTicks + i * 1000).u64(i == 2 ? UINT64_MAX : 65'536);
  return bytes.text();
}

std::string hbm() {
  CounterBytes bytes;
  for (std::uint32_t i = 0; i < kSamples; ++i)
    for (const std::uint32_t event : {0U, 1U}) bytes.u64(i * kStepUs).u64(4096).u32(event).u32(1);
  return bytes.text();
}

std::string ddr() {
  CounterBytes bytes;
  for (std::uint32_t i = 0; i < kSamples; ++i)
    for (const std::uint32_t master : {0xFFFFFFFFU, 3U})
      bytes.u32((i + 1) * kStepUs).u32(5000).u32(i % 2).u32(0).u32(master);
  return bytes.text();
}

std::string llc() {
  CounterBytes bytes;
  for (std::uint32_t i = 0; i < kSamples; ++i)
    for (const std::uint32_t event : {0x00U, 0x01U, 0x02U, 0x13U, 0x20U, 0x22U, 0x34U, 0x36U})
      bytes.u64(i * kStepUs).u64(1000 + event).u32(event).u32(0);
  return bytes.text();
}

std::string pcie() {
  CounterBytes bytes;
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    bytes.u64(4'000'000'000 + i * kStepUs * 1000).u32(0);
    for (std::uint32_t group = 0; group < 7; ++group)
      bytes.u32(i == 1 ? 0xFFFFF : 10).u32(30).u32(20 + group);
  }
  return bytes.text();
}

// `func` in the low bits of the first byte, and the body at offset 32.
std::string stars_record(std::uint16_t head, std::uint64_t ticks, std::uint16_t id,
                         const CounterBytes& body) {
  CounterBytes bytes;
  bytes.u16(head).u16(0x6BD3).u32(0).u64(ticks).u16(0).u16(id).u32(0, 3);
  std::string text = bytes.text() + body.text();
  text.resize(64);
  return text;
}

std::string stars_counters() {
  std::string text;
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    const std::uint64_t ticks = kTicks + i * kStepTicks;
    text += stars_record(26, ticks, 1, CounterBytes().u64(5).u64(6).u64(7).u64(8));
    text += stars_record(28, ticks, 0, CounterBytes().u16(0x1F3));
    text += stars_record(25, ticks, 0, CounterBytes().u32(1 << 20, 8));
    text +=
        stars_record(static_cast<std::uint16_t>(27 | 63 << 10), ticks, 2, CounterBytes().u64(9, 2));
    text +=
        stars_record(static_cast<std::uint16_t>(27 | 34 << 10), ticks, 3, CounterBytes().u64(9, 2));
    text += stars_record(24, ticks, 0, CounterBytes().u16(4).u16(0).u32(10, 7));
    text += stars_record(29, ticks, 0, CounterBytes().u32(900, 8));
  }
  return text;
}

std::string qos() {
  CounterBytes bytes;
  for (std::uint32_t i = 0; i < kSamples; ++i)
    bytes.u32(0, 2).u64(0).u64(kTicks + i * kStepTicks).u32(4096 + i, 10);
  return bytes.text();
}

std::string soc_pmu() {
  CounterBytes bytes;
  for (std::uint16_t i = 0; i < kSamples; ++i)
    bytes.u64(0).u16(0).u16(3).u16(i).u16(2).u64(10, 2).u64(6, 2).u64(0, 4);
  return bytes.text();
}

std::string voltage() {
  std::string text;
  for (std::uint32_t type = 0; type < 3; ++type) {
    CounterBytes bytes;
    bytes.u32(2).u32(type);
    for (std::uint32_t i = 0; i < 2; ++i)
      bytes.u64(kTicks + i * kStepTicks).u32(900 - 100 * i).u32(0);
    std::string record = bytes.text();
    record.resize(888);
    text += record;
  }
  return text;
}

std::string ts_cpu() {
  CounterBytes bytes;
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    bytes.u32(0xABABABAB).u32(0).u64(0x1000, 20).u32(0, 2).u64(0x2000 + i).u64(kTicks + i);
    for (std::uint64_t event = 0x08; event < 0x16; event += 2) bytes.u64(event).u64(100 + event);
  }
  return bytes.text();
}

std::string ub() {
  CounterBytes bytes;
  for (std::uint32_t i = 0; i < kSamples; ++i)
    bytes.u16(0x5A5A).u16(0).u16(1).u16(0).u64(i * kStepUs).u64(100 + i, 14);
  return bytes.text();
}

std::string static_memory() {
  std::string text;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    CounterBytes bytes;
    bytes.u16(0x5A5A).u16(10'000).u32(0x514).u32(9).u32(56).u64(kHostTicks + i);
    bytes.u64(4096).u64(i).u64(i).u64(i == 2 ? 4'294'967'294 : i + 1).u64(65'536).u64(1).u32(1);
    std::string record = bytes.text();
    record.resize(256);
    text += record;
  }
  return text;
}

// Lines that start with a timestamp: the device started at 4 s.
std::string stamped(std::string_view header, std::string_view rest) {
  std::string text(header);
  for (int i = 0; i < 3; ++i) {
    text += "4:0" + std::to_string(i + 1) + "0000000 ";
    for (const char c : rest) text += c == '#' ? std::to_string(i * 100 + 7) : std::string(1, c);
    text += '\n';
  }
  return text;
}

std::string block(int number, std::string_view lines) {
  std::string text = "TimeStamp:50" + std::to_string(number) +
                     "0000000\nIndex:" + std::to_string(number) + "\nDataLen:100\n";
  text += lines;
  return text + "\n";
}

std::string blocks(std::string_view lines) {
  return block(0, lines) + block(1, lines) + block(2, lines);
}

constexpr std::string_view kCpus =
    "cpu  100 0 50 800 5 1 2 0 0 0\ncpu0 60 0 30 300 3 1 1 0 0 0\ncpu1 40 0 20 500 2 0 1 0 0 0\n\n";
constexpr std::string_view kProcess =
    "ProcessName:python3\n4321 (python3) S 1 4321 4321 0 -1 4194304 10 0 0 0 200 100 5 4 20 0 3 0"
    " 1 2 3\ncpu  100 0 50 800 5 1 2 0 0 0\n\n";
constexpr std::string_view kMemory =
    "MemTotal:       1000000 kB\nMemFree:         500000 kB\nBuffers:           1000 kB\n"
    "Cached:           20000 kB\nShmem:              100 kB\nCommitLimit:     900000 kB\n"
    "Committed_AS:    400000 kB\nHugePages_Total:       0\nHugePages_Free:        0\n\n";
constexpr std::string_view kProcessMemory = "ProcessName:python3\n20000 5000 100 50 0 4000 0\n\n";

std::string host_cpu() {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    text += "time 50" + std::to_string(i) + "0000000\n" + std::to_string(1000 + i) +
            ".50 2000.00\n4321 (python3) R 4322 1 1 0 -1 0 0 0 0 0 " + std::to_string(100 * i) +
            " 20 0 0 20 0 1 0 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 17 1 0 0\n";
  }
  return text;
}

std::string host_network() {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    text += "time 50" + std::to_string(i) + "0000000\n  eth0: " + std::to_string(i * 100'000) +
            " 10 0 0 0 0 0 0 " + std::to_string(i * 50'000) + " 10 0 0 0 0 0 0\n";
  }
  return text;
}

constexpr std::string_view kSystemCalls =
    "1000.100 ( 0.010 ms): python3/4322 read(fd: 3, buf: 0x7f, count: 64) = 64\n"
    "1000.200 ( 0.500 ms): python3/4323 futex(uaddr: 0x7f) = 0\n";
constexpr std::string_view kThreadCalls =
    "[pid 4322] 1700000000.100000 python3->pthread_mutex_lock(0x7f) = 0 <0.000010>\n"
    "[pid 4322] 1700000000.200000 python3->pthread_once(0x7f) = 0 <0.000010>\n";
constexpr std::string_view kCpuSamples =
    "python3 4321/4321 [000] 5000.100000: 1000 r11:\n"
    "        ffff0000 do_work+0x10 (/usr/bin/python3)\n"
    "        ffff0010 main+0x20 (/usr/bin/python3)\n\n"
    "python3 4321/4321 [001] 5000.200000: 2000 raw 0x8:\n"
    "        ffff0000 [unknown] (/usr/lib/libc.so)\n\n";

NamedBytes device_file(std::string_view stem, std::string bytes) {
  return {"device_0/data/" + std::string(stem) + ".0.slice_0", std::move(bytes)};
}
NamedBytes host_file(std::string_view stem, std::string_view bytes) {
  return {"host/data/" + std::string(stem) + ".slice_0", std::string(bytes)};
}

}  // namespace

void describe_counters(test::prof::ProfSetup& setup) {
  setup.sample["hbm_profiling_events"] = "\"read,write\"";
  setup.sample["llc_profiling"] = "\"read\"";
  setup.sample["qosEvents"] = "\"DVPP_VPC,AICORE\"";
  setup.sample["npuEvents"] = "\"HA:0x1;SMMU:0x2,0x8a,0x8c,0x8d\"";
  setup.sample["host_disk_freq"] = "50";
  setup.sample["ai_ctrl_cpu_profiling_events"] = "\"0x11,0x8\"";
  setup.sample["ts_cpu_profiling_events"] = "\"0x11,0x8\"";
  setup.info["cpuNums"] = "2";
  setup.info["sysClockFreq"] = "100";
  setup.info["memoryTotal"] = "1000000";
  setup.info["netCardNums"] = "1";
  setup.info["netCard"] = R"([{"netCardName": "eth0", "speed": 10000}])";
}

std::vector<NamedBytes> counter_files() {
  std::vector<NamedBytes> files = {
      device_file("npu_mem.app", npu_mem(0)),
      device_file("npu_mem.data", npu_mem(1)),
      device_file("npu_module_mem.data", npu_module_mem()),
      device_file("hbm.data", hbm()),
      device_file("ddr.data", ddr()),
      device_file("llc.data", llc()),
      device_file("pcie.data", pcie()),
      device_file("stars_soc_profile.data", stars_counters()),
      device_file("qos.data", qos()),
      device_file("ub.data", ub()),
      device_file("socpmu.data", soc_pmu()),
      device_file("lpmInfoConv.data", voltage()),
      device_file("tscpu.data", ts_cpu()),
      host_file("unaging.additional.static_op_mem", static_memory()),
      device_file("hccs.data", stamped("time_stamp(s):time_stamp(ns) send_amount "
                                       "receive_amount\n",
                                       "# #")),
      device_file("nic.data", stamped("", "10000 # # # # 0 0 # # # # 0 0 0")),
      device_file("roce.data", stamped("timestamp bandwidth rxPacket/s rxByte/s\n",
                                       "10000 # # # # # 0 # # # # 0 # 1")),
      device_file("dvpp.data", stamped("time dvpp_id engine_type\n", "0 4 1 # # 50% # # 40% 1 1")),
      device_file("netdev_stats.data",
                  "5010000000 0 0 1 1 0 0 1 1 0 0 0 0 0 1 1\n"
                  "5020000000 1 1 9 9 0 0 9 9 1 1 2 2 3 9 9\n"),
      device_file("SystemCpuUsage.data", blocks(kCpus)),
      device_file("4321-CpuUsage.data", blocks(kProcess)),
      device_file("Memory.data", blocks(kMemory)),
      device_file("4321-Memory.data", blocks(kProcessMemory)),
      device_file("ai_ctrl_cpu.data", std::string(kCpuSamples)),
      host_file("host_sys_cpu.data", blocks(kCpus)),
      host_file("4321-CpuUsage.data", blocks(kProcess)),
      host_file("host_sys_mem.data", blocks(kMemory)),
      host_file("4321-Memory.data", blocks(kProcessMemory)),
      host_file("host_cpu.data", host_cpu()),
      host_file("host_mem.data",
                "5000000000 20000 5000 100\n5010000000 20000 6000 100\n"
                "5020000000 20000 7000 100\n"),
      host_file("host_disk.data",
                "start_time 5000000000\n"
                "00:00:01 4321 be/4 root 10.00 K/s 1.00 M/s 0.00 % 5.00 % python3\n"
                "00:00:02 4321 be/4 root 20.00 B/s 2.00 G/s 0.00 % 95.00 % python3\n"),
      host_file("host_network.data", host_network()),
      host_file("host_syscall.data", kSystemCalls),
      host_file("host_pthreadcall.data", kThreadCalls)};
  for (NamedBytes& file : new_kind_files()) files.push_back(std::move(file));
  return files;
}

bool is_counter_text(const std::string& name) {
  for (const NamedBytes& file : counter_files()) {
    if (file.first == name) {
      return file.second.find('\0') == std::string::npos;
    }
  }
  return false;
}

}  // namespace msprof::fuzz
