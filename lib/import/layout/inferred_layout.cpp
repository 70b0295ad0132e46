#include "import/layout/inferred_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/text.hpp"
#include "base/words.hpp"

namespace msprof::layout {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxCandidates = 8;  // in a template

std::string type_name(std::size_t width) {
  return fmt::format("u{}", width * 8);
}

bool is_used(const FoundField& field, bool accept_likely) {
  return field.certainty == Certainty::certain ||
         (accept_likely && field.certainty == Certainty::likely);
}

ordered_json place_json(const FieldPlace& place) {
  ordered_json object = {{"offset", place.offset}, {"type", type_name(place.width)}};
  if (place.scale != 1) object["scale"] = place.scale;
  if (place.divisor != 1) object["divisor"] = place.divisor;
  if (place.base != 0) object["base"] = place.base;
  if (place.wraps) object["wraps"] = true;
  return object;
}

ordered_json candidates_json(const FoundField& field) {
  ordered_json list = ordered_json::array();
  const auto add = [&list](const FieldPlace& place, const std::string& why) {
    ordered_json one = place_json(place);
    one["why"] = why;
    list.push_back(std::move(one));
  };
  if (field.certainty == Certainty::likely) add(field.place, field.evidence);
  for (const FieldCandidate& candidate : field.candidates) {
    if (list.size() >= kMaxCandidates) break;
    const bool is_first =
        field.certainty == Certainty::likely && candidate.place.offset == field.place.offset;
    if (!is_first) add(candidate.place, candidate.why);
  }
  return list;
}

ordered_json field_json(const FoundField& field, bool accept_likely) {
  ordered_json object;
  if (is_used(field, accept_likely)) {
    object = place_json(field.place);
  } else {
    object = {{"offset", nullptr}, {"type", field.name.ends_with("_id") ? "u32" : "u64"}};
  }
  object["certainty"] = certainty_name(field.certainty);
  if (!field.evidence.empty()) object["_evidence"] = field.evidence;
  ordered_json candidates = candidates_json(field);
  if (!is_used(field, accept_likely) && !candidates.empty())
    object["_candidates"] = std::move(candidates);
  return object;
}

ordered_json blocks_json(const Blocks& blocks) {
  ordered_json object = {{"header_size", blocks.header_bytes}};
  if (blocks.count_width == 0) {
    object["records"] = blocks.records;
  } else {
    object["records"] = {{"offset", blocks.count_offset}, {"type", type_name(blocks.count_width)}};
  }
  return object;
}

ordered_json pairs_json(const FoundKind& kind) {
  ordered_json object = {
      {"offset", kind.pair->offset}, {"begin", kind.pair->begin}, {"end", kind.pair->end}};
  if (kind.core) object["core_offset"] = *kind.core;
  return object;
}

ordered_json layer_ids_json(const FoundKind& kind) {
  ordered_json object = ordered_json::object();
  for (const auto& [number, id] : kind.layer_ids) object[std::to_string(number)] = id;
  return object;
}

// If the records are not certain, the kind is used only with `--accept likely`.
bool is_framed(const FoundKind& kind, bool accept_likely) {
  return kind.record_certainty == Certainty::certain ||
         (accept_likely && kind.record_certainty == Certainty::likely);
}

bool gives_fields(const FoundKind& kind, bool accept_likely) {
  return is_framed(kind, accept_likely) &&
         std::any_of(kind.fields.begin(), kind.fields.end(),
                     [&](const FoundField& field) { return is_used(field, accept_likely); });
}

ordered_json kind_json(const FoundKind& kind, bool accept_likely) {
  const bool framed = gives_fields(kind, accept_likely);
  ordered_json object = {{"header_size", kind.header_bytes}, {"record_size", kind.record_bytes}};
  if (kind.record_bytes == 0) object["candidate_record_sizes"] = kind.candidate_record_sizes;
  object["_record"] =
      fmt::format("{}: {}", certainty_name(kind.record_certainty), kind.record_evidence);
  if (!kind.header_evidence.empty()) {
    object["_header"] =
        fmt::format("{}: {}", certainty_name(kind.header_certainty), kind.header_evidence);
  }
  if (kind.select) {
    object["select"] = {{"offset", kind.select->offset},
                        {"type", type_name(kind.select->width)},
                        {"value", kind.select->value}};
  }
  if (kind.pair) object["pairs"] = pairs_json(kind);
  if (kind.blocks) {
    object["executions"] = blocks_json(*kind.blocks);
    if (kind.blocks->count_width == 0)
      object["_executions"] = "as many records only for the models of these captures";
  }
  if (!kind.layer_ids.empty()) {
    object["layer_ids"] = layer_ids_json(kind);
    object["_layer_ids"] = "only for the models of these captures";
  }
  if (kind.core_mhz && framed) object["cycle_mhz"] = std::round(*kind.core_mhz * 1000) / 1000;
  ordered_json fields = ordered_json::object();
  for (const FoundField& field : kind.fields)
    fields[field.name] = field_json(field, accept_likely && framed);
  object["fields"] = std::move(fields);
  if (!kind.apis.empty()) {
    ordered_json names = ordered_json::object();
    for (const FoundApi& api : kind.apis) {
      names[std::to_string(api.id)] = {
          {"name", api.name}, {"type", "model"}, {"_evidence", "likely: " + api.evidence}};
    }
    object[accept_likely ? "api_names" : "_api_names"] = std::move(names);
  }
  return object;
}

std::string place_words(const FieldPlace& place) {
  std::string text = fmt::format("{:>4}  {:<4}", place.offset, type_name(place.width));
  if (place.scale != 1 || place.divisor != 1) text += fmt::format(" x{}", place.scale);
  if (place.divisor != 1) text += fmt::format("/{}", place.divisor);
  if (place.base != 0) text += fmt::format(" from {}", place.base);
  return text;
}

}  // namespace

