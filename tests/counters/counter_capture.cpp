#include "counters/counter_capture.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "export/exporter.hpp"
#include "export/products.hpp"
#include "export/table/table_writers.hpp"
#include "import/importer.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;

fs::path one_with(const fs::path& folder, std::string_view begin, std::string_view end) {
  if (!fs::is_directory(folder)) return {};
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with(begin) && name.ends_with(end)) return folder / name;
  }
  return {};
}

}  // namespace

CounterCapture::CounterCapture(const prof::ProfSetup& setup)
    : prof_(std::make_unique<prof::ProfFolder>(temp_.path(), setup)), made_(temp_ / "made") {
  log::set_level(log::Level::silent);
}

void CounterCapture::device(std::string_view stem, std::string_view bytes, int number) {
  if (bytes.empty()) {
    const std::string device = std::to_string(number);
    empty_files_.push_back(prof_->folder() / ("device_" + device) / "data" /
                           (std::string(stem) + "." + device + ".slice_0"));
  }
  prof_->device(number, stem, bytes);
}

void CounterCapture::host(std::string_view stem, std::string_view bytes) {
  if (bytes.empty())
    empty_files_.push_back(prof_->folder() / "host" / "data" / (std::string(stem) + ".slice_0"));
  prof_->host(stem, bytes);
}

void CounterCapture::process() {
  prof_->finish();
  for (const fs::path& path : empty_files_) {
    if (fs::exists(path)) continue;
    write_file(path, "");
    write_file(path.string() + ".done", "");
  }
  fs::remove_all(made_);
  const auto session = Session::open(prof_->folder());
  report_ = import_session(*session, store_path(made_), {});
  const auto db = current_store(*session, store_path(made_));
  if (!db) throw std::runtime_error("what was just imported is not current");
  run_export_jobs(*db, plan_all(*db, made_));
}

Lines CounterCapture::findings(std::string_view kind) const {
  Lines lines;
  for (const Finding& finding : report_.findings()) {
    if (!kind.empty() && finding.kind != kind) continue;
    const char* severity = finding.severity() == Severity::partial ? "PARTIAL " : "note ";
    lines.push_back(severity + finding.kind + ": " + finding.reason + " x" +
                    std::to_string(finding.count));
  }
  return lines;
}

Lines CounterCapture::table(std::string_view name) const {
  const fs::path folder = made_ / "mindstudio_profiler_output";
  if (products_named(folder, name).empty()) return {};
  return read_product(folder, name).cells();
}

std::string CounterCapture::header(std::string_view name) const {
  std::string text;
  for (const std::string& column : read_product(made_ / "mindstudio_profiler_output", name).header)
    text += (text.empty() ? "" : ",") + column;
  return text;
}

Lines CounterCapture::shown(std::string_view name) const {
  const auto db = TraceDb::open(store_path(made_));
  TableRows rows;
  RowBuilder builder(rows);
  for (const auto& table : summary_tables(db->database())) {
    if (table->name() != name) continue;
    for (const OutputFile& file : table->output_files(db->database()))
      table->write(db->database(), file, builder);
  }
  Lines lines;
  for (const TableRows::Row& row : rows.rows) {
    std::string line;
    for (const Cell& cell : row.cells()) line += (line.empty() ? "" : "|") + cell_text(cell);
    lines.push_back(line);
  }
  return lines;
}

TimelineFile CounterCapture::timeline() const {
  const fs::path path = one_with(made_ / "mindstudio_profiler_output", "msprof_2", ".json");
  return path.empty() ? TimelineFile(Json::array()) : TimelineFile(path);
}

Lines CounterCapture::events(const std::string& process) const {
  const TimelineFile file = timeline();
  std::vector<Json> pids;
  for (const Json& event : file.events()) {
    if (event.at("name") == "process_name" && event.at("args").at("name") == process)
      pids.push_back(event.at("pid"));
  }
  Lines lines;
  for (const Json& event : file.events()) {
    if (event.at("ph") == "M" || std::find(pids.begin(), pids.end(), event.at("pid")) == pids.end())
      continue;
    const std::string head = event.at("name").get<std::string>() + "|";
    const std::string ts = event.at("ts").get<std::string>();
    lines.push_back(event.at("ph") == "C"
                        ? head + ts + "|" + event.at("args").dump()
                        : head + event.at("tid").dump() + "|" + ts + "|" + event.at("dur").dump());
  }
  return lines;
}

Lines CounterCapture::store(const std::string& sql) const {
  return query(store_path(made_), sql);
}

Lines CounterCapture::unified(const std::string& sql) const {
  const fs::path path = one_with(made_, "msprof_", ".db");
  return path.empty() ? Lines{} : query(path, sql);
}

Lines CounterCapture::samples(std::string_view kind) const {
  // The same as v_counters, but from the tables of the store.
  return store(
      "SELECT ifnull(device_id, 'host') || '|' || subject.text || '|' || counter_name.text || '|' "
      "||"
      " ifnull(unit.text, '') || '|' || ifnull(begin_ns - " +
      std::to_string(kBegin) + ", '') || '|' || (time_ns - " + std::to_string(kBegin) +
      ") || '|' || value FROM counter"
      " JOIN track ON track.id = track_id JOIN name AS kind ON kind.id = kind_name_id"
      " JOIN name AS subject ON subject.id = subject_name_id"
      " JOIN name AS counter_name ON counter_name.id = name_id"
      " LEFT JOIN name AS unit ON unit.id = unit_name_id WHERE kind.text = '" +
      std::string(kind) + "' ORDER BY counter.id");
}

std::string counter_event(std::string_view name, std::int64_t ns, std::string_view key,
                          std::string_view value) {
  std::string text(name);
  text += "|" + at(ns) + "|{\"";
  text += key;
  text += "\":";
  text += value;
  return text + "}";
}

std::string at(std::int64_t ns) {
  std::string text = std::to_string(kBegin + ns);
  return text.insert(text.size() - 3, ".");
}

}  // namespace msprof::test
