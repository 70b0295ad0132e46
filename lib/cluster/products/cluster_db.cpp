// Writes cluster_analysis.db: the contents of the other files as the vendor's tables.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "base/atomic_file.hpp"
#include "base/number.hpp"
#include "cluster/products/communication_items.hpp"
#include "cluster/products/matrix_items.hpp"
#include "cluster/products/product_row.hpp"
#include "cluster/products/products.hpp"
#include "cluster/products/step_times.hpp"
#include "store/new_database.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;

namespace {

constexpr int kClusterDbPageBytes = 4096;

// Tables and columns of the vendor's database, including its mix of naming styles.
constexpr const char* kClusterTables[] = {
    "CREATE TABLE ClusterBaseInfo (key TEXT, value TEXT)",
    "CREATE TABLE HostInfo (hostUid TEXT, hostName TEXT)",
    "CREATE TABLE RankDeviceMap (rankId INTEGER, deviceId INTEGER, hostUid TEXT, profilePath TEXT)",
    "CREATE TABLE CommunicationGroupMapping (type TEXT, rank_set TEXT, group_name TEXT,"
    " group_id TEXT, pg_name TEXT)",
    "CREATE TABLE ClusterStepTraceTime (step TEXT, type TEXT, \"index\" TEXT, computing REAL,"
    " communication_not_overlapped REAL, overlapped REAL, communication REAL, free REAL,"
    " stage REAL, bubble REAL, communication_not_overlapped_and_exclude_receive REAL,"
    " preparing REAL, dp_index INTEGER, pp_index INTEGER, tp_index INTEGER)",
    "CREATE TABLE ClusterCommunicationTime (step TEXT, rank_id INTEGER, hccl_op_name TEXT,"
    " group_name TEXT, start_timestamp REAL, elapsed_time REAL, transit_time REAL, wait_time REAL,"
    " synchronization_time REAL, idle_time REAL, synchronization_time_ratio REAL,"
    " wait_time_ratio REAL)",
    "CREATE TABLE ClusterCommunicationBandwidth (step TEXT, rank_id INTEGER, hccl_op_name TEXT,"
    " group_name TEXT, band_type TEXT, transit_size REAL, transit_time REAL, bandwidth REAL,"
    " large_packet_ratio REAL, package_size REAL, count INTEGER, total_duration REAL)",
    "CREATE TABLE ClusterCommunicationMatrix (step TEXT, hccl_op_name TEXT, group_name TEXT,"
    " src_rank INTEGER, dst_rank INTEGER, transit_size REAL, transit_time REAL, bandwidth REAL,"
    " transport_type TEXT, op_name TEXT)",
};

class ClusterDbWriter {
 public:
  ClusterDbWriter(const ClusterView& view, Database& db) : view_(&view), db_(&db) {}

  void write_base() {
    Statement insert = db_->prepare("INSERT INTO ClusterBaseInfo VALUES(?,?)");
    const auto add = [&insert](std::string_view key, const std::string& value) {
      (ProductRow(insert) << key << std::string_view(value)).run();
    };
    add("rank_count", std::to_string(view_->members().size()));
    add("missing_ranks", view_->ranks().missing.text());
  }

  void write_hosts() {
    Statement host = db_->prepare("INSERT INTO HostInfo VALUES(?,?)");
    Statement rank = db_->prepare("INSERT INTO RankDeviceMap VALUES(?,?,?,?)");
    std::set<std::int64_t> hosts;
    for (const MemberRow& member : view_->members()) {
      const std::string_view uid = view_->text(member.host_name_id);
      if (hosts.insert(member.host_name_id).second)
        (ProductRow(host) << std::string_view(uid) << std::string_view(view_->host_name(member)))
            .run();
      (ProductRow(rank) << view_->product_rank(member.id) << member.device_id
                        << std::string_view(uid)
                        << std::string_view(view_->text(member.capture_name_id)))
          .run();
    }
  }

  void write_groups() {
    Statement insert = db_->prepare("INSERT INTO CommunicationGroupMapping VALUES(?,?,?,?,?)");
    for (const CommGroup& group : view_->groups()) {
      const std::string ranks = rank_tuple(group.ranks, ",");
      const auto add = [&](std::string_view type) {
        (ProductRow(insert) << type << std::string_view(ranks)
                            << std::string_view(view_->text(group.name_id)) << std::string_view()
                            << std::string_view())
            .run();
      };
      if (group.has_collectives || !group.has_pairs) add("collective");
      if (group.has_pairs) add("p2p");
    }
  }

