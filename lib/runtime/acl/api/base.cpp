// Functions that need no device: type sizes, half floats, the application's log, names and
// versions.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "runtime/acl/api/error_message.hpp"
#include "runtime/acl/include/acl/acl_rt.h"
#include "runtime/acl/include/securec.h"
#include "runtime/engine/message.hpp"

namespace {

constexpr int kLogNothing = 4;

// Parses ASCEND_GLOBAL_LOG_LEVEL; anything except 0 to 4 means 3, error.
int log_level() {
  const char* text = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
  if (text == nullptr || text[0] < '0' || text[0] > '0' + kLogNothing || text[1] != '\0')
    return ACL_ERROR;
  return text[0] - '0';
}

const char* level_name(aclLogLevel level) {
  switch (level) {
    case ACL_DEBUG:
      return "DEBUG";
    case ACL_INFO:
      return "INFO";
    case ACL_WARNING:
      return "WARNING";
    case ACL_ERROR:
      return "ERROR";
  }
  return "ERROR";
}

// Values of aclrtSetSysParamOpt, by option. They have no effect here: results are always
// deterministic.
std::array<std::atomic<std::int64_t>, ACL_OPT_ENABLE_KERNEL_EARLY_START + 1> system_options = {};

bool is_system_option(aclSysParamOpt option) {
  return option >= ACL_OPT_DETERMINISTIC && option <= ACL_OPT_ENABLE_KERNEL_EARLY_START;
}

// Parses "1.2.3"; missing parts are 0.
using VersionParts = std::array<std::int32_t, 3>;
VersionParts version_parts() {
  VersionParts parts = {};
  std::sscanf(MSPROF_VERSION, "%d.%d.%d", &parts[0], &parts[1], &parts[2]);
  return parts;
}

// Divides by 2^shift and rounds to nearest, ties to even. shift is 1 to 31.
std::uint32_t shift_rounding(std::uint32_t value, unsigned shift) {
  const std::uint32_t half = 1U << (shift - 1);
  const std::uint32_t rest = value & ((1U << shift) - 1);
  const std::uint32_t cut = value >> shift;
  const bool up = rest > half || (rest == half && (cut & 1U) != 0);
  return up ? cut + 1 : cut;
}

}  // namespace

extern "C" {

size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    case ACL_DT_UNDEFINED:
    case ACL_STRING:
    case ACL_INT4:
    case ACL_UINT1:
    case ACL_FLOAT6_E3M2:
    case ACL_FLOAT6_E2M3:
    case ACL_FLOAT4_E2M1:
    case ACL_FLOAT4_E1M2:
      return 0;
  }
  return 0;
}

float aclFloat16ToFloat(aclFloat16 value) {
  const std::uint32_t sign = (value & 0x8000U) << 16;
  const std::uint32_t exponent = (value >> 10) & 0x1FU;
  const std::uint32_t fraction = value & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Zero and denormals: fraction * 2^-24, exact in a float.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

aclFloat16 aclFloatToFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t half = 0;
  if (magnitude > 0x7F800000U) {  // NaN; the quiet bit keeps it from becoming infinity
    half = 0x7E00U | ((magnitude >> 13) & 0x3FFU);
  } else if (magnitude >= 0x47800000U) {  // 2^16 and above: infinity
    half = 0x7C00U;
  } else if (magnitude >=
             0x38800000U) {  // 2^-14 and above: normal; rounding may carry into the exponent
    half = shift_rounding(magnitude - (112U << 23), 13);
  } else if (magnitude >= 0x33000000U) {  // 2^-25 and above: denormal, in units of 2^-24
    const std::uint32_t fraction = (magnitude & 0x7FFFFFU) | 0x800000U;
    half = shift_rounding(fraction, 126 - (magnitude >> 23));
  }
  return static_cast<aclFloat16>(sign | half);
}

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
               const char* fmt, ...) {
  if (fmt == nullptr || static_cast<int>(logLevel) < log_level()) return;
  std::array<char, 2048> text = {};
  const int head = std::snprintf(text.data(), text.size(), "[%s] %s:%u %s: ", level_name(logLevel),
                                 file == nullptr ? "" : file, line, func == nullptr ? "" : func);
  const size_t begin = std::min(static_cast<size_t>(std::max(head, 0)), text.size() - 1);
  va_list values;
  va_start(values, fmt);
  std::vsnprintf(text.data() + begin, text.size() - begin, fmt, values);
  va_end(values);
  try {
    msprof::runtime::say(text.data());
  } catch (...) {  // out of memory: the log line is dropped
  }
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  if (majorVersion == nullptr || minorVersion == nullptr || patchVersion == nullptr)
    return ACL_ERROR_INVALID_PARAM;
  *majorVersion = ACL_MAJOR_VERSION;
  *minorVersion = ACL_MINOR_VERSION;
  *patchVersion = ACL_PATCH_VERSION;
  return ACL_SUCCESS;
}

