// StreamKind: a kind whose files only join a stream, which is read later with others.
// For the makers in the kinds' folders.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "import/cann/cann_import.hpp"
#include "import/raw_kind.hpp"

namespace msprof::cann {

// `stem` as in FileName; `stream_of` says where the files of a part of the capture belong.
using StreamOf = std::function<RecordStream&(CannImport& import, const CannPart& part)>;
std::unique_ptr<RawKind> make_stream_kind(CannImport& import, std::string_view name,
                                          std::string_view stem, StreamOf stream_of);

}  // namespace msprof::cann
