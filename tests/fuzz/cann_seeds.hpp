// Seeds of the fuzz targets of PROF folders, made with the builder of the tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof::fuzz {

// Name, from the capture, and bytes.
using NamedBytes = std::pair<std::string, std::string>;

// Families of chips that record alike: 910B, 910A, 310, 950.
enum class CannChip { stars, hwts, mini, v6 };
inline constexpr CannChip kCannChips[] = {CannChip::stars, CannChip::hwts, CannChip::mini,
                                          CannChip::v6};

// The files of a small capture with all kinds of records in it.
std::vector<NamedBytes> cann_files(CannChip chip);

// The files that an input of cann_host, cann_device and cann_texts can replace; the inputs are
//   u8 number in this list, u16 length, bytes; again and again.
// The first byte of an input of cann_device says which chip, before all that.
std::vector<std::string> cann_file_names(std::string_view target);

std::vector<std::string> cann_seeds(std::string_view target);

}  // namespace msprof::fuzz
