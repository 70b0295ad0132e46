#include "import/svp/layer_info.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"

namespace msprof::svp {

namespace {

// Layer types of the Caffe and ONNX models that the boards' converter takes, lower case.
constexpr std::array<std::string_view, 54> kTypes = {"convolution",
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

constexpr std::size_t kShortestString = 2;

bool is_text(char c) {
  return c >= 0x20 && c < 0x7f;
}

std::vector<std::string_view> strings_in(std::string_view bytes) {
  std::vector<std::string_view> strings;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    while (at < bytes.size() && is_text(bytes[at])) ++at;
    if (at - begin >= kShortestString) strings.push_back(bytes.substr(begin, at - begin));
    if (at == begin) ++at;
  }
  return strings;
}

bool is_type(std::string_view text) {
  return std::find(kTypes.begin(), kTypes.end(), lower_ascii(text)) != kTypes.end();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> guess_layers(std::string_view bytes) {
  const auto strings = strings_in(bytes);
  std::vector<std::pair<std::string, std::string>> layers;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i + 1 < strings.size(); ++i) {
    if (!is_type(strings[i]) || is_type(strings[i + 1])) continue;
    if (!names.insert(strings[i + 1]).second)
      return {};  // two layers of one name: not what we think
    layers.emplace_back(strings[i], strings[i + 1]);
    ++i;
  }
  // Pairs must be most of the text, else they are chance.
  return layers.size() * 4 >= strings.size() ? layers : decltype(layers){};
}

}  // namespace msprof::svp
