#include "import/cann/join/host_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

// Names of numbers in host records, sorted by number, as defined by GE and the runtime
// (cann_host.md 1.9). A number without a name is shown in decimal.

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
    {kInvalidId, "UNDEFINED"},
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
    {kInvalidId, "UNDEFINED"},
};

// T9
constexpr std::pair<std::uint32_t, std::string_view> kAclClasses[] = {
    {1, "ACL_OP"},      {2, "ACL_MODEL"}, {3, "ACL_RTS"},  {4, "ACL_OTHERS"}, {5, "ACL_NN"},
    {6, "ACL_ASCENDC"}, {7, "HOST_HCCL"}, {9, "ACL_DVPP"}, {10, "ACL_GRAPH"}, {11, "ACL_ATB"},
};

template <std::size_t kSize>
std::string find_name(const std::pair<std::uint32_t, std::string_view> (&table)[kSize],
                      std::uint32_t number) {
  const auto* found = std::lower_bound(
      std::begin(table), std::end(table), number,
      [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
  if (found != std::end(table) && found->first == number) return std::string(found->second);
  return std::to_string(number);
}

// Returns the name in table T1, for example "AI_VECTOR_CORE".
std::string task_type_name(std::uint32_t number) {
  return find_name(kTaskTypes, number);
}

// Returns the name in table T9 for an API's whole type, for example "ACL_RTS".
std::string acl_class_name(std::uint32_t type) {
  return find_name(kAclClasses, type >> 16);
}

constexpr std::uint64_t kPrime1 = 0x9E3779B97F4A7C15;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value, std::uint64_t prime) {
  hash = (hash ^ value) * prime;
  return hash ^ hash >> 29;
}

struct TensorTexts {
  std::string shapes, types, formats;
  bool is_empty = true;

  void add(const TensorWire& tensor) {
    if (!is_empty) {
      shapes += ';';
      types += ';';
      formats += ';';
    }
    is_empty = false;
    types += data_type_name(tensor.data_type);
    formats += format_name(tensor.format);
    for (std::size_t i = 0; i < std::size(tensor.shape) && tensor.shape[i] != 0; ++i) {
      if (i > 0) shapes += ',';
      shapes += std::to_string(tensor.shape[i]);
    }
  }
};

std::string dims_text(const std::uint16_t (&dims)[3]) {
  return fmt::format("{},{},{}", dims[0], dims[1], dims[2]);
}

TaskClass parse_task_class(std::string_view name) {
  if (name == "KERNEL_AICORE") return TaskClass::aicore;
  if (name == "KERNEL_AICPU") return TaskClass::aicpu;
  if (name == "KERNEL_AIVEC") return TaskClass::aivec;
  if (name == "KERNEL_SIMT") return TaskClass::simt;
  if (name == "KERNEL_MIX_AIC") return TaskClass::mix_aic;
  if (name == "KERNEL_MIX_AIV") return TaskClass::mix_aiv;
  if (name.starts_with("KERNEL")) return TaskClass::other_kernel;
  if (name == "STARS_COMMON") return TaskClass::stars_common;
  if (name == "FFTS_PLUS") return TaskClass::ffts_plus;
  if (name == "MEMCPY_ASYNC") return TaskClass::memcpy_async;
  return TaskClass::other;
}

// Converts to picoseconds; kNull if out of range.
std::int64_t us_to_ps(double us) {
  constexpr double kPsPerUs = 1e6;
  const double ps = us * kPsPerUs;
  constexpr double kMax = 9.2e18;
  return ps > -kMax && ps < kMax ? std::llround(ps) : kNull;
}

}  // namespace

// Returns the name in table T2, for example "FLOAT16".
std::string data_type_name(std::uint32_t number) {
  return find_name(kDataTypes, number);
}

// Returns the name in table T3 with the sub format, for example "ND" or "FRACTAL_NZ:3".
std::string format_name(std::uint32_t number) {
  if (number == kInvalidId) return find_name(kFormats, number);
  const std::uint32_t sub_format = number >> 8 & 0xFFFF;
  std::string name = find_name(kFormats, number & 0xFF);
  if (sub_format > 0) name += ":" + std::to_string(sub_format);
  return name;
}

std::uint64_t HostOps::hash_of(const HostOpKey& key) {
  std::uint64_t hash = mix(key.name_hash, key.type_hash, kPrime1);
  hash = mix(hash, key.attribute_hash, kPrime1);
  hash = mix(hash, std::uint64_t{key.tensors} << 32 | key.dims, kPrime2);
  hash = mix(hash, std::uint64_t{key.task_type} << 32 | key.block_num, kPrime1);
  const auto states = static_cast<std::uint64_t>((key.is_dynamic + 1) * 4 + key.is_hf32 + 1);
  return mix(hash, std::uint64_t{key.mix_block_num} << 32 | states, kPrime2);
}

