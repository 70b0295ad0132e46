#include "import/cann/join/host_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "import/cann/join/enum_names.hpp"
#include "import/cann/slice_kind.hpp"

namespace msprof::cann {

namespace {

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

}  // namespace

std::uint64_t HostOps::hash_of(const Key& key) {
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

std::int64_t HostOps::id_of(const HostOp& op) {
  Key key;
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

// Ids begin at 1. Keys that share a hash go on to the next one.
std::int64_t HostOps::intern(const Key& key) {
  std::uint64_t hash = hash_of(key);
  std::uint32_t number = numbers_.find(hash);
  while (number != FlatTable::kNone && !(keys_[number] == key)) number = numbers_.find(++hash);
  if (number == FlatTable::kNone) {
    number = static_cast<std::uint32_t>(keys_.size());
    numbers_.set(hash, number);
    keys_.push_back(key);
    write(key);
  }
  return std::int64_t{number} + 1;
}

void HostOps::write(const Key& key) {
  const auto hash_or_null = [&](std::uint64_t hash) {
    return hash != 0 ? dictionaries_.hash_name_id(store_, hash) : kNull;
  };
  const auto flag = [](std::int8_t value) { return value < 0 ? kNull : std::int64_t{value}; };
  const TensorNames& tensors = tensor_names_[key.tensors];
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
  row.input_shapes_name_id = tensors[0];
  row.input_types_name_id = tensors[1];
  row.input_formats_name_id = tensors[2];
  row.output_shapes_name_id = tensors[3];
  row.output_types_name_id = tensors[4];
  row.output_formats_name_id = tensors[5];
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
  while (number != FlatTable::kNone && !(tensor_hashes_[number] == hash))
    number = tensor_numbers_.find(++at);
  if (number == FlatTable::kNone) {
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

const HostOps::Key* HostOps::find(std::int64_t op_id) const {
  if (op_id < 1 || op_id > static_cast<std::int64_t>(keys_.size())) return nullptr;
  return &keys_[static_cast<std::size_t>(op_id - 1)];
}

std::int64_t HostOps::block_num(std::int64_t op_id) const {
  const Key* key = find(op_id);
  return key != nullptr ? std::int64_t{key->block_num} : kNull;
}

std::int64_t HostOps::mix_block_num(std::int64_t op_id) const {
  const Key* key = find(op_id);
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
  const Key* key = find(op_id);
  if (key == nullptr) return op_id;
  Key changed = *key;
  changed.block_num = static_cast<std::uint32_t>(block_num);
  changed.mix_block_num = static_cast<std::uint32_t>(mix_block_num);
  return intern(changed);
}

}  // namespace msprof::cann
