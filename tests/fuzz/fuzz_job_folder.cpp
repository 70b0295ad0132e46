// Fuzz target: a whole JOB folder. The input is unpacked into files, imported and exported; an
// error that bad data must not cause is a finding.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "analyze/capture_info.hpp"
#include "analyze/overview.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "export/exporter.hpp"
#include "import/importer.hpp"

namespace fs = std::filesystem;

namespace {

using namespace msprof;

class ScratchFolder {
 public:
  ScratchFolder() {
    const bool has_memory = fs::is_directory("/dev/shm");
    std::string pattern =
        (has_memory ? "/dev/shm" : fs::temp_directory_path().string()) + "/msprof-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Reads bytes from the front of the input; the last read may be shorter.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::string_view take(std::size_t count) {
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::size_t number(std::size_t width) {
    std::size_t value = 0;
    const std::string_view taken = take(width);
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }

 private:
  std::string_view bytes_;
};

bool is_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

void unpack(std::string_view bytes, const fs::path& folder) {
  fs::create_directory(folder / "data");
  Input input(bytes);
  while (!input.empty()) {
    const bool in_data = input.number(1) % 2 == 1;
    const std::string name(input.take(input.number(1)));
    const std::string_view content = input.take(input.number(2));
    if (!is_file_name(name)) continue;
    std::ofstream(in_data ? folder / "data" / name : folder / name, std::ios::binary) << content;
  }
}

void import_and_export(const fs::path& folder) {
  const auto session = Session::open(folder);
  ImportOptions options;
  options.inspect = note_empty_products;
  const fs::path store_file = store_path(folder);
  const ImportReport report = import_session(*session, store_file, options);
  report.text();
  report.json();
  const auto store = current_store(*session, store_file);
  if (!store) std::abort();  // a new store must be current
  if (has_any_product(store->database())) steps_with_tasks(store->database());
  export_timelines(*store, folder, {});
  export_summaries(*store, folder, {});
  export_summaries(*store, folder, {.format = SummaryFormat::json});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_level(log::Level::silent);
  const ScratchFolder scratch;
  unpack({reinterpret_cast<const char*>(data), size}, scratch.path());
  try {
    import_and_export(scratch.path());
  } catch (const Error& error) {
    if (error.code() != Exit::nothing_to_do) {
      log::set_level(log::Level::normal);
      log::error("{}", error.what());
      std::abort();
    }
  }
  return 0;
}
