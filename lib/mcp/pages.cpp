#include "mcp/pages.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.hpp"

namespace msprof::mcp {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kWholeBytes = 400;   // a value of this size is not divided
constexpr std::size_t kLongestName = 500;  // in an answer; members with longer names are left out

constexpr std::array<std::string_view, 6> kLabels = {"folder", "file",    "name",
                                                     "title",  "columns", "rule"};

// Returns true if the text of `value` has at most `bytes` bytes. Visits no more than needed to
// know.
bool is_within(const ordered_json& value, std::size_t& bytes) {
  const auto take = [&](std::size_t count) {
    if (count > bytes) return false;
    bytes -= count;
    return true;
  };
  if (value.is_string()) return take(value.get_ref<const std::string&>().size() + 2);
  if (!value.is_structured()) return take(json_text(value).size());
  if (!take(2)) return false;
  for (const auto& [key, member] : value.items()) {
    if (value.is_object() && !take(key.size() + 3)) return false;
    if (!take(1) || !is_within(member, bytes)) return false;
  }
  return true;
}

bool is_whole(const ordered_json& value) {
  std::size_t bytes = kWholeBytes;
  return !value.is_structured() || value.empty() || is_within(value, bytes);
}

class PageCutter {
 public:
  PageCutter(std::size_t from, std::size_t most_bytes)
      : from_(from), left_(most_bytes), label_bytes_(most_bytes / 3) {}

  Page cut(const ordered_json& document) {
    Page page;
    if (auto part = cut_structure(document)) page.document = std::move(*part);
    if (!is_full_) return page;
    // Never happens for documents of verbs: a value that fits into no page is left out.
    if (taken_ == 0) page.document["left_out"] = "a value that is too large";
    page.next = std::max(position_, from_) + (taken_ == 0 ? 1 : 0);
    return page;
  }

 private:
  std::optional<ordered_json> cut_value(const ordered_json& value) {
    if (is_full_) return std::nullopt;
    if (!is_whole(value)) return cut_structure(value);
    if (position_ < from_) {
      ++position_;
      return std::nullopt;
    }
    std::optional<ordered_json> taken = value;
    if (!spend(answer_bytes(json_text(value)))) {
      if (taken_ > 0 || !value.is_string() || !shorten_text(*taken)) {
        is_full_ = true;
        return std::nullopt;
      }
    }
    ++position_;
    ++taken_;
    return taken;
  }

  std::optional<ordered_json> cut_structure(const ordered_json& value) {
    const std::size_t left_before = left_;
    const std::size_t labels_before = label_bytes_;
    const std::size_t taken_before = taken_;
    if (!spend(answer_bytes("{}"))) {
      is_full_ = true;
      return std::nullopt;
    }
    ordered_json part = value.is_object() ? ordered_json::object() : ordered_json::array();
    for (const auto& [key, member] : value.items()) {
      const std::size_t name_bytes =
          answer_bytes(value.is_object() ? json_text(key) + ":," : std::string(","));
      if (name_bytes > kLongestName) {
        ++position_;
        continue;
      }
      const std::size_t left_here = left_;
      const bool is_earlier = position_ < from_;
      if (!spend(name_bytes)) is_full_ = true;
      if (is_full_) break;
      if (auto taken = cut_value(member)) {
        if (value.is_object()) {
          part[key] = std::move(*taken);
        } else {
          part.push_back(std::move(*taken));
        }
        continue;
      }
      left_ = left_here;
      if (is_earlier && value.is_object()) add_label(part, key, member);
    }
    if (taken_ > taken_before) return part;
    left_ = left_before;
    label_bytes_ = labels_before;
    return std::nullopt;
  }

  void add_label(ordered_json& part, const std::string& key, const ordered_json& member) {
    if (std::find(kLabels.begin(), kLabels.end(), key) == kLabels.end()) return;
    const std::size_t bytes = answer_bytes(json_text(key) + ":," + json_text(member));
    if (bytes > label_bytes_ || !spend(bytes)) return;
    label_bytes_ -= bytes;
    part[key] = member;
  }

  // Cuts a text to the bytes that are left.
  bool shorten_text(ordered_json& text) {
    constexpr std::string_view kCut = "…";
    const auto& whole = text.get_ref<const std::string&>();
    std::size_t size = std::min(whole.size(), left_ / 2);
    while (size > 0) {
      std::string part = whole.substr(0, size);
      while (!part.empty() && !is_valid_utf8(part)) part.pop_back();
      ordered_json shown = part + std::string(kCut);
      if (spend(answer_bytes(json_text(shown)))) {
        text = std::move(shown);
        return true;
      }
      size = size * 3 / 4;
    }
    return false;
  }

  bool spend(std::size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

  std::size_t from_;
  std::size_t left_;          // bytes
  std::size_t label_bytes_;   // for names of what continues; rows need the rest
  std::size_t position_ = 0;  // values passed
  std::size_t taken_ = 0;     // values on the page
  bool is_full_ = false;
};

}  // namespace

std::string json_text(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::size_t answer_bytes(std::string_view json) {
  // Within a quoted text, quotes and backslashes have a backslash.
  const auto escapes =
      std::count_if(json.begin(), json.end(), [](char c) { return c == '"' || c == '\\'; });
  return 2 * json.size() + static_cast<std::size_t>(escapes);
}

Page cut_page(const ordered_json& document, std::size_t from, std::size_t most_bytes) {
  return PageCutter(from, most_bytes).cut(document);
}

}  // namespace msprof::mcp
