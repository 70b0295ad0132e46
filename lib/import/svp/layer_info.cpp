// Raw kind <model>.<model_id>.layer.info. The reference format is the line "#msprof-layers 1", then
// one line per layer with tab-separated layer_id, net_id, layer type, task type, layer name, and
// original names joined by '+'. On a board, the file is part of the model file; layers are guessed
// from it if plausible. Source: svp_job.md 5.1, 5.2.
#include "import/svp/layer_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "import/svp/svp_models.hpp"

namespace msprof::svp {

namespace {

constexpr std::uint64_t kMaxLayerBytes = 64 << 20;
constexpr std::string_view kFirstLine = "#msprof-layers 1";

// Layer types of Caffe and ONNX models that the boards' converter accepts, in lower case.
constexpr std::string_view kTypes[] = {"convolution",
                                       "conv",
                                       "conv2d",
                                       "convolution2d",
                                       "depthwiseconv",
                                       "convolutiondepthwise",
                                       "deconvolution",
                                       "deconv",
                                       "convtranspose",
                                       "pooling",
                                       "pool",
                                       "maxpool",
                                       "averagepool",
                                       "globalaveragepool",
                                       "innerproduct",
                                       "fullyconnected",
                                       "gemm",
                                       "matmul",
                                       "relu",
                                       "leakyrelu",
                                       "prelu",
                                       "relu6",
                                       "elu",
                                       "sigmoid",
                                       "tanh",
                                       "softmax",
                                       "softplus",
                                       "mish",
                                       "hardswish",
                                       "clip",
                                       "batchnorm",
                                       "batchnormalization",
                                       "bn",
                                       "scale",
                                       "eltwise",
                                       "add",
                                       "mul",
                                       "sub",
                                       "div",
                                       "concat",
                                       "slice",
                                       "split",
                                       "reshape",
                                       "permute",
                                       "transpose",
                                       "flatten",
                                       "upsample",
                                       "resize",
                                       "interp",
                                       "lstm",
                                       "rnn",
                                       "gru",
                                       "input",
                                       "data"};

constexpr std::size_t kMinString = 2;

bool is_text(char c) {
  return c >= 0x20 && c < 0x7f;
}

std::vector<std::string_view> strings_in(std::string_view bytes) {
  std::vector<std::string_view> strings;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    while (at < bytes.size() && is_text(bytes[at])) ++at;
    if (at - begin >= kMinString) strings.push_back(bytes.substr(begin, at - begin));
    if (at == begin) ++at;
  }
  return strings;
}

bool is_type(std::string_view text) {
  return std::find(std::begin(kTypes), std::end(kTypes), lower_ascii(text)) != std::end(kTypes);
}

bool parse_line(std::string_view line, SvpLayer& layer) {
  constexpr std::size_t kFields = 6;
  const auto fields = split(line, '\t');
  std::uint64_t layer_id = 0;
  std::uint64_t net_id = 0;
  if (fields.size() < kFields - 1 || !parse_u64(fields[0], layer_id) ||
      !parse_u64(fields[1], net_id)) {
    return false;
  }
  if (layer_id > std::uint64_t{kMaxLayerId} || net_id > INT64_MAX) return false;
  layer.layer_id = static_cast<std::int64_t>(layer_id);
  layer.net_id = static_cast<std::int64_t>(net_id);
  layer.is_on_cpu = fields[3] == kCpu;
  layer.type = fields[2].empty() ? "N/A" : fields[2];
  layer.name = fields[4].empty() ? fmt::format("layer_{}", layer_id) : std::string(fields[4]);
  layer.original_names =
      fields.size() < kFields || fields[5].empty() ? layer.name : std::string(fields[5]);
  return true;
}

class LayerInfoKind : public RawKind {
 public:
  explicit LayerInfoKind(SvpModels& models) : models_(models) {}

