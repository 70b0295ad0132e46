#include "import/cann/join/device_types.hpp"

#include <iterator>

namespace msprof::cann {

namespace {

// cann_device.md 4.1
constexpr std::string_view kStarsTypes[] = {
    "AI_CORE",          "AI_CPU",         "AIV_SQE",           "PLACE_HOLDER_SQE",
    "EVENT_RECORD_SQE", "EVENT_WAIT_SQE", "NOTIFY_RECORD_SQE", "NOTIFY_WAIT_SQE",
    "WRITE_VALUE_SQE",  "VQ6_SQE",        "TOF_SQE",           "SDMA_SQE",
    "VPC_SQE",          "JPEGE_SQE",      "JPEGD_SQE",         "DSA_SQE",
    "ROCCE_SQE",        "PCIE_DMA_SQE",   "HOST_CPU_SQE",      "CDQM_SQE",
    "C_CORE_SQE"};
constexpr std::string_view kHwtsTypes[] = {
    "AI_CORE",           "AI_CPU",           "AIV_SQE",
    "PLACE_HOLDER_SQE",  "EVENT_RECORD_SQE", "EVENT_WAIT_SQE",
    "NOTIFY_RECORD_SQE", "NOTIFY_WAIT_SQE",  "WRITE_VALUE_SQE",
    "SDMA_SQE",          "MAX_SQE"};
// cann_device.md 19: the runtime's own task types
constexpr std::string_view kMiniTypes[] = {
    "kernel AI core task", "kernel AI cpu task", "event record task", "stream wait event task",
    "fusion issue task",   "memory copy task",   "maintenance task"};
// cann_device.md 5.4
constexpr std::string_view kSubTaskTypes[] = {"AIC",
                                              "AIV",
                                              "",
                                              "Notify Wait",
                                              "Notify Record",
                                              "Write Value",
                                              "MIX_AIC",
                                              "MIX_AIV",
                                              "SDMA",
                                              "Data Context",
                                              "Invalidate Data Context",
                                              "Writeback Data Context",
                                              "AI_CPU",
                                              "Load Context",
                                              "",
                                              "DSA"};

template <std::size_t kCount>
std::string_view at(const std::string_view (&names)[kCount], unsigned number) {
  return number < kCount ? names[number] : std::string_view();
}

}  // namespace

std::string_view sqe_type_name(ChipFamily family, unsigned number) {
  if (family == ChipFamily::stars) return at(kStarsTypes, number);
  if (family == ChipFamily::mini) return at(kMiniTypes, number);
  return at(kHwtsTypes, number);
}

std::string_view sub_task_type_name(unsigned number) {
  return at(kSubTaskTypes, number);
}

}  // namespace msprof::cann
