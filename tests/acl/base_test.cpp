// Functions that need no device, and functions that a Linux host rejects.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_tdt.h"
#include "acl/ops/acl_dvpp.h"
#include "securec.h"
#include "support/files.hpp"
#include "support/temp_folder.hpp"
#include "support/variable.hpp"

namespace {

// Returns what `work` prints on stderr.
template <typename Work>
std::string capture_stderr(const Work& work) {
  const msprof::test::TempFolder folder;
  const std::string path = (folder.path() / "stderr").string();
  FILE* file = std::fopen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  const int before = dup(STDERR_FILENO);
  REQUIRE(dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
  work();
  REQUIRE(dup2(before, STDERR_FILENO) == STDERR_FILENO);
  close(before);
  std::fclose(file);
  return msprof::test::read_file(path);
}

// Converts a half-precision float by its definition.
double half_value(std::uint16_t half) {
  const int exponent = (half >> 10) & 0x1F;
  const int fraction = half & 0x3FF;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

// Returns the half nearest to a positive finite value, found by bisection over all halves; ties to
// even. Infinity takes the place of 2^16.
std::uint16_t nearest_half(double value) {
  std::uint16_t low = 0;
  std::uint16_t high = 0x7C00;
  if (value >= half_value(high)) return high;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (half_value(middle) <= value ? low : high) = middle;
  }
  const double below = value - half_value(low);
  const double above = half_value(high) - value;
  if (below != above) return below < above ? low : high;
  return low % 2 == 0 ? low : high;
}

}  // namespace

TEST_CASE("Every half float converts to its float and back") {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<aclFloat16>(bits);
    const float value = aclFloat16ToFloat(half);
    INFO(bits);
    if ((bits & 0x7C00) == 0x7C00) {
      if ((bits & 0x3FF) == 0) {
        REQUIRE(std::isinf(value));
        REQUIRE(aclFloatToFloat16(value) == half);
      } else {
        REQUIRE(std::isnan(value));
        REQUIRE(aclFloatToFloat16(value) == (half | 0x200));
      }
      REQUIRE(std::signbit(value) == ((bits & 0x8000) != 0));
      continue;
    }
    REQUIRE(static_cast<double>(value) == half_value(half));
    REQUIRE(std::signbit(value) == ((bits & 0x8000) != 0));
    REQUIRE(aclFloatToFloat16(value) == half);
  }
}

TEST_CASE("A float is rounded to the nearest half float, ties to even") {
  std::vector<float> values = {0.0F,
                               65504.0F,
                               65519.996F,
                               65520.0F,
                               65535.0F,
                               65536.0F,
                               1e30F,
                               6.1e-5F,
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::denorm_min()};
  // Tests values around each half and each midpoint between two, up to the midpoint between the
  // largest and 2^16.
  for (std::uint16_t half = 0; half < 0x7C00; ++half) {
    const auto exact = static_cast<float>(half_value(half));
    const auto middle = static_cast<float>(
        (half_value(half) + half_value(static_cast<std::uint16_t>(half + 1))) / 2);
    for (const float value : {exact, middle}) {
      values.push_back(std::nextafter(value, 0.0F));
      values.push_back(value);
      values.push_back(std::nextafter(value, 1e30F));
    }
  }
  std::mt19937 random(20260715);
  for (int i = 0; i < 100000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0x7F7FFFFFU));
  for (const float value : values) {
    const std::uint16_t expected = nearest_half(static_cast<double>(value));
    INFO(value);
    REQUIRE(aclFloatToFloat16(value) == expected);
    REQUIRE(aclFloatToFloat16(-value) == (expected | 0x8000));
  }
}

TEST_CASE("Infinity and NaN are kept as half floats") {
  CHECK(aclFloatToFloat16(std::numeric_limits<float>::infinity()) == 0x7C00);
  CHECK(aclFloatToFloat16(-std::numeric_limits<float>::infinity()) == 0xFC00);
  CHECK((aclFloatToFloat16(std::numeric_limits<float>::quiet_NaN()) & 0x7E00) == 0x7E00);
  // Conversion drops a payload in the lowest bits only; the result must still be NaN, not infinity.
  CHECK((aclFloatToFloat16(std::bit_cast<float>(0x7F800001U)) & 0x7FFF) == 0x7E00);
}

