// Fuzz target: a --layout file, and records decoded with it.
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "import/record_layout.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace msprof;
  try {
    const auto set = LayoutSet::parse({reinterpret_cast<const char*>(data), size}, "input");
    for (const std::string_view kind : {"aicore", "aicpu", "acl_api"}) {
      const RecordLayout* layout = set.find(kind);
      if (layout == nullptr) continue;
      std::array<std::int64_t, 32> slots{};
      const std::vector<std::byte> record(layout->record_bytes, std::byte{0xff});
      layout->decode(record, std::span(slots).first(field_names(kind).size()));
    }
  } catch (const Error& error) {
    if (error.code() != Exit::usage) __builtin_trap();
  }
  return 0;
}
