#include "export/trace/deflate.hpp"

#include <isa-l/igzip_lib.h>

#include <memory>

#include "base/error.hpp"

namespace msprof {

std::string deflate(std::string_view text, DeflateForm form) {
  constexpr std::size_t kLevelBytes = ISAL_DEF_LVL1_DEFAULT;
  constexpr std::size_t kLeastRoom = 4096;
  const auto level = std::make_unique_for_overwrite<std::uint8_t[]>(kLevelBytes);
  isal_zstream stream;
  isal_deflate_init(&stream);
  // Events are so similar that a higher level saves little.
  stream.level = 1;
  stream.level_buf = level.get();
  stream.level_buf_size = kLevelBytes;
  if (form == DeflateForm::part) {
    stream.flush = FULL_FLUSH;
  } else {
    stream.gzip_flag = IGZIP_ZLIB;
    stream.end_of_stream = 1;
  }
  // The library does not modify its input but declares it non-const.
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  std::string out;
  do {
    const std::size_t before = out.size();
    out.resize(before + text.size() / 4 + kLeastRoom);
    stream.next_out = reinterpret_cast<std::uint8_t*>(out.data() + before);
    stream.avail_out = static_cast<std::uint32_t>(out.size() - before);
    if (isal_deflate(&stream) != COMP_OK)
      throw Error(Exit::internal_error, "the timeline cannot be compressed");
    out.resize(out.size() - stream.avail_out);
  } while (stream.avail_out == 0);
  return out;
}

}  // namespace msprof
