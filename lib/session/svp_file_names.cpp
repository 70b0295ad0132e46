#include "session/svp_file_names.hpp"

#include <span>
#include <vector>

#include "base/text.hpp"

namespace msprof::svp {

namespace {

SvpFileKind parse_kind(std::string_view word) {
  const std::string lower = lower_ascii(word);
  if (lower == "aicore" || lower == "aacore") return SvpFileKind::aicore;
  if (lower == "aicpu" || lower == "aacpu") return SvpFileKind::aicpu;
  if (lower == "acl_api" || lower == "aclmodule") return SvpFileKind::acl_api;
  if (lower == "cont") return SvpFileKind::cont;
  return SvpFileKind::other;
}

std::string joined(std::span<const std::string_view> parts) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result += '.';
    result += parts[i];
  }
  return result;
}

using Parts = std::vector<std::string_view>;

// Parses model, model_id, [net], batch, pics, current from the last `tail` parts. Returns nullopt
// if they are not numbers or leave no model name.
std::optional<SvpFileName> read_tail(const SvpFileName& start, const Parts& parts,
                                     std::size_t tail) {
  constexpr std::size_t kHead = 2;  // type and device
  if (parts.size() < kHead + 1 + tail) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = parts.size() - tail; i < parts.size(); ++i) {
    const auto value = parse_i64(parts[i]);
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  SvpFileName name = start;
  name.model = joined(std::span(parts).subspan(kHead, parts.size() - kHead - tail));
  if (name.model.empty()) return std::nullopt;
  name.model_id = numbers.front();
  if (tail == 5) name.net = numbers[1];
  if (tail >= 4) {
    name.batch_num = numbers[tail - 3];
    name.input_pic_num = numbers[tail - 2];
    name.current_pic_count = numbers[tail - 1];
  }
  return name;
}

// Chooses between the name read with and without a net number: the one whose model has a net.info,
// else the one without.
SvpFileName choose(const std::optional<SvpFileName>& without_net,
                   const std::optional<SvpFileName>& with_net, const KnownModels& known) {
  if (!with_net) return *without_net;
  if (!without_net) return *with_net;
  const auto is_known = [&](const SvpFileName& name) {
    return known.count({name.model, name.model_id}) != 0;
  };
  if (is_known(*with_net) && !is_known(*without_net)) return *with_net;
  SvpFileName name = *without_net;
  name.is_ambiguous = is_known(*with_net) == is_known(*without_net);
  return name;
}

}  // namespace

std::string_view kind_name(SvpFileKind kind) {
  switch (kind) {
    case SvpFileKind::info_json:
      return "info.json";
    case SvpFileKind::net_info:
      return "net.info";
    case SvpFileKind::layer_info:
      return "layer.info";
    case SvpFileKind::aicore:
      return "aicore";
    case SvpFileKind::aicpu:
      return "aicpu";
    case SvpFileKind::acl_api:
      return "acl_api";
    case SvpFileKind::cont:
      return "cont";
    case SvpFileKind::short_data:
      return "short name";
    case SvpFileKind::other:
      break;
  }
  return "other";
}

std::optional<SvpFileName> parse_info_name(std::string_view name) {
  const std::string lower = lower_ascii(name);
  for (const auto& [suffix, kind] :
       {std::pair<std::string_view, SvpFileKind>{".net.info", SvpFileKind::net_info},
        {".layer.info", SvpFileKind::layer_info}}) {
    if (!lower.ends_with(suffix)) continue;
    const std::string_view stem = name.substr(0, name.size() - suffix.size());
    const std::size_t dot = stem.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return std::nullopt;
    const auto model_id = parse_i64(stem.substr(dot + 1));
    if (!model_id) return std::nullopt;
    SvpFileName result;
    result.kind = kind;
    result.model = std::string(stem.substr(0, dot));
    result.model_id = *model_id;
    return result;
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_info_json_name(std::string_view name) {
  constexpr std::string_view kPrefix = "info.json.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return parse_i64(name.substr(kPrefix.size()));
}

SvpFileName parse_data_name(std::string_view text, const KnownModels& known) {
  if (const auto info = parse_info_name(text)) return *info;
  const Parts parts = split(text, '.');
  SvpFileName name;
  name.kind = parse_kind(parts.front());
  const auto device = parts.size() < 2 ? std::nullopt : parse_i64(parts[1]);
  if (name.kind == SvpFileKind::other || !device) return SvpFileName{};
  name.device = *device;
  if (name.kind == SvpFileKind::cont) return name;
  if (name.kind == SvpFileKind::acl_api) return read_tail(name, parts, 1).value_or(SvpFileName{});

  if (parts.size() == 4) {
    const auto first = parse_i64(parts[2]);
    const auto second = parse_i64(parts[3]);
    if (!first || !second) return SvpFileName{};
    name.data_kind = name.kind;
    name.kind = SvpFileKind::short_data;
    name.short_numbers = {*first, *second};
    return name;
  }
  const auto without_net = read_tail(name, parts, 4);
  const auto with_net = read_tail(name, parts, 5);
  if (!without_net && !with_net) return SvpFileName{};
  return choose(without_net, with_net, known);
}

bool short_name_fits(const SvpFileName& short_name, const SvpFileName& long_name) {
  if (short_name.data_kind != long_name.kind || short_name.device != long_name.device) return false;
  // In board logs "aicore.0.1.1" belongs to "aicore.0.<model>.31.1.1.0.done": the numbers are batch
  // and pictures, or pictures and current count. Accepts both (svp_job.md 2.2).
  const auto& numbers = short_name.short_numbers;
  return numbers == std::pair(long_name.batch_num, long_name.input_pic_num) ||
         numbers == std::pair(long_name.input_pic_num, long_name.current_pic_count);
}

}  // namespace msprof::svp