std::string_view certainty_name(Certainty certainty) {
  if (certainty == Certainty::certain) return "certain";
  return certainty == Certainty::likely ? "likely" : "unknown";
}

const FoundField& FoundKind::field(std::string_view name) const {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const FoundField& one) { return one.name == name; });
  if (at == fields.end()) throw std::logic_error("no field of that name");
  return *at;
}

FoundField& FoundKind::field(std::string_view name) {
  return const_cast<FoundField&>(std::as_const(*this).field(name));
}

std::string layout_file_text(const InferredLayout& layout, bool accept_likely) {
  ordered_json document = {{"origin", "inferred"}};
  document["_how_to"] =
      "Inferred by msprof layout. Fields with an offset are used, those with null are not. If you "
      "know the offset of one, copy it from its candidates (best first). Then: msprof import "
      "--layout FILE";
  ordered_json files = ordered_json::array();
  for (const FoundKind& kind : layout.kinds) {
    for (std::size_t i = 0; i < kind.files.size(); ++i) {
      files.push_back(
          {{"kind", kind.kind}, {"file", valid_utf8(kind.files[i])}, {"size", kind.file_sizes[i]}});
    }
    // Kinds that an import could not use are written as remarks, so that the file can be passed to
    // import unchanged.
    const bool usable = gives_fields(kind, accept_likely);
    document[usable ? kind.kind : "_" + kind.kind] = kind_json(kind, accept_likely);
  }
  document["_files"] = std::move(files);
  return document.dump(2) + "\n";
}