const char* aclrtGetSocName() {
  return "MsprofHost";
}

const char* aclGetRecentErrMsg() {
  return msprof::acl::take_error();
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  if (pkgName == nullptr || pkgName[0] == '\0' || versionStr == nullptr)
    return ACL_ERROR_INVALID_PARAM;
  // All CANN packages are this one library.
  constexpr std::string_view kVersion = MSPROF_VERSION;
  static_assert(kVersion.size() < ACL_PKG_VERSION_MAX_SIZE);
  std::memcpy(versionStr, kVersion.data(), kVersion.size());
  versionStr[kVersion.size()] = '\0';
  return ACL_SUCCESS;
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum) {
  if (pkgName == nullptr || pkgName[0] == '\0' || versionNum == nullptr)
    return ACL_ERROR_INVALID_PARAM;
  const VersionParts parts = version_parts();
  *versionNum = parts[0] * 10'000'000 + parts[1] * 100'000 + parts[2] * 1'000;
  return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  if (version == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) return ACL_ERROR_INVALID_FILE;
  const VersionParts parts = version_parts();
  *version = {};
  std::snprintf(version->version, sizeof version->version, "%s", MSPROF_VERSION);
  std::snprintf(version->majorVersion, sizeof version->majorVersion, "%d", parts[0]);
  std::snprintf(version->minorVersion, sizeof version->minorVersion, "%d", parts[1]);
  std::snprintf(version->releaseVersion, sizeof version->releaseVersion, "0");
  std::snprintf(version->patchVersion, sizeof version->patchVersion, "%d", parts[2]);
  return ACL_SUCCESS;
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  // The attributes for which aclGetCannAttribute returns 1.
  static constexpr std::array<aclCannAttr, 1> kAttributes = {ACL_CANN_ATTR_INF_NAN};
  if (cannAttrList == nullptr || num == nullptr) return ACL_ERROR_INVALID_PARAM;
  *cannAttrList = kAttributes.data();
  *num = kAttributes.size();
  return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  if (value == nullptr) return ACL_ERROR_INVALID_PARAM;
  switch (cannAttr) {
    case ACL_CANN_ATTR_INF_NAN:
      *value = 1;
      return ACL_SUCCESS;  // floats follow IEEE 754
    case ACL_CANN_ATTR_BF16:
    case ACL_CANN_ATTR_JIT_COMPILE:
      *value = 0;
      return ACL_SUCCESS;
    case ACL_CANN_ATTR_UNDEFINED:
      break;
  }
  return ACL_ERROR_INVALID_PARAM;
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  if (!is_system_option(opt)) return ACL_ERROR_INVALID_PARAM;
  system_options[static_cast<size_t>(opt)] = value;
  return ACL_SUCCESS;
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  if (!is_system_option(opt) || value == nullptr) return ACL_ERROR_INVALID_PARAM;
  *value = system_options[static_cast<size_t>(opt)];
  return ACL_SUCCESS;
}

errno_t memset_s(void* dest, size_t destMax, int c, size_t count) {
  if (destMax == 0 || destMax > SECUREC_MEM_MAX_LEN) return ERANGE;
  if (dest == nullptr) return EINVAL;
  std::memset(dest, c, std::min(count, destMax));
  return count > destMax ? ERANGE_AND_RESET : EOK;
}

}  // extern "C"
