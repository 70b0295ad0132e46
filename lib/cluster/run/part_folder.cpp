#include "cluster/run/part_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "session/session.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::uint64_t kMaxStateBytes = 1 << 20;
constexpr const char* kStateSchema = "msprof.part-state/1";

constexpr std::string_view kOutcomes[] = {"current", "made", "partial", "failed"};

PartOutcome parse_outcome(const std::string& word) {
  for (std::size_t i = 0; i < std::size(kOutcomes); ++i) {
    if (kOutcomes[i] == word) return static_cast<PartOutcome>(i);
  }
  return PartOutcome::failed;
}

json capture_json(const ClusterCapture& capture) {
  json one = {{"folder", path_to_utf8(capture.folder)}};
  if (capture.rank) one["rank"] = *capture.rank;
  return one;
}

ClusterCapture parse_capture(const json& one) {
  ClusterCapture capture;
  capture.folder = utf8_to_path(one.at("folder").get<std::string>());
  if (one.contains("rank")) capture.rank = one.at("rank").get<std::int64_t>();
  return capture;
}

// Not synced, because there can be many ranks: a state truncated by a power cut is rejected.
void write_state(const fs::path& file, const json& state) {
  AtomicFile out(file);
  out.write(state.dump(1) + "\n");
  out.finish().rename();
}

}  // namespace

// JSON must be UTF-8, but paths are arbitrary bytes, so each byte is encoded as a Latin-1
// character.
std::string path_to_utf8(const fs::path& path) {
  std::string text;
  for (const char c : path.native()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xC0 | (byte >> 6));
      text += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return text;
}

fs::path utf8_to_path(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80 || i + 1 == text.size()) {
      bytes += text[i];
    } else {
      const auto next = static_cast<unsigned char>(text[++i]);
      bytes += static_cast<char>(((byte & 0x03) << 6) | (next & 0x3F));
    }
  }
  return bytes;
}

PartFolder::PartFolder(const fs::path& output) {
  create_output_folder(output);
  folder_ = fs::canonical(output);
  create_output_folder(folder_ / "parts");
}

// The hash distinguishes captures with the same name in different folders. It comes first so that
// the name does not look like a capture: the output may be below a searched folder.
fs::path PartFolder::capture_folder(const ClusterCapture& capture) const {
  const std::string name =
      fmt::format("{:08x}.{}", static_cast<std::uint32_t>(fnv1a(capture.folder.native())),
                  file_name_part(capture.folder.filename().string()));
  return folder_ / "parts" / limited_file_name(name, "");
}

fs::path PartFolder::part_path(const ClusterCapture& capture) const {
  return capture_folder(capture) / "rank.part";
}

fs::path PartFolder::parquet_log_path(const ClusterCapture& capture) const {
  return capture_folder(capture) / "parquet.log";
}

bool PartFolder::has_parquet(const ClusterCapture& capture, const std::string& fingerprint,
                             const fs::path& data_set) const {
  try {
    const json state =
        json::parse(read_text_file(capture_folder(capture) / "parquet.state", kMaxStateBytes));
    std::error_code error;
    return !fingerprint.empty() && state.at("schema") == kStateSchema &&
           state.at("fingerprint") == fingerprint &&
           state.at("data_set") == path_to_utf8(data_set) && fs::is_directory(data_set, error);
  } catch (const json::exception&) {
    return false;
  } catch (const Error&) {
    return false;
  }
}

void PartFolder::remember_parquet(const ClusterCapture& capture, const std::string& fingerprint,
                                  const fs::path& data_set) const {
  const json state = {
      {"schema", kStateSchema}, {"fingerprint", fingerprint}, {"data_set", path_to_utf8(data_set)}};
  write_state(capture_folder(capture) / "parquet.state", state);
}

fs::path PartFolder::log_path(const ClusterCapture& capture) const {
  return capture_folder(capture) / "rank.log";
}