  std::string_view name() const override { return kind_name(SvpFileKind::layer_info); }
  bool owns(const RawFile& file) const override {
    return models_.parsed_name(file).kind == SvpFileKind::layer_info;
  }

  void import(const ImportContext& context, const RawFile& file) override {
    const std::string text = read_text_file(file.path, kMaxLayerBytes);
    const std::string_view first = trim(std::string_view(text).substr(0, text.find('\n')));
    std::uint64_t layers = 0;
    if (first == kFirstLine) {
      layers = read_lines(context, file, text);
    } else if (first.starts_with("#msprof-layers ")) {
      context.report.add(FindingId::unknown_version, name(), file.name,
                         fmt::format("unknown version '{}'", printable(first)));
    } else {
      layers = guess(context, file, text);
    }
    context.report.count_file(name(), layers);
  }

 private:
  std::uint64_t read_lines(const ImportContext& context, const RawFile& file,
                           std::string_view text) {
    std::uint64_t layers = 0;
    std::size_t offset = text.find('\n');
    while (offset != std::string_view::npos && offset + 1 < text.size()) {
      const std::size_t begin = offset + 1;
      offset = text.find('\n', begin);
      std::string_view line =
          text.substr(begin, offset == std::string_view::npos ? offset : offset - begin);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      SvpLayer layer;
      if (!parse_line(line, layer)) {
        context.report.skip_record(name(), file.name, "damaged line", begin);
      } else if (!models_.add_layer(models_.parsed_name(file), std::move(layer))) {
        context.report.skip_record(name(), file.name, "layer_id given twice", begin);
      } else {
        ++layers;
      }
    }
    return layers;
  }

  std::uint64_t guess(const ImportContext& context, const RawFile& file, std::string_view text) {
    const auto pairs = guess_layers(text);
    if (pairs.empty()) {
      context.report.add(FindingId::unnamed_layers, name(), file.name,
                         text.empty() ? "empty: it has no layer names"
                                      : "undocumented binary format, no layer names found",
                         "layers are called layer_<id>");
      return 0;
    }
    std::int64_t id = 0;
    for (const auto& [type, layer_name] : pairs) {
      models_.add_layer(models_.parsed_name(file), {id++, 0, type, layer_name, layer_name, false});
    }
    context.report.add(FindingId::guessed_names, name(), file.name,
                       "layer names are GUESSED from an undocumented binary format",
                       fmt::format("{} names, in file order", pairs.size()));
    return pairs.size();
  }

  SvpModels& models_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> guess_layers(std::string_view bytes) {
  const auto strings = strings_in(bytes);
  std::vector<std::pair<std::string, std::string>> layers;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i + 1 < strings.size(); ++i) {
    if (!is_type(strings[i]) || is_type(strings[i + 1])) continue;
    if (!names.insert(strings[i + 1]).second)
      return {};  // duplicate layer names: the guess is wrong
    layers.emplace_back(strings[i], strings[i + 1]);
    ++i;
  }
  // A pair is a coincidence unless pairs are a large part of the text.
  return layers.size() * 4 >= strings.size() ? layers : decltype(layers){};
}

std::vector<SvpLayer> read_layers(std::string_view text) {
  std::vector<SvpLayer> layers;
  if (text.starts_with(kFirstLine)) {
    for (std::string_view line : split(text.substr(std::min(text.size(), text.find('\n'))), '\n')) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      SvpLayer layer;
      if (!parse_line(line, layer)) continue;
      layer.info_offset = static_cast<std::uint64_t>(line.data() - text.data());
      layers.push_back(std::move(layer));
    }
    return layers;
  }
  std::int64_t id = 0;
  for (const auto& [type, layer_name] : guess_layers(text))
    layers.push_back({id++, 0, type, layer_name, layer_name, false});
  return layers;
}

std::unique_ptr<RawKind> make_layer_info_kind(SvpModels& models) {
  return std::make_unique<LayerInfoKind>(models);
}

}  // namespace msprof::svp
