#include "analyze/folder_info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "analyze/capture_list.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/folder_listing.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t kMaxInfoFileBytes = 1 << 20;
constexpr const char* kNotKnown = "N/A";
// Model number for steps without a model.
constexpr std::int64_t kNoModel = 4294967295;
constexpr std::size_t kTopIterations = 5;

// Reads info.json of the host or info.json.0 of a device; an empty object if it cannot be read.
json info_object(const fs::path& folder, std::string_view stem) {
  for (const std::string& name : list_names(folder)) {
    if (name != stem && !name.starts_with(fmt::format("{}.", stem))) continue;
    try {
      json object = json::parse(read_text_file(folder / name, kMaxInfoFileBytes), nullptr, false);
      if (object.is_object()) return object;
    } catch (const Error&) {
      // Import reports unreadable info files.
    }
  }
  return json::object();
}

// Returns a string value, or a number as text.
std::string text_in(const json& object, const char* key, const std::string& missing = "") {
  const auto found = object.find(key);
  if (found == object.end()) return missing;
  if (found->is_string()) return printable(found->get<std::string>());
  return found->is_number() ? found->dump() : missing;
}

std::int64_t number_in(const json& object, const char* key) {
  return parse_i64(text_in(object, key)).value_or(0);
}

std::string device_text(const json& info) {
  const std::string device = text_in(info, "devices");
  return parse_i64(device) ? device : kNotKnown;
}

// Returns the numbers of the longest iterations; iterations tied with the last one are included.
std::string longest(std::vector<std::pair<std::int64_t, std::int64_t>> of_duration) {
  std::stable_sort(of_duration.begin(), of_duration.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::size_t count = std::min(kTopIterations, of_duration.size());
  while (count < of_duration.size() && of_duration[count].first == of_duration[count - 1].first)
    ++count;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(of_duration[i].second);
  return fmt::format("{}", fmt::join(numbers, ","));
}

void add_models(const Database& db, std::int64_t device, const FolderRow& of_folder,
                std::vector<FolderRow>& rows) {
  Statement read = db.prepare(
      "SELECT ifnull(model_number, ?2) AS model, number, ifnull(duration_ns, 0) FROM iteration"
      " WHERE device_id = ?1 AND number IS NOT NULL AND (is_framework_step = 1"
      "  OR model_number IN (SELECT model_number FROM task))"
      " ORDER BY model, number, iteration.id");
  read.bind(1, device).bind(2, kNoModel);
  std::optional<std::int64_t> model;
  std::vector<std::pair<std::int64_t, std::int64_t>> of_duration;
  const auto end_model = [&] {
    if (!model) return;
    FolderRow row = of_folder;
    row.model = std::to_string(*model);
    row.iterations = std::to_string(of_duration.back().second);
    row.top_iterations = longest(std::exchange(of_duration, {}));
    rows.push_back(std::move(row));
  };
  while (read.step()) {
    if (model != read.integer(0)) {
      end_model();
      model = read.integer(0);
    }
    of_duration.emplace_back(read.integer(2), read.integer(1));
  }
  end_model();
}

ordered_json read_cpus(const json& info) {
  ordered_json cpus = ordered_json::array();
  const auto list = info.find("CPU");
  if (list == info.end() || !list->is_array()) return cpus;
  for (const json& cpu : *list) {
    if (!cpu.is_object()) continue;
    cpus.push_back({{"CPU ID", fmt::format("CPU{}", text_in(cpu, "Id"))},
                    {"Name", text_in(cpu, "Name")},
                    {"Type", text_in(cpu, "Type")},
                    {"Frequency", text_in(cpu, "Frequency")},
                    {"Logical_CPU_Count", number_in(cpu, "Logical_CPU_Count")}});
  }
  return cpus;
}

ordered_json read_device_info(const CannPart& part, const json& info) {
  const auto list = info.find("DeviceInfo");
  const bool is_there = list != info.end() && list->is_array() && !list->empty();
  if (part.is_host() || !is_there || !list->front().is_object()) return ordered_json::object();
  const json& device = list->front();
  return {{"AI Core Number", number_in(device, "ai_core_num")},
          {"AI CPU Number", number_in(device, "ai_cpu_core_num")},
          {"Control CPU Number", number_in(device, "ctrl_cpu_core_num")},
          {"Control CPU Type", text_in(device, "ctrl_cpu_id")},
          {"Device Id", number_in(device, "id")},
          {"TS CPU Number", number_in(device, "ts_cpu_core_num")}};
}

ordered_json list_iterations(const CannPart& part, const std::vector<FolderRow>& rows) {
  ordered_json all = ordered_json::array();
  const auto value = [](const std::string& text) -> ordered_json {
    const auto number = parse_i64(text);
    return number ? ordered_json(*number) : ordered_json(text);
  };
  for (const FolderRow& row : rows) {
    if (row.folder != part.name || !parse_i64(row.device)) continue;
    all.push_back({{"Device Id", value(row.device)},
                   {"Iteration Number", value(row.iterations)},
                   {"Model Id", value(row.model)}});
  }
  return all;
}

}  // namespace

