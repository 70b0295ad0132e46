#include "cluster/products/capture_analysis.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/atomic_file.hpp"
#include "base/json_text.hpp"
#include "base/number.hpp"
#include "cluster/products/analysed_collectives.hpp"
#include "cluster/products/product_row.hpp"
#include "export/product_folder.hpp"
#include "store/new_database.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;

namespace {

constexpr int kPageBytes = 4096;
constexpr int kDecimals = 6;  // converts ns to ms, and bytes to MB
constexpr Band kShownBands[] = {Band::rdma, Band::hccs, Band::pcie, Band::sdma, Band::sio};
constexpr std::string_view kTotal = "Total HCCL Operators";

// The columns that torch_npu reads.
constexpr const char* kTimeTables[] = {
    "CREATE TABLE CommAnalyzerTime (hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC,"
    " elapse_time NUMERIC, transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC,"
    " idle_time NUMERIC)",
    "CREATE TABLE CommAnalyzerBandwidth (hccl_op_name TEXT, group_name TEXT, transport_type TEXT,"
    " transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC,"
    " package_size NUMERIC, count NUMERIC, total_duration NUMERIC)"};
constexpr const char* kMatrixTable =
    "CREATE TABLE CommAnalyzerMatrix (hccl_op_name TEXT, group_name TEXT, src_rank TEXT,"
    " dst_rank TEXT, transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC,"
    " bandwidth NUMERIC)";

// In the files of one capture, a packet of exactly the limit does not count as large.
std::int64_t least_large_bytes(Band band) {
  return large_packet_bytes(band) + 1;
}

// Time that is neither transit nor wait; negative if tasks of a plane overlap.
std::int64_t idle_ns(const RankCommunication& times) {
  return saturating_subtract(saturating_subtract(times.duration_ns, times.transit_ns),
                             times.wait_ns);
}

void append_number(std::string& out, std::string_view key, std::int64_t value) {
  out += key;
  append_decimal(out, value, kDecimals);
}

// A JSON object with one member per collective.
class AnalysisFile {
 public:
  explicit AnalysisFile(const fs::path& target) : file_(target) { file_.buffer() += '{'; }

  // Starts a member; the caller appends its text to the buffer.
  std::string& begin(std::string_view key) {
    file_.drain();
    std::string& out = file_.buffer();
    if (!is_first_) out += ',';
    is_first_ = false;
    append_json_string(out, key);
    out += ":{";
    return out;
  }
  TemporaryFile finish() {
    file_.buffer() += '}';
    return file_.finish();
  }
  const fs::path& target() const { return file_.target(); }

 private:
  AtomicFile file_;
  bool is_first_ = true;
};

void write_times(AnalysisFile& file, std::string_view key, const RankCommunication& times) {
  std::string& out = file.begin(key);
  append_time_info(out, times, idle_ns(times));
  out += ",\"Communication Bandwidth Info\":{";
  for (const Band band : kShownBands) {
    if (band != kShownBands[0]) out += ',';
    append_band(out, band, times.band(band), least_large_bytes(band));
  }
  out += "}}";
}

void write_links(AnalysisFile& file, std::string_view key, const AnalysedLinks& links) {
  std::string& out = file.begin(key);
  bool is_first = true;
  for (const auto& [ranks, link] : links) {
    if (!is_first) out += ',';
    is_first = false;
    out += fmt::format("\"{}-{}\":{{\"Transport Type\":", ranks.first, ranks.second);
    out += link.transport.empty() ? "null" : fmt::format("\"{}\"", link.transport);
    append_number(out, ",\"Transit Size(MB)\":", link.size_bytes);
    append_number(out, ",\"Transit Time(ms)\":", link.duration_ns);
    out += ",\"Bandwidth(GB/s)\":";
    append_ratio(out, link.size_bytes, link.duration_ns);
    out += '}';
  }
  out += '}';
}

class AnalysisDb {
 public:
  AnalysisDb(const fs::path& target, const AnalysisOptions& options)
      : temporary_(new_database_file(target)),
        db_(Database::create(temporary_.path(), kPageBytes)) {
    db_.execute("BEGIN;");
    if (options.writes_communication) {
      for (const char* table : kTimeTables) db_.execute(table);
      time_.emplace(db_.prepare("INSERT INTO CommAnalyzerTime VALUES(?,?,?,?,?,?,?,?)"));
      band_.emplace(db_.prepare("INSERT INTO CommAnalyzerBandwidth VALUES(?,?,?,?,?,?,?,?,?,?)"));
    }
    if (options.writes_matrix) {
      db_.execute(kMatrixTable);
      link_.emplace(db_.prepare("INSERT INTO CommAnalyzerMatrix VALUES(?,?,?,?,?,?,?,?)"));
    }
  }