std::string PartFolder::fingerprint(const ClusterCapture& capture) {
  std::string all = fmt::format("{} {}\n", MSPROF_VERSION, capture.rank.value_or(-1));
  std::size_t files = 0;
  try {
    const auto session = Session::open(capture.folder);
    // An unreadable file may have changed.
    const auto& findings = session->findings();
    if (std::any_of(findings.begin(), findings.end(),
                    [](const SessionFinding& one) { return one.id == FindingId::unreadable_file; }))
      return "";
    for (const RawFileState& file : session->file_states()) {
      all += fmt::format("{}\n{} {}\n", file.name, file.size_bytes, file.mtime_ns);
      ++files;
    }
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    return "";
  }
  return fmt::format("{:016x}-{}", fnv1a(all), files);
}

std::optional<CaptureResult> PartFolder::find_current(const ClusterCapture& capture,
                                                      const std::string& fingerprint) const {
  std::error_code error;
  const fs::path part = part_path(capture);
  if (fingerprint.empty() || !fs::is_regular_file(part, error)) return std::nullopt;
  try {
    const json state =
        json::parse(read_text_file(capture_folder(capture) / "rank.state", kMaxStateBytes));
    const bool is_same = state.at("schema") == kStateSchema &&
                         state.at("version") == MSPROF_VERSION &&
                         state.at("fingerprint") == fingerprint &&
                         state.at("part_bytes") == fs::file_size(part, error);
    if (!is_same) return std::nullopt;
    const bool is_partial = state.at("partial").get<bool>();
    return CaptureResult{capture,
                         part,
                         is_partial ? PartOutcome::partial : PartOutcome::current,
                         is_partial ? Exit::partial_data : Exit::ok,
                         "",
                         "",
                         ""};
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void PartFolder::remember(const CaptureResult& result, const std::string& fingerprint) const {
  std::error_code error;
  const json state = {{"schema", kStateSchema},
                      {"version", MSPROF_VERSION},
                      {"capture", path_to_utf8(result.capture.folder)},
                      {"fingerprint", fingerprint},
                      {"part_bytes", fs::file_size(result.part, error)},
                      {"partial", result.outcome == PartOutcome::partial}};
  write_state(capture_folder(result.capture) / "rank.state", state);
}

void PartFolder::begin(const ClusterCapture& capture) const {
  std::error_code ignored;
  create_output_folder(capture_folder(capture));
  fs::remove(capture_folder(capture) / "rank.state", ignored);
  fs::remove(capture_folder(capture) / "parquet.state", ignored);
  fs::remove(part_path(capture), ignored);
  remove_stale_temporaries(capture_folder(capture));
}

json as_json(const std::vector<CaptureResult>& results) {
  json list = json::array();
  for (const CaptureResult& result : results) {
    json one = capture_json(result.capture);
    one["part"] = path_to_utf8(result.part);
    one["outcome"] = kOutcomes[static_cast<std::size_t>(result.outcome)];
    one["exit"] = static_cast<int>(result.exit);
    one["reason"] = valid_utf8(result.reason);
    one["node"] = valid_utf8(result.node);
    one["lacks"] = valid_utf8(result.lacks);
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<CaptureResult> parse_results(const json& list) {
  std::vector<CaptureResult> results;
  for (const json& one : list) {
    CaptureResult result;
    result.capture = parse_capture(one);
    result.part = utf8_to_path(one.at("part").get<std::string>());
    result.outcome = parse_outcome(one.at("outcome").get<std::string>());
    result.exit = to_exit(one.at("exit").get<int>());
    result.reason = one.at("reason").get<std::string>();
    result.node = one.at("node").get<std::string>();
    result.lacks = one.at("lacks").get<std::string>();
    results.push_back(std::move(result));
  }
  return results;
}

json as_json(const std::vector<ClusterCapture>& captures) {
  json list = json::array();
  for (const ClusterCapture& capture : captures) list.push_back(capture_json(capture));
  return list;
}

std::vector<ClusterCapture> parse_captures(const json& list) {
  std::vector<ClusterCapture> captures;
  for (const json& one : list) captures.push_back(parse_capture(one));
  return captures;
}

}  // namespace msprof::cluster
