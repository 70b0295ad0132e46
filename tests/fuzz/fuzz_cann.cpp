#include "fuzz_cann.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "analyze/capture_info.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "cann_seeds.hpp"
#include "export/exporter.hpp"
#include "export/products.hpp"
#include "export/scope/export_style.hpp"
#include "import/importer.hpp"
#include "support/files.hpp"

namespace msprof::fuzz {

namespace fs = std::filesystem;

std::string_view Pieces::take(std::size_t count) {
  const std::string_view taken = bytes_.substr(0, count);
  bytes_.remove_prefix(taken.size());
  return taken;
}

std::size_t Pieces::number(std::size_t width) {
  std::size_t value = 0;
  const std::string_view taken = take(width);
  std::memcpy(&value, taken.data(), taken.size());
  return value;
}

namespace {

// Returns true for a path that stays in the folder and whose parts a file system accepts.
bool is_plain(const std::string& name) {
  if (name.empty() || name.back() == '/' || name.find('\0') != std::string::npos) return false;
  for (const fs::path& part : fs::path(name)) {
    if (part == "." || part == ".." || part == "/" || part.empty()) return false;
  }
  return true;
}

}  // namespace

void unpack_files(Pieces& input, const fs::path& folder) {
  while (!input.empty()) {
    input.number(1);
    const std::string name(input.take(input.number(1)));
    const std::string_view content = input.take(input.number(2));
    std::error_code error;
    if (!is_plain(name) || fs::is_directory(folder / name, error)) continue;
    fs::create_directories((folder / name).parent_path(), error);
    if (!error) test::write_file(folder / name, content);
  }
}

ScratchFolder::ScratchFolder() {
  const bool has_memory = fs::is_directory("/dev/shm");
  std::string pattern =
      (has_memory ? "/dev/shm" : fs::temp_directory_path().string()) + "/msprof-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) std::abort();
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

CannCapture::CannCapture(CannChip chip) : folder_(scratch_.path() / "PROF_1") {
  for (const auto& [name, bytes] : cann_files(chip)) {
    test::write_file(folder_ / name, bytes);
    originals_.emplace_back(name, bytes);
  }
}

void CannCapture::put(const std::string& name, std::string_view bytes) {
  test::write_file(folder_ / name, bytes);
  changed_.insert(name);
}

void CannCapture::run(bool may_be_nothing) {
  import_and_export(folder_, scratch_.path() / "out", may_be_nothing);
  for (const std::string& name : changed_) fs::remove(folder_ / name);
  for (const auto& [name, bytes] : originals_) {
    if (changed_.count(name) > 0) test::write_file(folder_ / name, bytes);
  }
  changed_.clear();
}

void import_and_export(const fs::path& folder, const fs::path& products, bool may_be_nothing) {
  log::set_level(log::Level::silent);
  try {
    const auto session = Session::open(folder);
    ImportOptions options;
    options.inspect = note_empty_products;
    const ImportReport report = import_session(*session, store_path(products), options);
    report.text();
    report.json();
    const auto store = current_store(*session, store_path(products));
    if (!store) std::abort();  // a new store must be current
    fs::create_directories(products / "summary");
    export_summaries(*store, products, {.style = ExportStyle::current});
    export_timelines(*store, products, {.layers = {"all"}, .style = ExportStyle::current});
    run_export_jobs(*store, plan_unified_db(*store, products));
    if (is_old_capture(store->database())) {
      export_summaries(*store, products, {.style = ExportStyle::cann5});
      export_timelines(*store, products, {.style = ExportStyle::cann5});
    }
  } catch (const Error& error) {
    if (error.code() != Exit::nothing_to_do || !may_be_nothing) {
      log::set_level(log::Level::normal);
      log::error("{}", error.what());
      std::abort();
    }
  }
  std::error_code ignored;
  fs::remove_all(products, ignored);
}

}  // namespace msprof::fuzz
