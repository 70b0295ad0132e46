// Texts of CANN captures that tables, timelines and the unified database share: names by their id,
// and what numbers of the records stand for. Source of the numbers: cann_host.md 1.8, 1.9.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "store/database.hpp"

namespace msprof::cann {

enum class TextForm {
  plain,
  json,  // quoted and escaped
};

// Texts of the table `name` by id, kept as long as there are not too many.
class Texts {
 public:
  explicit Texts(const Database& db, TextForm form = TextForm::plain);
  // Valid until the next call; the empty text for an id that is not there.
  const std::string& operator()(std::int64_t id);

 private:
  TextForm form_;
  Statement read_;
  std::unordered_map<std::int64_t, std::string> known_;
};

// Names of operators, as ids of texts.
class OpNames {
 public:
  explicit OpNames(const Database& db);
  // Empty for none, for one that is not there, and for one without a name.
  std::optional<std::int64_t> of(std::optional<std::int64_t> op_id);

 private:
  Statement read_;
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> known_;
};

struct NumberText {
  std::int64_t number = 0;
  std::string_view text;
};
// 32 bits of ones: the peer's INVALID_TYPE, which its database has as 65535.
inline constexpr std::int64_t kInvalidType = 0xFFFFFFFF;

std::span<const NumberText> copy_directions();
std::span<const NumberText> comm_data_types();    // T4
std::span<const NumberText> link_types();         // T6
std::span<const NumberText> transport_types();    // T7
std::span<const NumberText> remote_copy_types();  // T8

// `other` for a number that is not in the table.
std::string_view text_of(std::span<const NumberText> table, std::int64_t number,
                         std::string_view other = {});

}  // namespace msprof::cann
