// Seeds of the fuzz targets of PROF folders, made with the builder of the tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof::fuzz {

// Name, from the capture, and bytes.
using NamedBytes = std::pair<std::string, std::string>;

// The files of a small capture with all kinds of records in it.
std::vector<NamedBytes> cann_files(bool is_hwts);

// The files that an input of cann_host, cann_device and cann_texts can replace; the inputs are
//   u8 number in this list, u16 length, bytes; again and again.
// In cann_device's list, the first byte of an input says which chip (odd: a 910A).
std::vector<std::string> cann_file_names(std::string_view target);

std::vector<std::string> cann_seeds(std::string_view target);

}  // namespace msprof::fuzz
