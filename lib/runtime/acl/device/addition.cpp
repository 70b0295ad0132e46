#include "runtime/acl/device/addition.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "runtime/acl/device/failure.hpp"

namespace msprof::acl {
namespace {

constexpr std::uint32_t kVectorCore = 2;     // cann_host.md 1.9, T1
constexpr std::int64_t kVectorFloats = 8;    // row width of the machine model's vector unit
constexpr std::int64_t kStepsAnElement = 2;  // multiply by alpha, then add
constexpr std::size_t kShapeOfRecord = 8;

// float16 and bfloat16 are computed as float and rounded once.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

template <typename C, typename T>
C to_compute(T value) {
  return static_cast<C>(value);
}
template <typename C>
C to_compute(Half value) {
  return static_cast<C>(aclFloat16ToFloat(value.bits));
}
template <typename C>
C to_compute(Brain value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16U;
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return static_cast<C>(number);
}

std::uint16_t brain_bits(float number) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  if (number != number) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);  // stays a NaN
  // Rounds to nearest, ties to even.
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

template <typename T, typename C>
T from_compute(C value) {
  if constexpr (std::is_same_v<C, std::uint64_t> && !std::is_integral_v<T>) {
    return from_compute<T>(static_cast<double>(static_cast<std::int64_t>(value)));
  } else if constexpr (std::is_same_v<T, Half>) {
    return {aclFloatToFloat16(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<T, Brain>) {
    return {brain_bits(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != C{0};
  } else {
    return static_cast<T>(value);
  }
}

template <typename C, typename T>
C load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return to_compute<C>(value);
}
// Reads a byte, not a bool: it may hold a value other than 0 or 1.
template <typename C>
C load_bool(const char* at) {
  return *at != 0 ? C{1} : C{0};
}

template <typename C, typename T>
void store(char* at, C value) {
  const T stored = from_compute<T>(value);
  std::memcpy(at, &stored, sizeof stored);
}

// Load and store for one element type, computing in C: float, double, or std::uint64_t, which wraps
// correctly for every integer type.
template <typename C>
struct Access {
  C (*load)(const char*);
  void (*store)(char*, C);
};

template <typename C>
Access<C> access(aclDataType type) {
  switch (type) {
    case ACL_FLOAT:
      return {load<C, float>, store<C, float>};
    case ACL_FLOAT16:
      return {load<C, Half>, store<C, Half>};
    case ACL_BF16:
      return {load<C, Brain>, store<C, Brain>};
    case ACL_DOUBLE:
      return {load<C, double>, store<C, double>};
    case ACL_INT8:
      return {load<C, std::int8_t>, store<C, std::int8_t>};
    case ACL_INT16:
      return {load<C, std::int16_t>, store<C, std::int16_t>};
    case ACL_INT32:
      return {load<C, std::int32_t>, store<C, std::int32_t>};
    case ACL_INT64:
      return {load<C, std::int64_t>, store<C, std::int64_t>};
    case ACL_UINT8:
      return {load<C, std::uint8_t>, store<C, std::uint8_t>};
    case ACL_UINT16:
      return {load<C, std::uint16_t>, store<C, std::uint16_t>};
    case ACL_UINT32:
      return {load<C, std::uint32_t>, store<C, std::uint32_t>};
    case ACL_UINT64:
      return {load<C, std::uint64_t>, store<C, std::uint64_t>};
    case ACL_BOOL:
      return {load_bool<C>, store<C, bool>};
    default:
      return {nullptr, nullptr};
  }
}

// State of one operand while rows are computed.
struct Operand {
  char* at;
  std::vector<std::int64_t> strides;  // in bytes, one per dimension of the result
  aclDataType type;
};

template <typename C>
void add_row(const Operand& self, const Operand& other, C alpha, const Operand& out,
             std::int64_t count) {
  const std::int64_t self_step = self.strides.back(), other_step = other.strides.back(),
                     out_step = out.strides.back();
  const Access<C> from = access<C>(self.type), plus = access<C>(other.type),
                  to = access<C>(out.type);
  for (std::int64_t i = 0; i < count; ++i) {
    to.store(out.at + i * out_step,
             from.load(self.at + i * self_step) + alpha * plus.load(other.at + i * other_step));
  }
}

// Fast path for float, in a form that compilers vectorize.
bool add_float_row(const Operand& self, const Operand& other, float alpha, const Operand& out,
                   std::int64_t count) {
  constexpr auto kStep = static_cast<std::int64_t>(sizeof(float));
  for (const Operand* operand : {&self, &other, &out}) {
    const bool in_a_row = operand->type == ACL_FLOAT && operand->strides.back() == kStep &&
                          reinterpret_cast<std::uintptr_t>(operand->at) % alignof(float) == 0;
    if (!in_a_row) return false;
  }
  const auto* left = reinterpret_cast<const float*>(self.at);
  const auto* right = reinterpret_cast<const float*>(other.at);
  auto* sum = reinterpret_cast<float*>(out.at);
  for (std::int64_t i = 0; i < count; ++i) sum[i] = left[i] + alpha * right[i];
  return true;
}

class Addition final : public Operation {
 public:
  Addition(TensorView self, TensorView other, const Number& alpha, TensorView out)
      : self_(std::move(self)), other_(std::move(other)), alpha_(alpha), out_(std::move(out)) {}

  // `other` is a single number, stored in this object.
  Addition(TensorView self, const Number& other, const Number& alpha, TensorView out)
      : self_(std::move(self)), alpha_(alpha), out_(std::move(out)) {
    other_.type = is_floating(other.type) ? ACL_DOUBLE : ACL_INT64;
    if (is_floating(other.type)) {
      std::memcpy(number_.data(), &other.real, sizeof other.real);
    } else {
      std::memcpy(number_.data(), &other.whole, sizeof other.whole);
    }
    other_.first = number_.data();
  }

  void run() const override {
    const bool wide = self_.type == ACL_DOUBLE || out_.type == ACL_DOUBLE ||
                      (other_.type == ACL_DOUBLE && other_.first != number_.data());
    if (wide) {
      run_in(alpha_.real);
    } else if (is_floating(self_.type) || is_floating(other_.type)) {
      run_in(static_cast<float>(alpha_.real));
    } else {
      run_in(static_cast<std::uint64_t>(alpha_.whole));
    }
  }

 private:
  Operand operand(const TensorView& view) const {
    const auto size = static_cast<std::int64_t>(aclDataTypeSize(view.type));
    // Missing dimensions and those of size 1 keep stride 0 (broadcast). A tensor without dimensions
    // counts as one dimension of size 1.
    const std::size_t rank = std::max<std::size_t>(out_.dims.size(), 1);
    std::vector<std::int64_t> strides(rank, 0);
    for (std::size_t i = 0; i < view.dims.size(); ++i) {
      if (view.dims[i] != 1) strides[rank - view.dims.size() + i] = view.strides[i] * size;
    }
    return {view.first, std::move(strides), view.type};
  }

  template <typename C>
  void run_in(C alpha) const {
    if (out_.elements() == 0) return;
    Operand self = operand(self_), other = operand(other_), out = operand(out_);
    const std::int64_t count = out_.dims.empty() ? 1 : out_.dims.back();
    const std::size_t outer = out_.dims.empty() ? 0 : out_.dims.size() - 1;
    std::vector<std::int64_t> index(outer, 0);
    for (;;) {
      bool done = false;
      if constexpr (std::is_same_v<C, float>) done = add_float_row(self, other, alpha, out, count);
      if (!done) add_row<C>(self, other, alpha, out, count);
      // Advance to the next row, like a counter with one digit per dimension.
      std::size_t axis = outer;
      for (; axis > 0; --axis) {
        const std::size_t digit = axis - 1;
        const bool carry = ++index[digit] == out_.dims[digit];
        for (Operand* moved : {&self, &other, &out}) {
          moved->at += moved->strides[digit] * (carry ? 1 - out_.dims[digit] : 1);
        }
        if (!carry) break;
        index[digit] = 0;
      }
      if (axis == 0) return;
    }
  }

  const TensorView self_;
  TensorView other_;
  const Number alpha_;
  const TensorView out_;
  std::array<char, 8> number_{};
};

std::string to_text(const std::vector<std::int64_t>& dims) {
  std::string text = "[";
  for (const std::int64_t dim : dims) text += (text.size() > 1 ? "," : "") + std::to_string(dim);
  return text + "]";
}

std::vector<std::int64_t> broadcast(const std::vector<std::int64_t>& left,
                                    const std::vector<std::int64_t>& right, int code) {
  std::vector<std::int64_t> dims(std::max(left.size(), right.size()), 1);
  for (std::size_t i = 1; i <= dims.size(); ++i) {
    const std::int64_t a = i <= left.size() ? left[left.size() - i] : 1;
    const std::int64_t b = i <= right.size() ? right[right.size() - i] : 1;
    if (a != b && a != 1 && b != 1) {
      throw Failure(code,
                    "shapes " + to_text(left) + " and " + to_text(right) + " cannot be broadcast");
    }
    dims[dims.size() - i] = a == 1 ? b : a;
  }
  return dims;
}

void check(const TensorView& self, aclDataType other, const Number& alpha, const TensorView& out,
           int code) {
  for (const aclDataType type : {self.type, other, alpha.type, out.type}) {
    if (!can_add(type)) {
      throw Failure(code, "data type " + std::to_string(type) + " cannot be added on a host");
    }
  }
  const bool floating = is_floating(self.type) || is_floating(other);
  if (floating && !is_floating(out.type)) {
    throw Failure(code, "the sum of floating-point numbers needs a floating-point result");
  }
  if (!floating && is_floating(alpha.type)) {
    throw Failure(code, "integers need an integer alpha");
  }
  if (out.type == ACL_BOOL && (self.type != ACL_BOOL || other != ACL_BOOL)) {
    throw Failure(code, "numbers cannot be stored in a boolean result");
  }
}

TensorWire make_wire(const TensorView& view, std::uint32_t kind) {
  TensorWire tensor = {};
  tensor.kind = kind;
  tensor.format = static_cast<std::uint32_t>(view.format);
  tensor.data_type = static_cast<std::uint32_t>(view.type);
  for (std::size_t i = 0; i < std::min(view.dims.size(), kShapeOfRecord); ++i) {
    tensor.shape[i] = static_cast<std::uint32_t>(view.dims[i]);
  }
  return tensor;
}

std::int64_t view_bytes(const TensorView& view) {
  return view.elements() * static_cast<std::int64_t>(aclDataTypeSize(view.type));
}

std::string to_text(const Number& number) {
  if (!is_floating(number.type)) return std::to_string(number.whole);
  std::array<char, 32> text;
  snprintf(text.data(), text.size(), "%g", number.real);
  return text.data();
}

void describe_addition(OpInfo& info, const std::string& name, const TensorView& self,
                       const TensorView* other, const Number& alpha, const TensorView& out) {
  info.name = name;
  info.type = "Add";
  info.task_type = kVectorCore;
  info.tensors.push_back(make_wire(self, kInputTensor));
  if (other != nullptr) info.tensors.push_back(make_wire(*other, kInputTensor));
  info.tensors.push_back(make_wire(out, kOutputTensor));
  info.attributes = "alpha:" + to_text(alpha);
  const std::int64_t elements = out.elements();
  const std::int64_t row = out.dims.empty() ? 1 : std::max<std::int64_t>(out.dims.back(), 1);
  const std::int64_t filled = (row + kVectorFloats - 1) / kVectorFloats * kVectorFloats;
  info.work.vector_ops = elements * kStepsAnElement;
  info.work.padded_vector_ops = elements / row * filled * kStepsAnElement;
  info.work.input_bytes = view_bytes(self) + (other != nullptr ? view_bytes(*other) : 0);
  info.work.output_bytes = view_bytes(out);
  describe(info);
}

}  // namespace

std::int64_t TensorView::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return count;
}

bool is_floating(aclDataType type) {
  return type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16 || type == ACL_DOUBLE;
}

bool can_add(aclDataType type) {
  return access<float>(type).load != nullptr;
}

Number read_number(const void* value, aclDataType type) {
  const auto* at = static_cast<const char*>(value);
  Number number;
  number.type = type;
  number.real = access<double>(type).load(at);
  if (!is_floating(type)) {
    number.whole = static_cast<std::int64_t>(access<std::uint64_t>(type).load(at));
  }
  return number;
}

std::shared_ptr<Operation> make_addition(const std::string& name, const TensorView& self,
                                         const TensorView& other, const Number& alpha,
                                         const TensorView& out, int code) {
  check(self, other.type, alpha, out, code);
  const std::vector<std::int64_t> dims = broadcast(self.dims, other.dims, code);
  if (dims != out.dims) {
    throw Failure(code, "the sum has shape " + to_text(dims) + ", the result " + to_text(out.dims));
  }
  auto made = std::make_shared<Addition>(self, other, alpha, out);
  describe_addition(made->info, name, self, &other, alpha, out);
  return made;
}

std::shared_ptr<Operation> make_addition(const std::string& name, const TensorView& self,
                                         const Number& other, const Number& alpha,
                                         const TensorView& out, int code) {
  check(self, other.type, alpha, out, code);
  if (self.dims != out.dims) {
    throw Failure(code,
                  "the sum has shape " + to_text(self.dims) + ", the result " + to_text(out.dims));
  }
  auto made = std::make_shared<Addition>(self, other, alpha, out);
  describe_addition(made->info, name, self, nullptr, alpha, out);
  return made;
}

}  // namespace msprof::acl
