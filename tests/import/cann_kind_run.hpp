// KindRun: runs individual record kinds on a PROF folder into a real store. For their tests.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "import/cann/cann_import.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

using Texts = std::vector<std::string>;

// Start of the collection in these tests, in wall-clock ns.
inline constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;

inline std::string ns(std::int64_t after_begin) {
  return std::to_string(kBegin + after_begin);
}

class KindRun {
 public:
  using Maker = std::unique_ptr<RawKind> (*)(cann::CannImport&);

  // Runs the kinds one after the other, with write_devices() in between, like the importer. `lost`
  // is deleted after the folder has been scanned.
  KindRun(const std::filesystem::path& folder, const std::vector<Maker>& makers,
          const std::filesystem::path& lost = {});

  // Returns the rows of SELECT `columns` FROM `rest` as "a|b|NULL".
  Texts rows(std::string_view columns, std::string_view rest);
  // "PARTIAL <kind>: <reason> x<count>" or "note ...", in order of occurrence.
  Texts findings() const;
  const Finding& finding(std::size_t number) const { return report_.findings().at(number); }
  std::uint64_t records() const { return report_.records(); }
  const cann::CannImport& import() const { return import_; }
  const CannSession& session() const { return session_; }
  TraceDbWriter& store() { return store_; }

 private:
  TempFolder work_;
  CannSession session_;
  TraceDbWriter store_;
  ImportReport report_;
  cann::CannImport import_;
};

// Returns the path of a slice in a folder made by ProfFolder.
std::filesystem::path host_slice(const std::filesystem::path& folder, std::string_view stem,
                                 int slice = 0);
std::filesystem::path device_slice(const std::filesystem::path& folder, int device,
                                   std::string_view stem, int slice = 0);

// Overwrites some bytes of a file, or truncates it to `size`.
void overwrite(const std::filesystem::path& path, std::size_t offset, std::string_view bytes);
void cut(const std::filesystem::path& path, std::size_t size);

}  // namespace msprof::test
