// Facts about board captures that layouts are matched against.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "import/layout_choice.hpp"
#include "import/svp/device_info.hpp"
#include "import/svp/svp_data_file.hpp"
#include "session/run_record.hpp"
#include "session/svp_session.hpp"

namespace msprof {

namespace {

void add_once(std::vector<std::string>& texts, std::string text) {
  if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end())
    texts.push_back(std::move(text));
}

bool begins_like_ours(const RawFile& file) {
  std::array<std::byte, svp::kReferenceHeaderBytes> head = {};
  const std::size_t count = FileReader(file.path).read(head);
  return svp::read_reference_header(std::span(head).first(count)).has_value();
}

void add_file(const SvpSession& session, const RawFile& file, LayoutFacts& facts) {
  const svp::SvpFileKind kind = session.parsed_name(file).kind;
  if (kind == svp::SvpFileKind::info_json) {
    return add_device(svp::read_device_info(file.path), facts);
  }
  const bool has_records = kind == svp::SvpFileKind::aicore || kind == svp::SvpFileKind::aicpu ||
                           kind == svp::SvpFileKind::acl_api;
  if (!has_records || file.size_bytes == 0 || begins_like_ours(file)) return;
  const auto whole = file.done ? file.done->file_len_bytes : std::nullopt;
  add_records(svp::kind_name(kind), file.name, whole.value_or(file.size_bytes), facts);
}

}  // namespace

void add_device(const nlohmann::json& info, LayoutFacts& facts) {
  for (const char* const key : {"product_name", "product"})
    add_once(facts.products, svp::text_in(info, key));
  add_once(facts.socs, svp::text_in(info, "soc_version"));
}

void add_records(std::string_view kind, std::string_view path, std::uint64_t bytes,
                 LayoutFacts& facts) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  facts.files.push_back({std::string(kind), lower_ascii(name.substr(0, name.find('.'))), bytes});
}

LayoutFacts layout_facts(const Session& session) {
  LayoutFacts facts;
  const auto* const board = dynamic_cast<const SvpSession*>(&session);
  if (board == nullptr) return facts;
  for (const RawFile& file : board->raw_files()) {
    try {
      add_file(*board, file, facts);
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;  // the import reports unreadable files
    }
  }
  if (const auto run = read_run_record(session.folder()))
    add_once(facts.products, run->board_fact("product"));
  return facts;
}

}  // namespace msprof