HostOps::HostOps(TraceDbWriter& store, Dictionaries& dictionaries)
    : store_(store),
      dictionaries_(dictionaries),
      tensor_hashes_(1),
      tensor_names_(1, TensorNames{kNull, kNull, kNull, kNull, kNull, kNull}),
      dims_names_(1, {kNull, kNull}) {}

std::int64_t HostOps::find_or_add(const HostOp& op) {
  HostOpKey key;
  key.name_hash = op.name_hash;
  key.type_hash = op.type_hash;
  key.attribute_hash = op.attribute_hash;
  key.tensors = op.tensors.empty() ? 0 : tensors_number(op.tensors);
  key.dims = op.has_dims ? dims_number(op) : 0;
  key.task_type = op.task_type;
  key.block_num = op.block_num;
  key.mix_block_num = op.mix_block_num;
  key.is_dynamic = op.is_dynamic;
  key.is_hf32 = op.is_hf32;
  return intern(key);
}

// Returns the id of a key; ids start at 1. On a hash collision the next hash value is tried.
std::int64_t HostOps::intern(const HostOpKey& key) {
  std::uint64_t hash = hash_of(key);
  std::uint32_t number = numbers_.find(hash);
  while (number != FlatTable::kNotFound && !(keys_[number] == key)) number = numbers_.find(++hash);
  if (number == FlatTable::kNotFound) {
    number = static_cast<std::uint32_t>(keys_.size());
    numbers_.set(hash, number);
    keys_.push_back(key);
    write(key);
  }
  return std::int64_t{number} + 1;
}

void HostOps::write(const HostOpKey& key) {
  const auto hash_or_null = [&](std::uint64_t hash) {
    return hash != 0 ? dictionaries_.hash_name_id(store_, hash) : kNull;
  };
  const auto flag = [](std::int8_t value) { return value < 0 ? kNull : std::int64_t{value}; };
  OpRow row;
  row.id = static_cast<std::int64_t>(keys_.size());
  row.name_id = dictionaries_.hash_name_id(store_, key.name_hash);
  row.type_name_id = hash_or_null(key.type_hash);
  if (key.task_type != HostOp::kNoTaskType)
    row.unit_name_id = store_.name_id(task_type_name(key.task_type));
  row.block_num = key.block_num;
  row.mix_block_num = key.mix_block_num;
  row.is_dynamic = flag(key.is_dynamic);
  row.hf32_eligible = flag(key.is_hf32);
  row.set_tensors(tensor_names_[key.tensors]);
  row.attribute_name_id = hash_or_null(key.attribute_hash);
  row.grid_dim_name_id = dims_names_[key.dims].first;
  row.block_dim_name_id = dims_names_[key.dims].second;
  store_.add(row);
  names_.push_back({row.name_id, row.unit_name_id});
}

HostOps::TensorHash HostOps::hash_of(std::span<const std::byte> tensors) {
  TensorHash hash{tensors.size(), ~tensors.size()};
  std::size_t at = 0;
  for (; at + 8 <= tensors.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, tensors.data() + at, 8);
    hash.first = mix(hash.first, word, kPrime1);
    hash.second = mix(hash.second, word, kPrime2);
  }
  std::uint64_t word = 0;
  if (at < tensors.size()) std::memcpy(&word, tensors.data() + at, tensors.size() - at);
  hash.first = mix(hash.first, word, kPrime1);
  hash.second = mix(hash.second, word, kPrime2);
  return hash;
}

std::uint32_t HostOps::tensors_number(std::span<const std::byte> tensors) {
  const TensorHash hash = hash_of(tensors);
  std::uint64_t at = hash.first;
  std::uint32_t number = tensor_numbers_.find(at);
  while (number != FlatTable::kNotFound && !(tensor_hashes_[number] == hash))
    number = tensor_numbers_.find(++at);
  if (number == FlatTable::kNotFound) {
    number = static_cast<std::uint32_t>(tensor_names_.size());
    tensor_numbers_.set(at, number);
    tensor_hashes_.push_back(hash);
    tensor_names_.push_back(make_names(tensors));
  }
  return number;
}

HostOps::TensorNames HostOps::make_names(std::span<const std::byte> tensors) {
  TensorTexts texts[2];
  for (std::size_t at = 0; at + sizeof(TensorWire) <= tensors.size(); at += sizeof(TensorWire)) {
    const auto tensor = decode<TensorWire>(tensors.subspan(at, sizeof(TensorWire)));
    if (tensor.kind < std::size(texts)) {
      texts[tensor.kind].add(tensor);
    } else {
      ++odd_tensors_;
    }
  }
  TensorNames names;
  for (std::size_t i = 0; i < std::size(texts); ++i) {
    const TensorTexts& text = texts[i];
    names[3 * i] = text.is_empty ? kNull : store_.name_id(text.shapes);
    names[3 * i + 1] = text.is_empty ? kNull : store_.name_id(text.types);
    names[3 * i + 2] = text.is_empty ? kNull : store_.name_id(text.formats);
  }
  return names;
}

