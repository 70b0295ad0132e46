// A Perfetto trace decoded with protobuf's own reader and assembled by the rules of the format:
// sequences, clocks, interned texts, starts and ends. For the tests of the writer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace msprof::test {

struct PerfettoSlice {
  std::string process, track, name;
  std::uint64_t track_uuid = 0;
  std::int64_t begin_ns = 0;
  std::int64_t length_ns = 0;
  std::vector<std::string> arguments;  // "key=value", in order
  std::vector<std::uint64_t> flows, last_flows;
};

struct PerfettoSample {
  std::string process, track;
  std::int64_t time_ns = 0;
  double value = 0;
};

struct PerfettoTrace {
  std::vector<PerfettoSlice> slices;  // in order of their start
  std::vector<PerfettoSlice> marks;
  std::vector<PerfettoSample> samples;
  std::map<std::string, std::int32_t> processes;  // pid by name
  std::map<std::string, std::vector<std::string>> labels;
  std::size_t packets = 0;
  std::vector<std::string> faults;  // violations of the format; empty for a good trace
};

PerfettoTrace read_perfetto_trace(const std::string& bytes);

}  // namespace msprof::test
