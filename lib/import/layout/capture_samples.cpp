#include "import/layout/capture_samples.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/read_write.hpp"
#include "import/svp/device_info.hpp"
#include "import/svp/layer_info.hpp"
#include "session/svp_session.hpp"

namespace msprof::layout {

namespace {

using nlohmann::json;
using svp::SvpFileKind;

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;      // per file
constexpr std::size_t kMaxAllBytes = std::size_t{24} << 20;  // of a kind
constexpr std::size_t kTailBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxFiles = 256;  // per kind
constexpr std::uint64_t kMaxInfoBytes = 64 << 20;
constexpr std::string_view kOwnMagic = "MSVP";

using ModelKey = std::pair<std::string, std::int64_t>;

bool is_ours(const std::vector<std::byte>& bytes) {
  return bytes.size() >= kOwnMagic.size() &&
         std::equal(kOwnMagic.begin(), kOwnMagic.end(), bytes.begin(),
                    [](char c, std::byte byte) { return std::to_integer<char>(byte) == c; });
}

// The last bytes of a file; empty if they cannot be read.
std::vector<std::byte> read_end(const RawFile& file) {
  std::vector<std::byte> bytes(kTailBytes);
  const FileDescriptor fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (read_all_at(fd.get(), bytes, file.size_bytes - kTailBytes) < bytes.size()) bytes.clear();
  return bytes;
}

// Reads the bytes of a file. Returns false if it is empty or has our own format.
bool read_bytes(const RawFile& file, std::size_t most_bytes, FileSample& sample) {
  FileReader reader(file.path);
  sample.bytes.resize(
      static_cast<std::size_t>(std::min<std::uint64_t>(file.size_bytes, most_bytes)));
  sample.bytes.resize(reader.read(sample.bytes));
  if (sample.bytes.empty() || is_ours(sample.bytes)) return false;
  if (file.size_bytes >= most_bytes + kTailBytes) sample.tail = read_end(file);
  return true;
}

std::optional<DoneWindow> read_window(const RawFile& file) {
  if (!file.done) return std::nullopt;
  const auto begin = file.done->integer("start_time");
  const auto end = file.done->integer("end_time");
  if (!begin || !end || *begin < 0 || *end <= *begin) return std::nullopt;
  return DoneWindow{static_cast<std::uint64_t>(*begin), static_cast<std::uint64_t>(*end)};
}

std::vector<LayerFacts> make_facts(const std::vector<svp::SvpLayer>& layers,
                                   const std::optional<std::int64_t>& net,
                                   const LayerShapes& shapes, bool on_cpu) {
  std::vector<LayerFacts> all;
  std::set<std::int64_t> ids;
  for (const svp::SvpLayer& layer : layers) {
    if (layer.is_on_cpu != on_cpu || (net && layer.net_id != *net) ||
        !ids.insert(layer.layer_id).second)
      continue;
    LayerFacts facts;
    facts.id = layer.layer_id;
    facts.type = layer.type;
    facts.name = layer.name;
    facts.info_offset = layer.info_offset;
    if (const auto shape = shapes.find(layer.name); shape != shapes.end()) {
      facts.read_bytes = shape->second.read_bytes;
      facts.written_bytes = shape->second.written_bytes;
    }
    all.push_back(std::move(facts));
  }
  return all;
}

std::uint64_t bytes_in(const json& layer, const char* key) {
  const auto at = layer.find(key);
  return at != layer.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

}  // namespace

LayerShapes parse_model_info(const std::string& text, const std::string& file) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object() || !document.contains("layers") ||
      !document["layers"].is_array()) {
    throw Error(Exit::usage,
                fmt::format("{}: must be a JSON object with the array 'layers'", file));
  }
  LayerShapes shapes;
  for (const json& layer : document["layers"]) {
    if (!layer.is_object() || !layer.contains("name") || !layer["name"].is_string()) {
      throw Error(Exit::usage, fmt::format("{}: every layer must have a 'name'", file));
    }
    LayerShape shape;
    if (__builtin_add_overflow(bytes_in(layer, "weight_bytes"), bytes_in(layer, "input_bytes"),
                               &shape.read_bytes)) {
      throw Error(Exit::usage, fmt::format("{}: the byte count of a layer is too large", file));
    }
    shape.written_bytes = bytes_in(layer, "output_bytes");
    shapes[layer["name"].get<std::string>()] = shape;
  }
  return shapes;
}

void add_samples(const Session& session, const LayerShapes& shapes, BoardSamples& samples) {
  const auto* capture = dynamic_cast<const SvpSession*>(&session);
  if (capture == nullptr) return;
  std::map<ModelKey, std::vector<svp::SvpLayer>> layers;
  std::map<std::int64_t, std::int64_t> frequencies;
  std::vector<DoneWindow> windows;
  for (const RawFile& file : session.raw_files()) {
    const svp::SvpFileName& name = capture->parsed_name(file);
    if (name.kind == SvpFileKind::layer_info) {
      layers[{name.model, name.model_id}] =
          svp::read_layers(read_text_file(file.path, kMaxInfoBytes));
    } else if (name.kind == SvpFileKind::info_json) {
      if (const auto hz = svp::parse_frequency(svp::read_device_info(file.path)))
        frequencies[name.device] = *hz;
    } else if (name.kind == SvpFileKind::acl_api) {
      if (const auto window = read_window(file)) windows.push_back(*window);
    }
  }
  for (const RawFile& file : session.raw_files()) {
    const svp::SvpFileName& name = capture->parsed_name(file);
    std::vector<FileSample>* list = name.kind == SvpFileKind::aicore    ? &samples.aicore
                                    : name.kind == SvpFileKind::aicpu   ? &samples.aicpu
                                    : name.kind == SvpFileKind::acl_api ? &samples.acl_api
                                                                        : nullptr;
    if (list == nullptr || list->size() >= kMaxFiles) continue;
    std::size_t left = kMaxAllBytes;
    for (const FileSample& other : *list) left -= std::min(left, other.bytes.size());
    FileSample sample;
    if (left == 0 || !read_bytes(file, std::min(left, kMaxBytes), sample)) continue;
    sample.path = file.path.string();
    sample.name = fmt::format("{}/{}", session.name(), file.name);
    sample.size_bytes = file.size_bytes;
    if (file.done) sample.whole_len = file.done->file_len_bytes;
    sample.window = read_window(file);
    if (name.kind != SvpFileKind::acl_api) sample.other_windows = windows;
    const auto known = layers.find({name.model, name.model_id});
    if (known != layers.end())
      sample.layers = make_facts(known->second, name.net, shapes, name.kind == SvpFileKind::aicpu);
    if (const auto hz = frequencies.find(name.device); hz != frequencies.end())
      sample.core_hz = hz->second;
    list->push_back(std::move(sample));
  }
}

}  // namespace msprof::layout