TEST_CASE("Data types have their sizes in bytes, and unknown ones 0") {
  for (const aclDataType type : {ACL_INT8, ACL_UINT8, ACL_BOOL, ACL_HIFLOAT8, ACL_FLOAT8_E5M2,
                                 ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0})
    CHECK(aclDataTypeSize(type) == 1);
  for (const aclDataType type : {ACL_FLOAT16, ACL_BF16, ACL_INT16, ACL_UINT16})
    CHECK(aclDataTypeSize(type) == 2);
  for (const aclDataType type : {ACL_FLOAT, ACL_INT32, ACL_UINT32, ACL_COMPLEX32})
    CHECK(aclDataTypeSize(type) == 4);
  for (const aclDataType type : {ACL_DOUBLE, ACL_INT64, ACL_UINT64, ACL_COMPLEX64})
    CHECK(aclDataTypeSize(type) == 8);
  CHECK(aclDataTypeSize(ACL_COMPLEX128) == 16);
  for (const aclDataType type : {ACL_DT_UNDEFINED, ACL_STRING, ACL_INT4, ACL_UINT1, ACL_FLOAT4_E2M1,
                                 static_cast<aclDataType>(5), static_cast<aclDataType>(60)})
    CHECK(aclDataTypeSize(type) == 0);
}

TEST_CASE("The application's log prints only errors unless the level is changed") {
  const auto lines = [] {
    return capture_stderr([] {
      for (const aclLogLevel level : {ACL_DEBUG, ACL_INFO, ACL_WARNING, ACL_ERROR})
        aclAppLog(level, "work", "main.cpp", 7, "%d of %s", 3, "many");
    });
  };
  std::optional<msprof::test::Variable> level;
  const auto set_level = [&](const std::optional<std::string>& value) {
    level.reset();
    level.emplace("ASCEND_GLOBAL_LOG_LEVEL", value);
  };
  set_level(std::nullopt);
  const std::string error = "msprof runtime: [ERROR] main.cpp:7 work: 3 of many\n";
  CHECK(lines() == error);
  set_level("2");
  CHECK(lines() == "msprof runtime: [WARNING] main.cpp:7 work: 3 of many\n" + error);
  set_level("0");
  const std::string all = lines();
  CHECK(std::count(all.begin(), all.end(), '\n') == 4);
  CHECK(all.find("[DEBUG]") < all.find("[INFO]"));
  set_level("4");
  CHECK(lines().empty());
  for (const char* no_level : {"", "5", "-1", "33", "x"}) {
    set_level(no_level);
    CHECK(lines() == error);
  }
  set_level(std::nullopt);
  CHECK(capture_stderr([] { aclAppLog(ACL_ERROR, nullptr, nullptr, 0, nullptr); }).empty());
  CHECK(capture_stderr([] { aclAppLog(ACL_ERROR, nullptr, nullptr, 0, "%s", "text"); }) ==
        "msprof runtime: [ERROR] :0 : text\n");
  const std::string long_text(10000, 'x');
  const std::string cut = capture_stderr([&] { ACL_APP_LOG(ACL_ERROR, "%s", long_text.c_str()); });
  CHECK(cut.size() < 3000);
  CHECK(cut.ends_with("xxx\n"));
}