std::vector<FolderRow> folder_rows(const CannSession& session, const Database* db) {
  std::vector<FolderRow> rows;
  for (const CannPart& part : session.parts()) {
    const json info = info_object(part.folder, "info.json");
    FolderRow row;
    row.job = text_in(info, "jobInfo", "NA");
    row.device = device_text(info);
    row.folder = part.name;
    row.date = text_in(info_object(part.folder, "start_info"), "collectionDateBegin", kNotKnown);
    row.rank = text_in(info, "rank_id", "-1");
    const std::size_t before = rows.size();
    if (db != nullptr && part.device) add_models(*db, *part.device, row, rows);
    if (rows.size() == before) rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const FolderRow& a, const FolderRow& b) {
    return std::tie(a.job, a.date) < std::tie(b.job, b.date);
  });
  return rows;
}

std::string folder_table(const std::vector<FolderRow>& rows) {
  using Cells = std::array<std::string, 8>;
  std::vector<Cells> lines = {{"Job Info", "Device ID", "Dir Name", "Collection Time", "Model ID",
                               "Iteration Number", "Top Time Iteration", "Rank ID"}};
  for (const FolderRow& row : rows)
    lines.push_back({row.job, row.device, row.folder, row.date, row.model, row.iterations,
                     row.top_iterations, row.rank});
  std::array<std::size_t, std::tuple_size_v<Cells>> widths = {};
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += fmt::format("{:<{}}\t", cells[i], widths[i]);
    text += "\n\n";
  }
  return text;
}

ordered_json folder_document(const CannPart& part, const std::vector<FolderRow>& rows) {
  const json info = info_object(part.folder, "info.json");
  const json begin = info_object(part.folder, "start_info");
  const json end = info_object(part.folder, "end_info");
  ordered_json cpus = read_cpus(info);
  std::int64_t cpu_count = 0;
  for (const auto& cpu : cpus)
    cpu_count = saturating_add(cpu_count, cpu.at("Logical_CPU_Count").get<std::int64_t>());
  std::string ignored;  // the verdict of the import reports folders that cannot be listed
  const std::string size = fixed(bytes_below(part.folder, ignored), 1 << 20, 6);
  return {{"status", 0},
          {"info", ""},
          {"data",
           {{"collection_info",
             {{"Collection end time", text_in(end, "collectionTimeEnd")},
              {"Collection start time", text_in(begin, "collectionTimeBegin")},
              {"Result Size", fmt::format("{} MB", size)}}},
            {"device_info", read_device_info(part, info)},
            {"host_info",
             {{"cpu_info", std::move(cpus)},
              {"cpu_num", cpu_count},
              {"Host Computer Name", text_in(info, "hostname")},
              {"Host Operating System", text_in(info, "OS")}}},
            {"model_info", {{"iterations", list_iterations(part, rows)}}},
            {"version_info",
             {{"analysis_version", "1.0"},
              {"collection_version", text_in(info, "version")},
              {"drv_version", number_in(info, "drvVersion")}}}}}};
}

}  // namespace msprof
