#include "support/prof/run_ops.hpp"

#include <algorithm>

namespace msprof::test::prof {

namespace {

struct OpType {
  const char* type;
  Core core;
};
constexpr OpType kTypes[] = {{"MatMulV2", Core::aic},
                             {"Add", Core::aiv},
                             {"Conv2D", Core::aic},
                             {"SoftmaxV2", Core::aiv},
                             {"Cast", Core::aiv},
                             {"BatchMatMulV2", Core::aic},
                             {"FlashAttentionScore", Core::mix_aic},
                             {"LayerNormV3", Core::aiv},
                             {"NonZero", Core::aicpu},
                             {"MoeDistributeDispatch", Core::mix_aiv},
                             {"Transpose", Core::aiv},
                             {"GroupedMatmul", Core::aic}};

Core core_on(const ProfSetup& setup, Core core) {
  if (setup.is_stars()) return core;
  if (core == Core::mix_aic) return Core::aic;
  if (core == Core::mix_aiv) core = Core::aiv;
  return core == Core::aiv && setup.aiv_num == 0 ? Core::aic : core;
}

Tensor make_tensor(Random& random, bool is_output) {
  static constexpr std::uint32_t kDims[] = {1, 8, 16, 128, 768, 1024, 4096};
  static constexpr std::uint32_t kFormats[] = {2, 29, 0, 1};
  static constexpr std::uint32_t kDataTypes[] = {0, 1, 27, 3, 9};
  Tensor tensor;
  tensor.type = is_output ? 1 : 0;
  tensor.format = kFormats[random.below(4)];
  tensor.data_type = kDataTypes[random.below(5)];
  const std::size_t dims = 1 + random.below(4);
  for (std::size_t i = 0; i < dims; ++i) tensor.shape[i] = kDims[random.below(7)];
  return tensor;
}

Counters make_counters(Random& random, std::uint64_t cycles) {
  Counters counters{};
  for (std::size_t i = 0; i < 6; ++i) counters[i] = random.below(cycles / 2 + 1);
  counters[6] = 50 + random.below(5000);
  counters[7] = random.below(counters[6]);
  return counters;
}

}  // namespace

bool is_mix(const OpKind& op) {
  return op.core == Core::mix_aic || op.core == Core::mix_aiv;
}

std::vector<RunOp> make_ops(Random& random, std::size_t count, const ProfSetup& setup) {
  static constexpr std::uint16_t kBlocks[] = {1, 8, 20, 24, 40};
  static constexpr std::uint64_t kDurations[] = {2000, 5000, 12000, 40000};
  std::vector<RunOp> ops;
  for (std::size_t i = 0; i < count; ++i) {
    const OpType& type = kTypes[i % std::size(kTypes)];
    RunOp op;
    op.kind.type = type.type;
    op.kind.core = core_on(setup, type.core);
    op.kind.name = std::string("aclnn") + type.type + "_" + std::to_string(i);
    op.kind.blocks = kBlocks[random.below(5)];
    if (is_mix(op.kind)) {
      op.kind.blocks = 2;
      op.kind.mix_ratio = 2;
    }
    const std::size_t inputs = 1 + random.below(4);
    for (std::size_t j = 0; j < inputs; ++j) op.kind.tensors.push_back(make_tensor(random, false));
    op.kind.tensors.push_back(make_tensor(random, true));
    if (i % 5 == 1) op.kind.attr = "attr:{\"axis\":" + std::to_string(i) + "}";
    op.kind.hf32 = i % 7 == 3;
    op.duration_ns = kDurations[random.below(4)];
    ops.push_back(std::move(op));
  }
  return ops;
}

TaskPmu make_pmu(Random& random, const OpKind& op, const DeviceSpan& span) {
  TaskPmu pmu;
  const std::uint64_t cycles = std::max<std::uint64_t>(1, span.end - span.start);
  pmu.cycles = cycles * std::min<std::uint64_t>(op.blocks, 20);
  pmu.counters = make_counters(random, pmu.cycles);
  const int others = is_mix(op) ? op.blocks * op.mix_ratio : 0;
  for (int i = 0; i < others; ++i) {
    const std::uint64_t part = std::max<std::uint64_t>(1, cycles / 2);
    pmu.blocks.emplace_back(part, make_counters(random, part));
  }
  return pmu;
}

}  // namespace msprof::test::prof
