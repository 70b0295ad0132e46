#include "base/shorten_apart.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/text.hpp"

namespace msprof {

namespace {

// Which part of the room the begin of a text gets; the rest is for its end.
constexpr std::array kForEnds = {0.35, 0.0, 0.65, 1.0};
constexpr std::array kForBegins = {1.0, 0.65, 0.35, 0.0};
// What is cut off in front must be worth its ellipsis.
constexpr std::size_t kLeastPrefix = 4;
constexpr std::string_view kSeparators = "/.:_-+";

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    all.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return all;
}

std::string cut_inside(const std::string& text, int width, double head_part) {
  if (display_width(text) <= width) return text;
  const auto all = characters(text);
  const int room = std::max(0, width - 1);
  const int head_room = static_cast<int>(room * head_part);
  std::size_t head = 0, tail = all.size();
  int used = 0;
  while (head < tail && used + display_width(all[head]) <= head_room)
    used += display_width(all[head++]);
  while (tail > head && used + display_width(all[tail - 1]) <= room)
    used += display_width(all[--tail]);
  std::string result;
  for (std::size_t i = 0; i < head; ++i) result += all[i];
  result += "…";
  for (std::size_t i = tail; i < all.size(); ++i) result += all[i];
  return result;
}

// What all names begin with, up to its last separator. "-" and "N/A" are no names.
std::size_t common_prefix(const std::vector<std::string>& texts) {
  const std::string* first = nullptr;
  std::size_t common = 0;
  bool differ = false;
  for (const std::string& text : texts) {
    if (text.empty() || text == "-" || text == "N/A") continue;
    if (first == nullptr) {
      first = &text;
      common = text.size();
      continue;
    }
    differ = differ || text != *first;
    const std::size_t most = std::min(common, text.size());
    common = static_cast<std::size_t>(
        std::mismatch(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(most),
                      first->begin())
            .first -
        text.begin());
  }
  if (!differ) return 0;
  const std::size_t at = first->substr(0, common).find_last_of(kSeparators);
  return at == std::string::npos || at + 1 < kLeastPrefix ? 0 : at + 1;
}

struct Cut {
  std::size_t prefix = 0;  // bytes that every name loses in front
  double head_part = 0;
};

std::string apply(const std::string& text, const Cut& cut, int width) {
  if (display_width(text) <= width) return text;
  const bool drops = cut.prefix > 0 && text.size() > cut.prefix;
  if (!drops) return cut_inside(text, width, cut.head_part);
  const std::string rest = text.substr(cut.prefix);
  if (display_width(rest) + 1 <= width) return "…" + rest;
  return cut_inside("…" + rest, width, cut.head_part);
}

class Shortener {
 public:
  explicit Shortener(const std::vector<std::string>& texts)
      : distinct_(texts.begin(), texts.end()), prefix_(common_prefix(texts)) {}

  std::size_t count() const { return distinct_.size(); }

  // The cut that leaves most names apart, and how many it leaves.
  std::pair<Cut, std::size_t> best(int width, Keep keep) const {
    Cut best;
    std::size_t most = 0;
    const auto& head_parts = keep == Keep::ends ? kForEnds : kForBegins;
    const auto first = keep == Keep::ends ? prefix_ : 0;
    for (const std::size_t prefix : {first, prefix_ - first}) {
      for (const double head_part : head_parts) {
        if (most == distinct_.size()) break;
        const Cut cut{prefix, head_part};
        std::set<std::string> left;
        for (const std::string& text : distinct_) left.insert(apply(text, cut, width));
        if (left.size() > most) {
          most = left.size();
          best = cut;
        }
      }
    }
    return {best, most};
  }

 private:
  std::set<std::string> distinct_;
  std::size_t prefix_;
};

}  // namespace

std::vector<std::string> shorten_apart(const std::vector<std::string>& texts, int width,
                                       Keep keep) {
  const bool fits = std::all_of(texts.begin(), texts.end(),
                                [&](const auto& text) { return display_width(text) <= width; });
  if (fits) return texts;
  const Cut cut = Shortener(texts).best(width, keep).first;
  std::vector<std::string> result;
  for (const std::string& text : texts) result.push_back(apply(text, cut, width));
  return result;
}

int width_apart(const std::vector<std::string>& texts, int least) {
  int most = least;
  for (const std::string& text : texts) most = std::max(most, display_width(text));
  const Shortener shortener(texts);
  int low = least;
  // Wider is hardly ever worse.
  while (low < most) {
    const int middle = low + (most - low) / 2;
    if (shortener.best(middle, Keep::ends).second == shortener.count()) {
      most = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace msprof
