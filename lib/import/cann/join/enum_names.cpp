#include "import/cann/join/enum_names.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace msprof::cann {

namespace {

// Sorted by number, as recorded by GE and the runtime (cann_host.md 1.9).

// T1
constexpr std::pair<std::uint32_t, std::string_view> kTaskTypes[] = {
    {0, "AI_CORE"},       {1, "AI_CPU"},        {2, "AI_VECTOR_CORE"}, {3, "WRITE_BACK"},
    {4, "MIX_AIC"},       {5, "MIX_AIV"},       {6, "FFTS_PLUS"},      {7, "DSA_SQE"},
    {8, "DVPP"},          {9, "COMMUNICATION"}, {10, "FUSION"},        {11, "INVALID"},
    {256, "HCCL_AI_CPU"},
};

// T2
constexpr std::pair<std::uint32_t, std::string_view> kDataTypes[] = {
    {0, "FLOAT"},
    {1, "FLOAT16"},
    {2, "INT8"},
    {3, "INT32"},
    {4, "UINT8"},
    {6, "INT16"},
    {7, "UINT16"},
    {8, "UINT32"},
    {9, "INT64"},
    {10, "UINT64"},
    {11, "DOUBLE"},
    {12, "BOOL"},
    {13, "STRING"},
    {14, "DUAL_SUB_INT8"},
    {15, "DUAL_SUB_UINT8"},
    {16, "COMPLEX64"},
    {17, "COMPLEX128"},
    {18, "QINT8"},
    {19, "QINT16"},
    {20, "QINT32"},
    {21, "QUINT8"},
    {22, "QUINT16"},
    {23, "RESOURCE"},
    {24, "STRING_REF"},
    {25, "DUAL"},
    {26, "DT_VARIANT"},
    {27, "DT_BF16"},
    {28, "DT_UNDEFINED"},
    {29, "DT_INT4"},
    {30, "DT_UINT1"},
    {31, "DT_INT2"},
    {32, "DT_UINT2"},
    {33, "DT_COMPLEX32"},
    {34, "DT_HIFLOAT8"},
    {35, "DT_FLOAT8_E5M2"},
    {36, "DT_FLOAT8_E4M3FN"},
    {37, "DT_FLOAT8_E8M0"},
    {38, "DT_FLOAT6_E3M2"},
    {39, "DT_FLOAT6_E2M3"},
    {40, "DT_FLOAT4_E2M1"},
    {41, "DT_FLOAT4_E1M2"},
    {42, "DT_MAX"},
    {229, "NUMBER_TYPE_BEGIN_"},
    {230, "BOOL_"},
    {231, "INT_"},
    {232, "INT8_"},
    {233, "INT16_"},
    {234, "INT32_"},
    {235, "INT64_"},
    {236, "UINT_"},
    {237, "UINT8_"},
    {238, "UINT16_"},
    {239, "UINT32_"},
    {240, "UINT64_"},
    {241, "FLOAT_"},
    {242, "FLOAT16_"},
    {243, "FLOAT32_"},
    {244, "FLOAT64_"},
    {245, "COMPLEX_"},
    {246, "NUMBER_TYPE_END_"},
    {0xFFFFFFFF, "UNDEFINED"},
};

// T3
constexpr std::pair<std::uint32_t, std::string_view> kFormats[] = {
    {0, "NCHW"},
    {1, "NHWC"},
    {2, "ND"},
    {3, "NC1HWC0"},
    {4, "FRACTAL_Z"},
    {5, "NC1C0HWPAD"},
    {6, "NHWC1C0"},
    {7, "FSR_NCHW"},
    {8, "FRACTAL_DECONV"},
    {9, "C1HWNC0"},
    {10, "FRACTAL_DECONV_TRANSPOSE"},
    {11, "FRACTAL_DECONV_SP_STRIDE_TRANS"},
    {12, "NC1HWC0_C04"},
    {13, "FRACTAL_Z_C04"},
    {14, "CHWN"},
    {15, "FRACTAL_DECONV_SP_STRIDE8_TRANS"},
    {16, "HWCN"},
    {17, "NC1KHKWHWC0"},
    {18, "BN_WEIGHT"},
    {19, "FILTER_HWCK"},
    {20, "HASHTABLE_LOOKUP_LOOKUPS"},
    {21, "HASHTABLE_LOOKUP_KEYS"},
    {22, "HASHTABLE_LOOKUP_VALUE"},
    {23, "HASHTABLE_LOOKUP_OUTPUT"},
    {24, "HASHTABLE_LOOKUP_HITS"},
    {25, "C1HWNCoC0"},
    {26, "MD"},
    {27, "NDHWC"},
    {28, "FRACTAL_ZZ"},
    {29, "FRACTAL_NZ"},
    {30, "NCDHW"},
    {31, "DHWCN"},
    {32, "NDC1HWC0"},
    {33, "FRACTAL_Z_3D"},
    {34, "CN"},
    {35, "NC"},
    {36, "DHWNC"},
    {37, "FRACTAL_Z_3D_TRANSPOSE"},
    {38, "FRACTAL_ZN_LSTM"},
    {39, "FRACTAL_Z_G"},
    {40, "RESERVED"},
    {41, "ALL"},
    {42, "NULL"},
    {43, "ND_RNN_BIAS"},
    {44, "FRACTAL_ZN_RNN"},
    {45, "END"},
    {47, "NCL"},
    {48, "FRACTAL_Z_WINO"},
    {49, "C1HWC0"},
    {50, "FRACTAL_NZ_C0_16"},
    {51, "FRACTAL_NZ_C0_32"},
    {52, "FRACTAL_NZ_C0_2"},
    {53, "FRACTAL_NZ_C0_4"},
    {54, "FRACTAL_NZ_C0_8"},
    {55, "END"},
    {200, "UNKNOWN_"},
    {201, "DEFAULT_"},
    {202, "NC1KHKWHWC0_"},
    {203, "ND_"},
    {204, "NCHW_"},
    {205, "NHWC_"},
    {206, "HWCN_"},
    {207, "NC1HWC0_"},
    {208, "FRAC_Z_"},
    {209, "C1HWNCOC0_"},
    {210, "FRAC_NZ_"},
    {211, "NC1HWC0_C04_"},
    {212, "FRACTAL_Z_C04_"},
    {213, "NDHWC_"},
    {214, "FRACTAL_ZN_LSTM_"},
    {215, "FRACTAL_ZN_RNN_"},
    {216, "ND_RNN_BIAS_"},
    {217, "NDC1HWC0_"},
    {218, "NCDHW_"},
    {219, "FRACTAL_Z_3D_"},
    {220, "DHWNC_"},
    {221, "DHWCN_"},
    {255, "MAX"},
    {0xFFFFFFFF, "UNDEFINED"},
};

// T9
constexpr std::pair<std::uint32_t, std::string_view> kAclClasses[] = {
    {1, "ACL_OP"},      {2, "ACL_MODEL"}, {3, "ACL_RTS"},  {4, "ACL_OTHERS"}, {5, "ACL_NN"},
    {6, "ACL_ASCENDC"}, {7, "HOST_HCCL"}, {9, "ACL_DVPP"}, {10, "ACL_GRAPH"}, {11, "ACL_ATB"},
};

template <std::size_t kSize>
std::string name_of(const std::pair<std::uint32_t, std::string_view> (&table)[kSize],
                    std::uint32_t number) {
  const auto* found = std::lower_bound(
      std::begin(table), std::end(table), number,
      [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
  if (found != std::end(table) && found->first == number) return std::string(found->second);
  return std::to_string(number);
}

}  // namespace

std::string task_type_name(std::uint32_t number) {
  return name_of(kTaskTypes, number);
}

std::string data_type_name(std::uint32_t number) {
  return name_of(kDataTypes, number);
}

std::string format_name(std::uint32_t number) {
  constexpr std::uint32_t kUndefined = 0xFFFFFFFF;
  if (number == kUndefined) return name_of(kFormats, number);
  const std::uint32_t sub_format = number >> 8 & 0xFFFF;
  std::string name = name_of(kFormats, number & 0xFF);
  if (sub_format > 0) name += ":" + std::to_string(sub_format);
  return name;
}

std::string acl_class_name(std::uint32_t type) {
  return name_of(kAclClasses, type >> 16);
}

}  // namespace msprof::cann
