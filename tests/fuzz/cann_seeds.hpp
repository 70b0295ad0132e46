// Seeds for the fuzz targets of PROF folders, made with the builder of the tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof::fuzz {

// Name, relative to the capture, and bytes.
using NamedBytes = std::pair<std::string, std::string>;

// Families of chips with the same records: 910B, 910A, 310, 950.
enum class CannChip { stars, hwts, mini, v6 };
inline constexpr CannChip kCannChips[] = {CannChip::stars, CannChip::hwts, CannChip::mini,
                                          CannChip::v6};

// Returns the files of a small capture that contains all kinds of records.
std::vector<NamedBytes> cann_files(CannChip chip);

// Returns the files that an input of cann_host, cann_device and cann_texts can replace. An input
// repeats
//   u8 number in this list, u16 length, bytes
// The first byte of an input of cann_device selects the chip.
std::vector<std::string> cann_file_names(std::string_view target);

std::vector<std::string> cann_seeds(std::string_view target);

}  // namespace msprof::fuzz
