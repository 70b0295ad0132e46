#include "session/capture_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/folder_listing.hpp"
#include "base/text.hpp"
#include "session/cann_files.hpp"
#include "session/cann_session.hpp"
#include "session/run_record.hpp"
#include "session/svp_session.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

bool has_end_info(const fs::path& folder) {
  const auto names = list_names(folder);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return cann::is_info_file(name, "end_info"); });
}

std::optional<std::string> why_cann_unfinished(const CannSession& session) {
  for (const CannPart& part : session.parts()) {
    if (!has_end_info(part.folder)) return part.name + " has no end_info";
  }
  return std::nullopt;
}

std::optional<std::string> why_classic_unfinished(const CannSession& session) {
  if (has_end_info(session.folder())) return std::nullopt;
  for (const RawFile& file : session.raw_files()) {
    std::error_code error;
    if (!fs::exists(file.path.string() + ".done", error))
      return fmt::format("there is no end_info, and {} has no .done", file.name);
  }
  return std::nullopt;
}

bool holds_svp_records(svp::SvpFileKind kind) {
  return kind == svp::SvpFileKind::aicore || kind == svp::SvpFileKind::aicpu ||
         kind == svp::SvpFileKind::acl_api || kind == svp::SvpFileKind::short_data;
}

std::optional<std::string> why_svp_unfinished(const SvpSession& session) {
  bool has_records = false;
  for (const RawFile& file : session.raw_files()) {
    if (!holds_svp_records(session.parsed_name(file).kind)) continue;
    if (!file.done) return file.name + " has no .done";
    has_records = true;
  }
  if (has_records) return std::nullopt;
  return "it has no file of records";
}

}  // namespace

std::optional<std::string> why_unfinished(const Session& session) {
  const auto run = read_run_record(session.folder());
  if (run && run->end_ns > 0) return std::nullopt;
  if (session.dialect() == Dialect::svp)
    return why_svp_unfinished(dynamic_cast<const SvpSession&>(session));
  const auto& cann = dynamic_cast<const CannSession&>(session);
  return cann.is_classic() ? why_classic_unfinished(cann) : why_cann_unfinished(cann);
}

}  // namespace msprof
