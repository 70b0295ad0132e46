#include "import/lacking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"

namespace msprof {

namespace {

struct UnreadKind {
  std::string_view stem;  // the name of the kind begins or ends with it; the first that fits counts
  std::string_view product;
};

// cann_system.md 1.1 and 22, cann_device.md 2.
constexpr UnreadKind kUnread[] = {
    {"npu_module_mem", "memory of the NPU by module"},
    {"npu_mem", "memory of the NPU"},
    {"hbm", "HBM bandwidth"},
    {"ddr", "DDR bandwidth"},
    {"llc", "last level cache"},
    {"pcie", "PCIe traffic"},
    {"hccs", "HCCS traffic"},
    {"nic", "NIC traffic"},
    {"roce", "RoCE traffic"},
    {"netdev_stats", "network device statistics"},
    {"dvpp", "DVPP usage"},
    {"host_sys_cpu", "CPU usage"},
    {"host_cpu", "CPU usage of the host"},
    {"host_mem", "memory usage of the host"},
    {"host_sys_mem", "memory usage"},
    {"host_disk", "disk usage of the host"},
    {"host_network", "network usage of the host"},
    {"host_syscall", "system calls of the host"},
    {"host_pthreadcall", "pthread calls of the host"},
    {"CpuUsage.data", "CPU usage"},
    {"Memory.data", "memory usage"},
    {"stars_soc_profile", "counters of the SoC (ACC PMU, SIO, chip transmissions)"},
    {"socpmu", "SoC PMU"},
    {"qos", "QoS bandwidth"},
    {"static_op_mem", "static operator memory"},
    {"ai_ctrl_cpu", "samples of the AI and control CPUs"},
    {"ctrlcpu", "samples of the control CPU"},
    {"tscpu", "samples of the TS CPU"},
    {"instr", "BIU performance of the cores"},
    {"ub.data", "UB traffic"},
    {"ccu", "CCU missions and channels"},
    {"nano_stars_profile", "tasks of a nano chip"},
    {"ts_track.aiv_data", "task scheduler records of the vector cores"},
    {"Framework", "operators of a CANN 5 host"},
    {"runtime", "runtime calls of a CANN 5 host"},
    {"AclModule", "API calls of a CANN 5 host"},
    {"Msprof", "ranges of a CANN 5 application"},
    {"HCCL", "collectives of a CANN 5 host"},
    {"cont", "cont files of recurrent networks"},
};

}  // namespace

std::string product_of_unread(std::string_view stem) {
  const auto* found =
      std::find_if(std::begin(kUnread), std::end(kUnread), [&](const UnreadKind& kind) {
        return stem.starts_with(kind.stem) || stem.ends_with(kind.stem);
      });
  if (found != std::end(kUnread)) return std::string(found->product);
  return stem.empty() ? "files of no known kind" : fmt::format("files of {}", printable(stem));
}

}  // namespace msprof