std::uint32_t HostOps::dims_number(const HostOp& op) {
  const std::int64_t grid = store_.name_id(dims_text(op.grid_dim));
  const std::int64_t block = store_.name_id(dims_text(op.block_dim));
  const auto number = static_cast<std::uint32_t>(dims_names_.size());
  const auto key = static_cast<std::uint64_t>(grid) << 32 ^ static_cast<std::uint64_t>(block);
  const auto [found, is_new] = dims_numbers_.try_emplace(key, number);
  if (is_new) dims_names_.emplace_back(grid, block);
  return found->second;
}

const HostOps::HostOpKey* HostOps::find(std::int64_t op_id) const {
  if (op_id < 1 || op_id > static_cast<std::int64_t>(keys_.size())) return nullptr;
  return &keys_[static_cast<std::size_t>(op_id - 1)];
}

std::int64_t HostOps::block_num(std::int64_t op_id) const {
  const HostOpKey* key = find(op_id);
  return key != nullptr ? std::int64_t{key->block_num} : kNull;
}

std::int64_t HostOps::mix_block_num(std::int64_t op_id) const {
  const HostOpKey* key = find(op_id);
  return key != nullptr ? std::int64_t{key->mix_block_num} : kNull;
}

std::int64_t HostOps::name_id(std::int64_t op_id) const {
  return find(op_id) != nullptr ? names_[static_cast<std::size_t>(op_id - 1)].name_id : kNull;
}

std::int64_t HostOps::unit_name_id(std::int64_t op_id) const {
  return find(op_id) != nullptr ? names_[static_cast<std::size_t>(op_id - 1)].unit_name_id : kNull;
}

std::int64_t HostOps::with_blocks(std::int64_t op_id, std::int64_t block_num,
                                  std::int64_t mix_block_num) {
  const HostOpKey* key = find(op_id);
  if (key == nullptr) return op_id;
  HostOpKey changed = *key;
  changed.block_num = static_cast<std::uint32_t>(block_num);
  changed.mix_block_num = static_cast<std::uint32_t>(mix_block_num);
  return intern(changed);
}

HostRows::HostRows(TraceDbWriter& store, Dictionaries& dictionaries, const ClockMap* clock,
                   std::int64_t process_id, const CapturedStreams& captured,
                   const CapturedOps& captured_ops, bool has_unique_ids, HostOps& ops,
                   HostTaskStore& tasks)
    : store_(store),
      dictionaries_(dictionaries),
      clock_(clock),
      process_id_(process_id),
      captured_(captured),
      captured_ops_(captured_ops),
      has_unique_ids_(has_unique_ids),
      ops_(ops),
      tasks_(tasks) {}

const HostRows::CallType& HostRows::call_type(std::uint16_t level, std::uint32_t type) {
  const auto [call, is_new] = call_types_.try_emplace(std::uint64_t{level} << 32 | type);
  if (!is_new) return call;
  const std::string name = dictionaries_.type_name(level, type);
  call.name_id = store_.name_id(name);
  call.mode_id = level == call_level::kAcl ? store_.name_id(acl_class_name(type)) : call.name_id;
  call.is_step_info = name == "step_info";
  call.is_master = name == "master";
  return call;
}

const HostRows::TaskType& HostRows::task_type(std::uint64_t type) {
  const auto [found, is_new] = task_types_.try_emplace(type);
  if (is_new) {
    const std::string name = dictionaries_.type_name(call_level::kRuntime, type);
    found = {parse_task_class(name), store_.name_id(name)};
  }
  return found;
}

bool HostRows::captured_op(const HostTrack& track, HostOp& op) {
  if (captured_ops_.empty()) return false;
  const std::int64_t model = captured_.find_model(track);
  // A stream that was captured also runs tasks that belong to no graph.
  if (model == kNull && captured_.has(track.device, track.stream)) return false;
  CapturedOps::WantedOp wanted{track.device,    track.stream, track.task_number,
                               has_unique_ids_, std::nullopt, captured_.is_wide()};
  if (model != kNull) wanted.model = static_cast<std::uint32_t>(model);
  const CapturedOp* found = captured_ops_.find(wanted);
  if (found == nullptr) return false;
  constexpr std::uint32_t kHalf = 0xFFFF;
  op.name_hash = found->name;
  op.type_hash = found->type;
  op.attribute_hash = found->attribute;
  op.task_type = found->task_type;
  op.block_num = found->blocks & kHalf;
  op.mix_block_num = (found->blocks & kHalf) * (found->blocks >> 16U);
  op.is_dynamic = found->is_unaging ? 0 : 1;
  op.is_hf32 = found->flag != 0 ? 1 : 0;
  op.tensors = found->tensors;
  return true;
}

