// Compresses text or packets of timelines with ISA-L. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace msprof {

enum class DeflateForm {
  part,  // whole bytes of deflate that do not refer to earlier parts; others can follow
  zlib   // a zlib stream
};

std::string deflate(std::string_view text, DeflateForm form);

}  // namespace msprof
