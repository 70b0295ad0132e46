#include "runtime/engine/model/layer_reader.hpp"

#include <cfloat>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace msprof::runtime {
namespace {

constexpr std::size_t kMaxNameBytes = 256;

}  // namespace

LayerReader::LayerReader(std::string place, const nlohmann::json& object)
    : place_(std::move(place)), object_(object) {
  if (!object.is_object()) fail("must be a JSON object");
}

void LayerReader::fail(const std::string& what) const {
  throw ModelError(place_ + ": " + what);
}

const nlohmann::json* LayerReader::find(const char* key) {
  used_.insert(key);
  const auto it = object_.find(key);
  return it == object_.end() ? nullptr : &*it;
}

const nlohmann::json& LayerReader::need(const char* key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) fail(std::string("\"") + key + "\" is missing");
  return *value;
}

bool LayerReader::has(const char* key) const {
  return object_.contains(key);
}

std::string LayerReader::checked_text(const char* key, const nlohmann::json& value) const {
  if (!value.is_string()) fail(std::string("\"") + key + "\" must be a string");
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty() || text.size() > kMaxNameBytes || text.find('\0') != std::string::npos) {
    fail(std::string("\"") + key + "\" must have 1 to 256 bytes and no NUL");
  }
  return text;
}

int64_t LayerReader::checked_integer(const char* key, const nlohmann::json& value, int64_t least,
                                     int64_t most) const {
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX);
  if (!fits || value.get<int64_t>() < least || value.get<int64_t>() > most) {
    fail(std::string("\"") + key + "\" must be an integer from " + std::to_string(least) + " to " +
         std::to_string(most));
  }
  return value.get<int64_t>();
}

std::string LayerReader::text(const char* key) {
  return checked_text(key, need(key));
}

std::string LayerReader::text(const char* key, const std::string& otherwise) {
  const nlohmann::json* value = find(key);
  return value == nullptr ? otherwise : checked_text(key, *value);
}

int64_t LayerReader::integer(const char* key, int64_t least, int64_t most) {
  return checked_integer(key, need(key), least, most);
}

int64_t LayerReader::integer(const char* key, int64_t least, int64_t most, int64_t otherwise) {
  const nlohmann::json* value = find(key);
  return value == nullptr ? otherwise : checked_integer(key, *value, least, most);
}

float LayerReader::number(const char* key, float otherwise) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number() || !(std::fabs(value->get<double>()) <= static_cast<double>(FLT_MAX))) {
    fail(std::string("\"") + key + "\" must be a finite number");
  }
  return value->get<float>();
}

bool LayerReader::flag(const char* key, bool otherwise) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) fail(std::string("\"") + key + "\" must be true or false");
  return value->get<bool>();
}

const nlohmann::json& LayerReader::list(const char* key) {
  const nlohmann::json& value = need(key);
  if (!value.is_array()) fail(std::string("\"") + key + "\" must be a list");
  return value;
}

std::vector<std::string> LayerReader::texts(const char* key) {
  std::vector<std::string> result;
  for (const nlohmann::json& item : list(key)) result.push_back(checked_text(key, item));
  return result;
}

std::vector<int64_t> LayerReader::integers(const char* key, int64_t least, int64_t most) {
  std::vector<int64_t> result;
  for (const nlohmann::json& item : list(key))
    result.push_back(checked_integer(key, item, least, most));
  return result;
}

std::pair<int64_t, int64_t> LayerReader::pair(const char* key, int64_t least, int64_t most,
                                              int64_t otherwise) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return {otherwise, otherwise};
  if (!value->is_array()) {
    const int64_t both = checked_integer(key, *value, least, most);
    return {both, both};
  }
  if (value->size() != 2) fail(std::string("\"") + key + "\" must be one integer or a list of two");
  return {checked_integer(key, (*value)[0], least, most),
          checked_integer(key, (*value)[1], least, most)};
}

std::vector<float> LayerReader::numbers(const char* key, int64_t count) {
  const nlohmann::json& values = list(key);
  if (values.size() != static_cast<std::size_t>(count)) {
    fail(std::string("\"") + key + "\" has " + std::to_string(values.size()) + " numbers where " +
         std::to_string(count) + " are needed");
  }
  std::vector<float> result;
  result.reserve(values.size());
  for (const nlohmann::json& value : values) {
    if (!value.is_number() || !(std::fabs(value.get<double>()) <= static_cast<double>(FLT_MAX))) {
      fail(std::string("\"") + key + "\" must hold finite numbers");
    }
    result.push_back(value.get<float>());
  }
  return result;
}

void LayerReader::expect_all_used() const {
  for (const auto& item : object_.items()) {
    if (!used_.contains(item.key()))
      fail("\"" + item.key().substr(0, 64) + "\" is not a key of this object");
  }
}

}  // namespace msprof::runtime
