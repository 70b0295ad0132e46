#include "import/cann/data_preprocess.hpp"

#include "base/text.hpp"

namespace msprof::cann {

namespace {

// The value of "key:value" where the key is `key`.
bool value_of(std::string_view part, std::string_view key, std::string_view& value) {
  part = trim(part);
  if (!part.starts_with(key)) return false;
  value = part.substr(key.size());
  return true;
}

bool number_of(std::string_view part, std::string_view key, std::uint64_t& number) {
  std::string_view value;
  return value_of(part, key, value) && parse_u64(trim(value), number);
}

}  // namespace

std::optional<QueueEntry> parse_dequeue(std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() < 4) return std::nullopt;
  const std::string_view head = trim(parts[0]);
  const std::size_t bracket = head.find(']');
  QueueEntry entry;
  if (!head.starts_with('[') || bracket == std::string_view::npos ||
      !parse_u64(trim(head.substr(1, bracket - 1)), entry.start_us)) {
    return std::nullopt;
  }
  entry.action = trim(head.substr(bracket + 1));
  std::uint64_t index = 0;
  // A name may have commas of its own.
  const std::size_t last = parts.size() - 1;
  const char* source_end = parts[last - 2].data() + parts[last - 2].size();
  const std::string_view source(parts[1].data(),
                                static_cast<std::size_t>(source_end - parts[1].data()));
  if (!value_of(source, "source:", entry.source) || !number_of(parts[last - 1], "index:", index) ||
      !number_of(parts[last], "size:", entry.size)) {
    return std::nullopt;
  }
  entry.index = index;
  return entry;
}

std::optional<QueueEntry> parse_mind_spore(std::string_view text) {
  constexpr std::size_t kValues = 4;
  const auto parts = split(text, ',');
  if (parts.size() != kValues) return std::nullopt;
  std::string_view values[kValues];
  for (std::size_t i = 0; i < kValues; ++i) {
    const std::size_t colon = parts[i].find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    values[i] = trim(parts[i].substr(colon + 1));
  }
  QueueEntry entry;
  std::uint64_t end = 0;
  if (!parse_u64(values[1], entry.size) || !parse_u64(values[2], entry.start_us) ||
      !parse_u64(values[3], end)) {
    return std::nullopt;
  }
  entry.source = values[0];
  entry.end_us = end;
  return entry;
}

}  // namespace msprof::cann
