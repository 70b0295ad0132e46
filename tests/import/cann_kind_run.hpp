// KindRun: some kinds run over a PROF folder into a real store, by themselves. For their tests.
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

// When the collections of these tests begin, in wall-clock ns.
inline constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;

inline std::string ns(std::int64_t after_begin) {
  return std::to_string(kBegin + after_begin);
}

class KindRun {
 public:
  using Maker = std::unique_ptr<RawKind> (*)(cann::CannImport&);

  // Runs the kinds one after the other, as the importer does, and write_devices() between. `lost`
  // goes away once the folder has been looked through.
  KindRun(const std::filesystem::path& folder, const std::vector<Maker>& makers,
          const std::filesystem::path& lost = {});

  // SELECT `columns` FROM `rest`, a row as "a|b|NULL".
  Texts rows(std::string_view columns, std::string_view rest);
  // "PARTIAL <kind>: <reason> x<count>" or "note ...", in the order in which they came.
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

// The slice of a folder made by ProfFolder.
std::filesystem::path host_slice(const std::filesystem::path& folder, std::string_view stem,
                                 int slice = 0);
std::filesystem::path device_slice(const std::filesystem::path& folder, int device,
                                   std::string_view stem, int slice = 0);

// A file with some bytes changed, or cut to `size`.
void overwrite(const std::filesystem::path& path, std::size_t offset, std::string_view bytes);
void cut(const std::filesystem::path& path, std::size_t size);

}  // namespace msprof::test
