// host_network_usage: speed of the host's network cards, and the traffic over them. Source:
// cann_system.md 16.4.
#include "export/products.hpp"
#include "export/scope/host_usage.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

class CannHostNetworkUsage : public cann::CannTable {
 public:
  CannHostNetworkUsage()
      : CannTable({.name = "host_network_usage",
                   .title = "Network of the host",
                   .help = "speed and peak throughput of the network cards of the host",
                   .exists = exists_counter("host_network", "Speed"),
                   .needs = {"host_network"},
                   .group = kCounterLayers},
                  {"Device_id", "Netcard Speed(KB/s)", "Peak Used Speed(KB/s)",
                   "Recommend Speed(KB/s)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    constexpr double kKilobyte = 1024;
    Recommended moved;
    for_each_network_use(db, output_file.scope,
                         [&](const NetworkUse& use) { moved.add(use.kb_s); });
    double speed = 0;
    Statement read = db.prepare(
        "SELECT value FROM counter JOIN track ON track.id = track_id JOIN name AS kind ON"
        " kind.id = kind_name_id JOIN name AS counter_name ON counter_name.id = name_id"
        " WHERE kind.text = 'host_network' AND counter_name.text = 'Speed' ORDER BY counter.id");
    while (read.step()) speed += static_cast<double>(read.integer(0));
    out.text("host");
    out.real(speed / kKilobyte);
    if (moved.empty()) {
      out.missing();
      out.missing();
    } else {
      out.real(moved.peak());
      out.real(moved.enough());
    }
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_host_network_usage() {
  return std::make_unique<CannHostNetworkUsage>();
}

}  // namespace msprof