ordered_json layout_json(const InferredLayout& layout, bool accept_likely) {
  ordered_json kinds = ordered_json::array();
  for (const FoundKind& kind : layout.kinds) {
    ordered_json one = {{"kind", kind.kind}, {"files", ordered_json::array()}};
    for (const std::string& file : kind.files) one["files"].push_back(valid_utf8(file));
    one["record_size"] = {{"value", kind.record_bytes},
                          {"certainty", certainty_name(kind.record_certainty)},
                          {"evidence", kind.record_evidence}};
    one["header_size"] = {{"value", kind.header_bytes},
                          {"certainty", certainty_name(kind.header_certainty)},
                          {"evidence", kind.header_evidence}};
    if (kind.record_bytes == 0) one["candidate_record_sizes"] = kind.candidate_record_sizes;
    if (kind.select) {
      one["select"] = {{"offset", kind.select->offset},
                       {"type", type_name(kind.select->width)},
                       {"value", kind.select->value}};
    }
    if (kind.pair) one["pairs"] = pairs_json(kind);
    if (kind.blocks) one["execution_headers"] = blocks_json(*kind.blocks);
    if (!kind.layer_ids.empty()) one["layer_ids"] = layer_ids_json(kind);
    if (kind.core_mhz) one["cycle_mhz"] = *kind.core_mhz;
    one["records"] = kind.records;
    one["layers"] = kind.layers;
    one["executions"] = kind.executions;
    one["fields"] = ordered_json::array();
    for (const FoundField& field : kind.fields) {
      ordered_json f = {{"name", field.name}, {"certainty", certainty_name(field.certainty)}};
      if (field.certainty != Certainty::unknown) f.update(place_json(field.place));
      f["used"] = is_framed(kind, accept_likely) && is_used(field, accept_likely);
      if (!field.evidence.empty()) f["evidence"] = field.evidence;
      ordered_json candidates = candidates_json(field);
      if (field.certainty != Certainty::certain && !candidates.empty())
        f["candidates"] = std::move(candidates);
      one["fields"].push_back(std::move(f));
    }
    one["api_names"] = ordered_json::array();
    for (const FoundApi& api : kind.apis) {
      one["api_names"].push_back({{"api_id", api.id},
                                  {"name", api.name},
                                  {"certainty", "likely"},
                                  {"evidence", api.evidence}});
    }
    kinds.push_back(std::move(one));
  }
  return kinds;
}

std::string layout_report(const InferredLayout& layout, bool accept_likely) {
  std::string text;
  for (const FoundKind& kind : layout.kinds) {
    text += fmt::format("{}  ({})\n", kind.kind, counted(kind.files.size(), "file"));
    if (kind.record_bytes == 0) {
      text += fmt::format("  record size   unknown: {}\n", kind.record_evidence);
      for (const std::uint64_t size : kind.candidate_record_sizes)
        text += fmt::format("    candidate {:>4}\n", size);
    } else {
      text += fmt::format("  record size   {:<4} {:<8} {}\n", kind.record_bytes,
                          certainty_name(kind.record_certainty), kind.record_evidence);
      text += fmt::format("  header size   {:<4} {:<8} {}\n", kind.header_bytes,
                          certainty_name(kind.header_certainty), kind.header_evidence);
    }
    if (kind.select) {
      text += fmt::format("  records       of the type {} at {}, {}\n", kind.select->value,
                          kind.select->offset, type_name(kind.select->width));
    }
    if (kind.pair) {
      text += fmt::format("  records       begins and ends, of the types {} and {} at {}\n",
                          kind.pair->begin, kind.pair->end, kind.pair->offset);
    }
    if (!kind.layer_ids.empty())
      text += "  layer numbers known for the models of these captures only\n";
    if (kind.blocks) {
      text += fmt::format("  executions    each with a header of {} bytes\n",
                          kind.blocks->header_bytes);
      if (kind.blocks->count_width == 0) {
        text +=
            fmt::format("  executions    have {} records for the models of these captures only\n",
                        kind.blocks->records);
      }
    }
    for (const FoundField& field : kind.fields) {
      if (field.certainty == Certainty::unknown) {
        text +=
            fmt::format("  {:<13} unknown{}\n", field.name,
                        field.candidates.empty()
                            ? ""
                            : fmt::format(", {}", counted(field.candidates.size(), "candidate")));
        continue;
      }
      const bool used = is_framed(kind, accept_likely) && is_used(field, accept_likely);
      text +=
          fmt::format("  {:<13} {:<22} {:<8} {}{}\n", field.name, place_words(field.place),
                      certainty_name(field.certainty), used ? "" : "(not used) ", field.evidence);
    }
    for (const FoundApi& api : kind.apis) {
      text += fmt::format("  id {:<10} {:<29} likely   {}{}\n", api.id, api.name,
                          accept_likely ? "" : "(not used) ", api.evidence);
    }
  }
  return text;
}

}  // namespace msprof::layout