  void add(const AnalysedCollective& item) {
    if (time_) add_times(item);
    if (link_) add_links(item);
  }

  TemporaryFile finish() {
    time_.reset();
    band_.reset();
    link_.reset();
    db_.execute("COMMIT;");
    db_.close();
    return std::move(temporary_);
  }

 private:
  static ProductRow head(Statement& insert, const AnalysedCollective& item) {
    ProductRow cells(insert);
    cells << std::string_view(item.name) << std::string_view(item.group);
    return cells;
  }
  static double ms(std::int64_t ns) { return to_real(ns, kNsPerMs); }
  static double megabytes(std::int64_t bytes) { return to_real(bytes, kBytesPerMegabyte); }

  void add_times(const AnalysedCollective& item) {
    const RankCommunication& times = item.times;
    (head(*time_, item) << to_real(times.start_ns, kNsPerUs) << ms(times.duration_ns)
                        << ms(times.transit_ns) << ms(times.wait_ns) << ms(times.synchronization_ns)
                        << ms(idle_ns(times)))
        .run();
    for (const Band band : kShownBands) {
      const BandTotal& total = times.band(band);
      if (total.packets.empty() && (total.size_bytes > 0 || total.duration_ns > 0))
        add_packets(item, band, 0, {});
      for (const auto& [size, packets] : total.packets) add_packets(item, band, size, packets);
    }
  }

  void add_packets(const AnalysedCollective& item, Band band, std::int64_t size_bytes,
                   const Packets& packets) {
    const BandTotal& total = item.times.band(band);
    const auto [large, all] = large_packets(total, least_large_bytes(band));
    (head(*band_, item) << band_name(band) << megabytes(total.size_bytes) << ms(total.duration_ns)
                        << real_ratio(total.size_bytes, total.duration_ns) << real_ratio(large, all)
                        << megabytes(size_bytes) << packets.count << ms(packets.duration_ns))
        .run();
  }

  void add_links(const AnalysedCollective& item) {
    for (const auto& [ranks, link] : item.links) {
      const std::string source = std::to_string(ranks.first);
      const std::string target = std::to_string(ranks.second);
      ProductRow cells = head(*link_, item);
      cells << std::string_view(source) << std::string_view(target);
      link.transport.empty() ? cells.none() : cells << link.transport;
      cells << megabytes(link.size_bytes) << ms(link.duration_ns)
            << real_ratio(link.size_bytes, link.duration_ns);
      cells.run();
    }
  }

  TemporaryFile temporary_;
  Database db_;
  std::optional<Statement> time_;
  std::optional<Statement> band_;
  std::optional<Statement> link_;
};

void add_to_total(AnalysedCollective& total, const AnalysedCollective& item) {
  RankCommunication& times = total.times;
  times.duration_ns = saturating_add(times.duration_ns, item.times.duration_ns);
  times.transit_ns = saturating_add(times.transit_ns, item.times.transit_ns);
  times.wait_ns = saturating_add(times.wait_ns, item.times.wait_ns);
  times.synchronization_ns =
      saturating_add(times.synchronization_ns, item.times.synchronization_ns);
  for (const Band band : kShownBands) {
    const BandTotal& more = item.times.band(band);
    band == Band::sdma ? times.band(band).add_sums(more) : times.band(band).add(more);
  }
  for (const auto& [ranks, link] : item.links) total.links[ranks].add(link);
}

}  // namespace

std::vector<fs::path> write_capture_analysis(const Database& store, const fs::path& base,
                                             const AnalysisOptions& options) {
  if (!AnalysedCollectives::has_any(store)) return {};
  const fs::path folder = product_folder(base, "analyze");
  create_output_folder(folder);
  const fs::path database = folder / "communication_analyzer.db";
  check_replaceable(database);
  std::optional<AnalysisFile> times;
  std::optional<AnalysisFile> links;
  if (options.json && options.writes_communication) times.emplace(folder / "communication.json");
  if (options.json && options.writes_matrix) links.emplace(folder / "communication_matrix.json");
  AnalysisDb db(database, options);
  AnalysedCollective total;
  for (AnalysedCollectives items(store); items.next();) {
    const std::string key = items->name + "@" + items->group;
    if (times) write_times(*times, key, items->times);
    if (links) write_links(*links, key, items->links);
    db.add(*items);
    add_to_total(total, *items);
  }
  std::vector<fs::path> written;
  if (times) write_times(*times, kTotal, total.times);
  if (links) write_links(*links, kTotal, total.links);
  std::vector<TemporaryFile> files;
  files.push_back(db.finish());
  for (auto* const file : {&times, &links}) {
    if (!*file) continue;
    written.push_back((*file)->target());
    files.push_back((*file)->finish());
  }
  publish_together(files);
  return written;
}

}  // namespace msprof::cluster
