// Names of the software modules for which the driver reserves memory, by number. For import, which
// names counters after them, and for tables that show them. Source: cann_host.md 2.6.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace msprof {

struct ModuleName {
  std::int64_t number = 0;
  std::string_view text;
};

inline constexpr std::array kModuleNames = {
    ModuleName{0, "SLOG"},        ModuleName{1, "IDEDD"},     ModuleName{2, "SCC"},
    ModuleName{3, "HCCL"},        ModuleName{4, "FMK"},       ModuleName{5, "CCU"},
    ModuleName{6, "DVPP"},        ModuleName{7, "RUNTIME"},   ModuleName{8, "CCE"},
    ModuleName{9, "HDC"},         ModuleName{10, "DRV"},      ModuleName{11, "NET"},
    ModuleName{22, "DEVMM"},      ModuleName{23, "KERNEL"},   ModuleName{24, "LIBMEDIA"},
    ModuleName{25, "CCECPU"},     ModuleName{27, "ROS"},      ModuleName{28, "HCCP"},
    ModuleName{29, "ROCE"},       ModuleName{30, "TEFUSION"}, ModuleName{31, "PROFILING"},
    ModuleName{32, "DP"},         ModuleName{33, "APP"},      ModuleName{34, "TS"},
    ModuleName{35, "TSDUMP"},     ModuleName{36, "AICPU"},    ModuleName{37, "LP"},
    ModuleName{38, "TDT"},        ModuleName{39, "FE"},       ModuleName{40, "MD"},
    ModuleName{41, "MB"},         ModuleName{42, "ME"},       ModuleName{43, "IMU"},
    ModuleName{44, "IMP"},        ModuleName{45, "GE"},       ModuleName{47, "CAMERA"},
    ModuleName{48, "ASCENDCL"},   ModuleName{49, "TEEOS"},    ModuleName{50, "ISP"},
    ModuleName{51, "SIS"},        ModuleName{52, "HSM"},      ModuleName{53, "DSS"},
    ModuleName{54, "PROCMGR"},    ModuleName{55, "BBOX"},     ModuleName{56, "AIVECTOR"},
    ModuleName{57, "TBE"},        ModuleName{58, "FV"},       ModuleName{60, "TUNE"},
    ModuleName{61, "HSS"},        ModuleName{62, "FFTS"},     ModuleName{63, "OP"},
    ModuleName{64, "UDF"},        ModuleName{65, "HICAID"},   ModuleName{66, "TSYNC"},
    ModuleName{67, "AUDIO"},      ModuleName{68, "TPRT"},     ModuleName{69, "ASCENDCKERNEL"},
    ModuleName{70, "ASYS"},       ModuleName{71, "ATRACE"},   ModuleName{72, "RTC"},
    ModuleName{73, "SYSMONITOR"}, ModuleName{74, "AMP"},      ModuleName{75, "ADETECT"},
    ModuleName{76, "MBUFF"},      ModuleName{77, "CUSTOM"}};

// Returns an empty name for an unknown number.
constexpr std::string_view module_name(std::int64_t number) {
  for (const ModuleName& module : kModuleNames) {
    if (module.number == number) return module.text;
  }
  return {};
}

}  // namespace msprof
