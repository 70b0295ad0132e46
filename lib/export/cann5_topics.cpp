#include "export/cann5_topics.hpp"

#include "export/cann_rules.hpp"
#include "export/products.hpp"

namespace msprof {

const std::vector<Cann5Timeline>& cann5_timelines() {
  static const std::vector<Cann5Timeline> topics = {
      {"ai_stack_time", {"cann", "ascend_hardware"}},
      {"thread_group", {"cann"}},
      {"task_time", {"ascend_hardware"}},
      {"runtime_api", {"cann"}, cann::kRuntimeLevel},
      {"ge", {"cann"}, cann::kModelLevel},
      {"ge_op_execute", {"cann"}, cann::kNodeLevel},
      {"step_trace", {"step_trace"}, kStepsAlone},
      {"hccl", {"communication"}},
      {"msprof", {}},
  };
  return topics;
}

std::vector<std::unique_ptr<TimelineLayer>> cann5_layers() {
  auto layers = all_timeline_layers();
  std::erase_if(layers, [](const auto& layer) { return layer->dialect() != Dialect::cann; });
  for (auto make : {make_cann5_hardware, make_cann5_steps, make_cann5_communication}) {
    auto old = make();
    for (auto& layer : layers) {
      if (layer->name() == old->name()) std::swap(layer, old);
    }
  }
  return layers;
}

std::vector<std::unique_ptr<SummaryTable>> cann5_tables() {
  std::vector<std::unique_ptr<SummaryTable>> all;
  all.push_back(make_cann_op_summary());
  all.push_back(make_cann_op_statistic());
  all.push_back(make_cann_step_trace());
  all.push_back(make_cann_ai_stack_time());
  all.push_back(make_cann_runtime_api());
  all.push_back(make_cann_fusion_op());
  all.push_back(make_cann_task_time());
  all.push_back(make_cann_ge_op_execute());
  all.push_back(make_cann_aicpu());
  all.push_back(make_cann_dp());
  all.push_back(make_cann_l2_cache());
  for (auto& table : all) table = make_cann5_table(std::move(table));
  return all;
}

}  // namespace msprof