HostRows::Item HostRows::item(std::uint64_t hash) {
  const std::uint32_t known = items_.find(hash);
  if (known != FlatTable::kNotFound) return {std::int64_t{known >> 1}, (known & 1) != 0};
  const auto text = dictionaries_.find_hash_text(hash);
  Item made;
  made.is_lccl = text && text->starts_with("Lccl");
  made.name_id = hash != 0 ? dictionaries_.hash_name_id(store_, hash) : store_.name_id("0");
  constexpr std::int64_t kMaxIds = INT32_MAX - 1;
  if (made.name_id < kMaxIds)
    items_.set(hash, static_cast<std::uint32_t>(made.name_id) << 1 | (made.is_lccl ? 1U : 0U));
  return made;
}

std::int64_t HostRows::number_name_id(std::uint64_t number) {
  const auto [found, is_new] = number_names_.try_emplace(number);
  if (is_new) found = store_.name_id(std::to_string(number));
  return found;
}

HostCall HostRows::add(const ApiEventWire& wire) {
  HostCall call;
  call.begin = wire.head.time;
  call.end = wire.end;
  call.item = wire.item;
  call.thread = wire.head.thread;
  call.type = wire.head.type;
  call.level = wire.head.level;
  const CallType& type = call_type(call.level, call.type);
  call.is_step_info = type.is_step_info;
  call.is_master = type.is_master;
  const bool is_number =
      call.level == call_level::kModel || (call.level == call_level::kNode && type.is_step_info);
  const Item named = is_number ? Item() : item(call.item);
  call.is_lccl = call.level == call_level::kNode && named.is_lccl;
  if (clock_ == nullptr) return call;
  call.id = next_call_++;
  ApiCallRow row;
  row.id = call.id;
  row.process_id = process_id_;
  row.thread_id = call.thread;
  row.type_name_id = type.mode_id;
  row.item_name_id = is_number ? number_name_id(call.item) : named.name_id;
  row.name_id = call.level == call_level::kCommunication ? row.item_name_id : type.name_id;
  row.start_ns = clock_->ns(call.begin);
  row.end_ns = clock_->ns(call.end);
  row.level = call.level;
  store_.add(row);
  return call;
}

std::int64_t HostRows::comm_call_id(const HostComm& call) {
  CommCallRow row;
  row.id = next_comm_call_++;
  row.host_count = cell(call.launch_count);
  row.api_id = call.call_id;
  row.op_begin_count = cell(call.call_begin);
  row.thread_id = call.thread;
  row.op_name_id = item(call.call_item).name_id;
  row.op_type_name_id = call_type(call_level::kNode, call.call_type).name_id;
  row.is_master = call.is_master ? 1 : 0;
  if (call.has_op_info) add_op_info(row, call);
  if (call.has_task_info) add_task_info(row, call);
  if (call.has_kind) row.op_kind_name_id = dictionaries_.hash_name_id(store_, call.kind_hash);
  store_.add(row);
  return row.id;
}

void HostRows::add_task_info(CommCallRow& row, const HostComm& call) {
  const HcclInfoWire& task = call.task;
  row.item_name_id = dictionaries_.hash_name_id(store_, task.item);
  if (task.group != 0 || row.group_hash == kNull) {
    row.group_hash = cell(task.group);
    row.group_name_id = dictionaries_.hash_name_id(store_, task.group);
  }
  row.plane_id = task.plane_id;
  row.local_rank = task.local_rank;
  row.remote_rank = task.remote_rank;
  row.rank_size = task.rank_size;
  row.notify_id = cell(task.notify_id);
  row.duration_estimated_ps = us_to_ps(task.duration_estimated_us);
  row.size_bytes = cell(task.size_bytes);
  row.data_type = task.data_type;
  row.link_type = task.link_type;
  row.transport_type = task.transport_type;
  row.rdma_type = task.rdma_type;
}

void HostRows::add_op_info(CommCallRow& row, const HostComm& call) {
  const HcclOpInfoWire& op = call.op;
  row.group_hash = cell(op.group);
  row.group_name_id = dictionaries_.hash_name_id(store_, op.group);
  row.op_group_name_id = row.group_name_id;
  row.op_relay = (op.flags & kRelayFlag) != 0 ? 1 : 0;
  row.op_retry = (op.flags & kRetryFlag) != 0 ? 1 : 0;
  row.op_data_type = op.data_type;
  row.op_algorithm_name_id = dictionaries_.hash_name_id(store_, op.algorithm);
  row.op_count = cell(op.count);
}

}  // namespace msprof::cann