  void write_steps() {
    Statement insert =
        db_->prepare("INSERT INTO ClusterStepTraceTime VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for_each_step_times(*view_, [&](const StepTimesRow& row) {
      const std::string step = row.step == kNull ? std::string() : std::to_string(row.step);
      const std::string index =
          row.is_stage ? rank_tuple(*row.stage, ",") : std::to_string(row.rank);
      ProductRow cells(insert);
      cells << std::string_view(step) << std::string_view(row.is_stage ? "stage" : "rank")
            << std::string_view(index);
      for (const std::int64_t ns : row.times) cells << to_real(ns, kNsPerUs);
      cells.none().none().none().run();
    });
  }

  void write_communication(bool with_operations) {
    Statement time =
        db_->prepare("INSERT INTO ClusterCommunicationTime VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    Statement band =
        db_->prepare("INSERT INTO ClusterCommunicationBandwidth VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    CommunicationItems items(*view_, CommunicationItems::Kind::all, with_operations);
    while (items.next()) {
      const std::string step = step_key(items->step);
      const std::string name = communication_name(*view_, *items);
      const std::string_view group = view_->text(items->group_name_id);
      for (const RankCommunication& rank : items->ranks) {
        const auto head = [&](Statement& insert) {
          ProductRow cells(insert);
          cells << std::string_view(step) << view_->product_rank(rank.member_id)
                << std::string_view(name) << std::string_view(group);
          return cells;
        };
        write_time(head(time), rank);
        for (std::size_t i = 0; i < kBands; ++i) {
          for (const auto& [size, packets] : rank.bands[i].packets)
            write_packets(head(band), static_cast<Band>(i), rank.bands[i], size, packets);
        }
      }
    }
  }

  void write_matrix() {
    Statement insert =
        db_->prepare("INSERT INTO ClusterCommunicationMatrix VALUES(?,?,?,?,?,?,?,?,?,?)");
    MatrixItems items(*view_);
    while (items.next()) {
      const std::string step = step_key(items->step);
      for (const auto& [ranks, cell] : items->links) {
        (ProductRow(insert) << std::string_view(step) << std::string_view(items->name)
                            << std::string_view(view_->text(items->group_name_id)) << ranks.first
                            << ranks.second << to_real(cell.size_bytes, kBytesPerMegabyte)
                            << to_real(cell.duration_ns, kNsPerMs)
                            << real_ratio(cell.size_bytes, cell.duration_ns) << cell.transport()
                            << std::string_view(view_->text(cell.operation_name_id)))
            .run();
      }
    }
  }

 private:
  static void write_time(ProductRow cells, const RankCommunication& rank) {
    const auto transit = static_cast<int128>(rank.transit_ns);
    cells << to_real(rank.start_ns == kNull ? 0 : rank.start_ns, kNsPerUs)
          << to_real(rank.duration_ns, kNsPerMs) << to_real(rank.transit_ns, kNsPerMs)
          << to_real(rank.wait_ns, kNsPerMs) << to_real(rank.synchronization_ns, kNsPerMs)
          << to_real(rank.idle_ns(), kNsPerMs)
          << real_ratio(rank.synchronization_ns, transit + rank.synchronization_ns)
          << real_ratio(rank.wait_ns, transit + rank.wait_ns);
    cells.run();
  }

  static void write_packets(ProductRow cells, Band band, const BandTotal& total,
                            std::int64_t size_bytes, const Packets& packets) {
    const auto [large, all] = large_packets(total, large_packet_bytes(band));
    cells << band_name(band) << to_real(total.size_bytes, kBytesPerMegabyte)
          << to_real(total.duration_ns, kNsPerMs) << real_ratio(total.size_bytes, total.duration_ns)
          << real_ratio(large, all) << to_real(size_bytes, kBytesPerMegabyte) << packets.count
          << to_real(packets.duration_ns, kNsPerMs);
    cells.run();
  }

  const ClusterView* view_;
  Database* db_;
};

}  // namespace

void write_cluster_analysis_db(const ClusterView& view, bool with_operations, const fs::path& file,
                               std::vector<TemporaryFile>& finished) {
  check_replaceable(file);
  TemporaryFile temporary = new_database_file(file);
  Database db = Database::create(temporary.path(), kClusterDbPageBytes);
  db.execute("BEGIN;");
  for (const char* table : kClusterTables) db.execute(table);
  ClusterDbWriter writer(view, db);
  writer.write_base();
  writer.write_hosts();
  writer.write_groups();
  writer.write_steps();
  writer.write_communication(with_operations);
  writer.write_matrix();
  db.execute("COMMIT;");
  db.close();
  finished.push_back(std::move(temporary));
}

}  // namespace msprof::cluster
