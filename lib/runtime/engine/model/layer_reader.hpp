// Reads one JSON object of a model file with type and range checks; every key must be used. Model
// files are untrusted: any error throws a ModelError whose message names the position.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace msprof::runtime {

class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class LayerReader {
 public:
  // `place` starts every error message, for example `layer 'conv1'`; `object` must outlive the
  // reader.
  LayerReader(std::string place, const nlohmann::json& object);

  bool has(const char* key) const;
  std::string text(const char* key);
  std::string text(const char* key, const std::string& otherwise);
  int64_t integer(const char* key, int64_t least, int64_t most);
  int64_t integer(const char* key, int64_t least, int64_t most, int64_t otherwise);
  float number(const char* key, float otherwise);
  bool flag(const char* key, bool otherwise);
  std::vector<std::string> texts(const char* key);
  std::vector<int64_t> integers(const char* key, int64_t least, int64_t most);
  // One integer for both axes, or a list of two: rows, columns.
  std::pair<int64_t, int64_t> pair(const char* key, int64_t least, int64_t most, int64_t otherwise);
  // Exactly `count` finite numbers.
  std::vector<float> numbers(const char* key, int64_t count);
  const nlohmann::json& list(const char* key);

  // Throws if a key was never read: a misspelled "stride" must not be ignored.
  void expect_all_used() const;
  [[noreturn]] void fail(const std::string& what) const;
  const std::string& place() const { return place_; }

 private:
  const nlohmann::json* find(const char* key);
  const nlohmann::json& need(const char* key);
  int64_t checked_integer(const char* key, const nlohmann::json& value, int64_t least,
                          int64_t most) const;
  std::string checked_text(const char* key, const nlohmann::json& value) const;

  std::string place_;
  const nlohmann::json& object_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace msprof::runtime