TEST_CASE("The runtime returns its version and name") {
  int32_t major = -1, minor = -1, patch = -1;
  CHECK(aclrtGetVersion(&major, &minor, &patch) == ACL_SUCCESS);
  CHECK(std::vector<int32_t>{major, minor, patch} ==
        std::vector<int32_t>{ACL_MAJOR_VERSION, ACL_MINOR_VERSION, ACL_PATCH_VERSION});
  CHECK(aclrtGetVersion(nullptr, &minor, &patch) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtGetVersion(&major, nullptr, &patch) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtGetVersion(&major, &minor, nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(std::string(aclrtGetSocName()) == "MsprofHost");

  std::string package = "runtime";
  std::string version(ACL_PKG_VERSION_MAX_SIZE, '?');
  CHECK(aclsysGetVersionStr(package.data(), version.data()) == ACL_SUCCESS);
  CHECK(std::string(version.c_str()) == MSPROF_VERSION);
  std::string no_package;
  CHECK(aclsysGetVersionStr(no_package.data(), version.data()) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclsysGetVersionStr(nullptr, version.data()) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclsysGetVersionStr(package.data(), nullptr) == ACL_ERROR_INVALID_PARAM);

  int32_t number = -1;
  CHECK(aclsysGetVersionNum(package.data(), &number) == ACL_SUCCESS);
  std::sscanf(MSPROF_VERSION, "%d.%d.%d", &major, &minor, &patch);
  CHECK(number == major * 10'000'000 + minor * 100'000 + patch * 1'000);
  CHECK(aclsysGetVersionNum(no_package.data(), &number) == ACL_ERROR_INVALID_PARAM);
  aclCANNPackageVersion parts;
  CHECK(aclsysGetCANNVersion(ACL_PKG_NAME_TOOLKIT, &parts) == ACL_SUCCESS);
  CHECK(std::string(parts.version) == MSPROF_VERSION);
  CHECK(std::string(parts.majorVersion) == std::to_string(major));
  CHECK(std::string(parts.minorVersion) == std::to_string(minor));
  CHECK(std::string(parts.patchVersion) == std::to_string(patch));
  CHECK(std::string(parts.releaseVersion) == "0");
  CHECK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("Properties and options of the runtime can be queried, and options be set") {
  int32_t property = -1;
  CHECK(aclGetCannAttribute(ACL_CANN_ATTR_INF_NAN, &property) == ACL_SUCCESS);
  CHECK(property == 1);
  CHECK(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &property) == ACL_SUCCESS);
  CHECK(property == 0);
  CHECK(aclGetCannAttribute(ACL_CANN_ATTR_UNDEFINED, &property) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclGetCannAttribute(ACL_CANN_ATTR_INF_NAN, nullptr) == ACL_ERROR_INVALID_PARAM);
  const aclCannAttr* properties = nullptr;
  size_t count = 0;
  REQUIRE(aclGetCannAttributeList(&properties, &count) == ACL_SUCCESS);
  CHECK(std::vector<aclCannAttr>(properties, properties + count) ==
        std::vector<aclCannAttr>{ACL_CANN_ATTR_INF_NAN});
  CHECK(aclGetCannAttributeList(nullptr, &count) == ACL_ERROR_INVALID_PARAM);

  int64_t option = -1;
  CHECK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &option) == ACL_SUCCESS);
  CHECK(option == 0);
  CHECK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1) == ACL_SUCCESS);
  CHECK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &option) == ACL_SUCCESS);
  CHECK(option == 1);
  CHECK(aclrtGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, &option) == ACL_SUCCESS);
  CHECK(option == 0);
  CHECK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0) == ACL_SUCCESS);
  CHECK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("memset_s fills what fits and reports when that was not all") {
  std::string text = "0123456789";
  CHECK(memset_s(text.data(), 8, 'x', 4) == EOK);
  CHECK(text == "xxxx456789");
  CHECK(memset_s(text.data(), 8, 'y', 9) == ERANGE_AND_RESET);
  CHECK(text == "yyyyyyyy89");
  CHECK(memset_s(text.data(), 8, 'z', 0) == EOK);
  CHECK(memset_s(text.data(), 0, 'z', 1) == ERANGE);
  CHECK(memset_s(text.data(), SECUREC_MEM_MAX_LEN + 1, 'z', 1) == ERANGE);
  CHECK(memset_s(nullptr, 8, 'z', 1) == EINVAL);
  CHECK(text == "yyyyyyyy89");
}

TEST_CASE("Unsupported functions print one message each and return 200001 or null") {
  const std::string said = capture_stderr([] {
    for (int i = 0; i < 3; ++i) {
      CHECK(aclopSetModelDir("models") == 200001);
      CHECK(acldvppCreatePicDesc() == nullptr);
      CHECK(acldvppGetPicDescWidth(nullptr) == 0);
      CHECK(acltdtGetTensorTypeFromItem(nullptr) == ACL_TENSOR_DATA_UNDEFINED);
      CHECK(aclrtGetTaskIdFromExceptionInfo(nullptr) == 0xFFFFFFFF);
      aclopDestroyAttr(nullptr);
    }
  });
  CHECK(said ==
        "msprof runtime: aclopSetModelDir is not supported on a Linux host\n"
        "msprof runtime: acldvppCreatePicDesc is not supported on a Linux host\n"
        "msprof runtime: acldvppGetPicDescWidth is not supported on a Linux host\n"
        "msprof runtime: acltdtGetTensorTypeFromItem is not supported on a Linux host\n"
        "msprof runtime: aclrtGetTaskIdFromExceptionInfo is not supported on a Linux host\n"
        "msprof runtime: aclopDestroyAttr is not supported on a Linux host\n");
}

TEST_CASE("The recent error belongs to the calling thread and is returned once") {
  capture_stderr([] { CHECK(aclopLoad(nullptr, 0) == ACL_ERROR_API_NOT_SUPPORT); });
  std::thread([] { CHECK(aclGetRecentErrMsg() == nullptr); }).join();
  const char* message = aclGetRecentErrMsg();
  REQUIRE(message != nullptr);
  CHECK(std::string(message) == "aclopLoad is not supported on a Linux host");
  CHECK(aclGetRecentErrMsg() == nullptr);
}
