// Cost of recording, and throughput of the convolution.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/engine/clock.hpp"
#include "runtime/engine/kernels/kernels.hpp"
#include "runtime/svp/profile/machine_model.hpp"
#include "runtime/svp/profile/record_file.hpp"

namespace {

using namespace msprof::runtime;

// One record as an execution writes it: two clock readings, the units, the record in its file.
void one_record(benchmark::State& state) {
  std::string folder = (std::filesystem::temp_directory_path() / "msprof_bench_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return state.SkipWithError("no temporary folder");
  {
    WriteHealth health;
    RecordFile file(folder + "/aicore", RecordKind::kAicore, health);
    LayerWork work;
    work.macs = work.padded_macs = 1'000'000;
    work.input_bytes = work.output_bytes = 100'000;
    for (auto _ : state) {
      SvpAicoreRecord record;
      record.start_ns = monotonic_ns();
      record.total_cycles = monotonic_ns() - record.start_ns;
      model_units(work, 1, record);
      file.append(&record, record.start_ns, record.start_ns + record.total_cycles);
    }
    if (health.lost_records() != 0) state.SkipWithError("records were lost");
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK(one_record);

// A 3 × 3 convolution with padding 1 on a square image; the counter is floating-point operations
// per second.
void convolution_3x3(benchmark::State& state) {
  const int64_t channels = state.range(0), size = state.range(1);
  WindowGeometry g;
  g.in_channels = g.out_channels = channels;
  g.in_height = g.in_width = g.out_height = g.out_width = size;
  g.kernel_height = g.kernel_width = 3;
  g.pad_height = g.pad_width = 1;
  const std::vector<float> input(static_cast<std::size_t>(channels * size * size), 0.5F);
  const std::vector<float> weights(static_cast<std::size_t>(channels * channels * 9), 0.25F);
  const std::vector<float> ones(static_cast<std::size_t>(channels), 1.0F);
  std::vector<float> packed(packed_weight_floats(g)), scratch(convolution_scratch_floats(g)),
      output(input.size());
  pack_weights(g, weights.data(), packed.data());
  for (auto _ : state) {
    convolve(g, input.data(), packed.data(),
             {ones.data(), ones.data(), Activation::kNoActivation, 0.0F}, scratch.data(),
             output.data());
    benchmark::DoNotOptimize(output.data());
  }
  const double operations = 2.0 * 9.0 * static_cast<double>(channels * channels * size * size);
  state.counters["FLOPS"] =
      benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(convolution_3x3)->Args({16, 64})->Args({64, 56})->Args({128, 28});

}  // namespace

BENCHMARK_MAIN();
