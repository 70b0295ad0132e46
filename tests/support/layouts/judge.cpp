#include "support/layouts/judge.hpp"

#include <algorithm>
#include <optional>

namespace msprof::test {

namespace {

using layout::Certainty;

std::size_t type_bytes(const std::string& type) {
  return static_cast<std::size_t>(std::stoi(type.substr(1))) / 8;
}

std::optional<std::uint64_t> number_in(const std::string& bytes, std::size_t at,
                                       std::size_t width) {
  if (at + width > bytes.size()) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = width; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  }
  return value;
}

// Offsets of the complete records that a layout selects.
std::vector<std::size_t> taken_records(const std::string& bytes, std::size_t header,
                                       std::size_t size, std::optional<TrueSelect> select) {
  std::vector<std::size_t> records;
  for (std::size_t at = header; size > 0 && at + size <= bytes.size(); at += size) {
    if (select && number_in(bytes, at + select->offset, type_bytes(select->type)) != select->value)
      continue;
    records.push_back(at);
  }
  return records;
}

class Judge {
 public:
  Judge(const layout::FoundKind& found, const TrueLayout& truth, const std::string& bytes)
      : found_(found), truth_(truth), bytes_(bytes) {
    std::optional<TrueSelect> select;
    if (found.select) {
      select = TrueSelect{found.select->offset, "u" + std::to_string(found.select->width * 8),
                          found.select->value};
    }
    found_records_ = taken_records(bytes, found.header_bytes, found.record_bytes, select);
    true_records_ = taken_records(bytes, truth.header_size, truth.record_size, truth.select);
  }

  KindVerdict run() {
    // Records of two types that alternate are also records of twice the size.
    const bool same_records =
        found_.record_bytes == truth_.record_size ||
        (truth_.select && !found_.select && found_.record_bytes % truth_.record_size == 0 &&
         std::max(found_records_.size(), true_records_.size()) <=
             std::min(found_records_.size(), true_records_.size()) + 1);
    say("record size", found_.record_certainty, same_records);
    const bool same_header = found_.record_bytes != 0 && same_records &&
                             (truth_.select ? found_.header_bytes % truth_.record_size ==
                                                  truth_.header_size % truth_.record_size
                                            : found_.header_bytes == truth_.header_size);
    say("header size", found_.header_certainty, same_header);
    for (const layout::FoundField& field : found_.fields) {
      if (const TrueField* truth = truth_.find(field.name)) {
        say(field.name, field.certainty, is_right(field, *truth));
      } else if (field.certainty != Certainty::unknown) {
        say(field.name, field.certainty, false);
      }
    }
    verdict_.has_main_fields = main_fields_ == 5;
    return verdict_;
  }

 private:
  // Compares the values of all records. If the file is truncated, one side may have one record
  // less.
  bool is_right(const layout::FoundField& field, const TrueField& truth) const {
    const std::size_t count = std::min(found_records_.size(), true_records_.size());
    if (std::max(found_records_.size(), true_records_.size()) > count + 1) return false;
    if (count == 0 || field.place.scale * truth.divisor != truth.scale * field.place.divisor)
      return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (number_in(bytes_, found_records_[i] + field.place.offset, field.place.width) !=
          number_in(bytes_, true_records_[i] + truth.offset, type_bytes(truth.type))) {
        return false;
      }
    }
    return true;
  }

  void say(const std::string& name, Certainty certainty, bool is_right) {
    std::string word(layout::certainty_name(certainty));
    if (certainty != Certainty::unknown && !is_right) word += ", wrong";
    verdict_.words.emplace_back(name, word);
    if (certainty != Certainty::certain) return;
    if (!is_right) verdict_.wrong.push_back(name);
    static const std::vector<std::string> kMainFields = {"record size", "layer_id", "start", "end",
                                                         "total_cycles"};
    if (is_right && std::find(kMainFields.begin(), kMainFields.end(), name) != kMainFields.end())
      ++main_fields_;
  }

  const layout::FoundKind& found_;
  const TrueLayout& truth_;
  const std::string& bytes_;
  std::vector<std::size_t> found_records_, true_records_;
  KindVerdict verdict_;
  int main_fields_ = 0;
};

}  // namespace

KindVerdict judge(const layout::FoundKind& found, const TrueLayout& truth,
                  const std::string& bytes) {
  return Judge(found, truth, bytes).run();
}

}  // namespace msprof::test
