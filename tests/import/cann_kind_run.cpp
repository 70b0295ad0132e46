#include "import/cann_kind_run.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "import/cann/join/join.hpp"
#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

KindRun::KindRun(const fs::path& folder, const std::vector<Maker>& makers, const fs::path& lost)
    : session_(folder), store_(work_ / "msprof.db"), import_(session_) {
  const ImportContext context{session_, store_, report_, nullptr, work_.path()};
  if (!lost.empty()) fs::remove(lost);
  std::vector<std::unique_ptr<RawKind>> kinds;
  for (const Maker make : makers) {
    kinds.push_back(make(import_));
    for (const RawFile& file : session_.raw_files()) {
      if (!kinds.back()->owns(file)) continue;
      try {
        kinds.back()->import(context, file);
      } catch (const Error& error) {
        report_.add(FindingId::unreadable_file, kinds.back()->name(), file.name, "unreadable",
                    error.what());
      }
    }
  }
  cann::write_devices(import_, context);
  for (const auto& kind : kinds) kind->finish(context);
}

// The columns of a query are joined by SQL, because Statement does not report their number.
Texts KindRun::rows(std::string_view columns, std::string_view rest) {
  Texts result;
  std::string list;
  for (const std::string_view column : split(columns, ',')) {
    list += (list.empty() ? "" : " || '|' || ") + fmt::format("ifnull({}, 'NULL')", trim(column));
  }
  Statement read = store_.readable().prepare(fmt::format("SELECT {} FROM {}", list, rest));
  while (read.step()) result.emplace_back(read.text(0));
  return result;
}

Texts KindRun::findings() const {
  Texts result;
  for (const Finding& finding : report_.findings()) {
    const std::string severity = finding.severity() == Severity::partial   ? "PARTIAL "
                                 : finding.severity() == Severity::without ? "without "
                                                                           : "note ";
    result.push_back(severity + finding.kind + ": " + finding.reason + " x" +
                     std::to_string(finding.count));
  }
  return result;
}

fs::path host_slice(const fs::path& folder, std::string_view stem, int slice) {
  return folder / "host" / "data" / (std::string(stem) + ".slice_" + std::to_string(slice));
}

fs::path device_slice(const fs::path& folder, int device, std::string_view stem, int slice) {
  const std::string number = std::to_string(device);
  return folder / ("device_" + number) / "data" /
         (std::string(stem) + "." + number + ".slice_" + std::to_string(slice));
}

void overwrite(const fs::path& path, std::size_t offset, std::string_view bytes) {
  std::string content = read_file(path);
  content.replace(offset, bytes.size(), bytes);
  write_file(path, content);
}

void cut(const fs::path& path, std::size_t size) {
  write_file(path, read_file(path).substr(0, size));
}

}  // namespace msprof::test
