// Writes cluster_communication.json: times of each rank in each collective, and transfers by kind
// of link.
#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/json_text.hpp"
#include "base/number.hpp"
#include "base/vendor_real.hpp"
#include "cluster/products/communication_items.hpp"
#include "cluster/products/products.hpp"

namespace msprof::cluster {

namespace {

constexpr int kMsDecimals = 6;        // ns to ms
constexpr int kMegabyteDecimals = 6;  // bytes to MB

void append_ms(std::string& out, std::string_view key, std::int64_t ns) {
  out += key;
  append_decimal(out, ns, kMsDecimals);
}

void append_rank(std::string& out, std::int64_t number, const RankCommunication& rank) {
  out += fmt::format("\"{}\":{{", number);
  append_time_info(out, rank, rank.idle_ns());
  out += ",\"Communication Bandwidth Info\":{";
  for (std::size_t i = 0; i < kBands; ++i) {
    const auto band = static_cast<Band>(i);
    if (band == Band::ub && rank.band(band).packets.empty()) continue;
    if (i > 0) out += ',';
    append_band(out, band, rank.band(band), large_packet_bytes(band));
  }
  out += "}}";
}

// Writes the members of "p2p" or "collective".
void write_items(AtomicFile& file, const ClusterView& view, CommunicationItems items) {
  std::string step;
  while (items.next()) {
    std::string& out = file.buffer();
    const std::string now = step_key(items->step);
    if (now != step) {
      out += fmt::format("{}\n\"{}\":{{\n", step.empty() ? "" : "},", now);
      step = now;
    } else {
      out += ",\n";
    }
    append_json_string(out, fmt::format("{}@{}", communication_name(view, *items),
                                        view.text(items->group_name_id)));
    out += ":{";
    for (const RankCommunication& rank : items->ranks) {
      if (&rank != &items->ranks.front()) out += ",\n";
      append_rank(file.buffer(), view.product_rank(rank.member_id), rank);
      file.drain();
    }
    file.buffer() += '}';
  }
  file.write(step.empty() ? "" : "}");
}

}  // namespace

void append_time_info(std::string& out, const RankCommunication& rank, std::int64_t idle_ns) {
  out += "\"Communication Time Info\":{\"Start Timestamp(us)\":";
  append_us_from_ns(out, rank.start_ns == kNull ? 0 : rank.start_ns);
  append_ms(out, ",\"Elapse Time(ms)\":", rank.duration_ns);
  append_ms(out, ",\"Transit Time(ms)\":", rank.transit_ns);
  append_ms(out, ",\"Wait Time(ms)\":", rank.wait_ns);
  append_ms(out, ",\"Synchronization Time(ms)\":", rank.synchronization_ns);
  append_ms(out, ",\"Idle Time(ms)\":", idle_ns);
  out += ",\"Wait Time Ratio\":";
  append_ratio(out, rank.wait_ns, static_cast<int128>(rank.wait_ns) + rank.transit_ns);
  out += ",\"Synchronization Time Ratio\":";
  append_ratio(out, rank.synchronization_ns,
               static_cast<int128>(rank.synchronization_ns) + rank.transit_ns);
  out += '}';
}

void append_band(std::string& out, Band band, const BandTotal& total,
                 std::int64_t least_large_bytes) {
  out += fmt::format("\"{}\":{{\"Transit Size(MB)\":", band_name(band));
  append_decimal(out, total.size_bytes, kMegabyteDecimals);
  append_ms(out, ",\"Transit Time(ms)\":", total.duration_ns);
  out += ",\"Bandwidth(GB/s)\":";
  append_ratio(out, total.size_bytes, total.duration_ns);
  out += ",\"Large Packet Ratio\":";
  const auto [large, all] = large_packets(total, least_large_bytes);
  append_ratio(out, large, all);
  out += ",\"Size Distribution\":{";
  bool is_first = true;
  for (const auto& [size, packets] : total.packets) {
    out += is_first ? "\"" : ",\"";
    is_first = false;
    // Must have the format of the vendor's Python code: readers compare these keys as text.
    append_python_float(out, static_cast<double>(size) / kBytesPerMegabyte);
    out += fmt::format("\":[{},", packets.count);
    append_decimal(out, packets.duration_ns, kMsDecimals);
    out += ']';
  }
  out += "}}";
}

void write_communication_json(const ClusterView& view, bool with_operations,
                              const std::filesystem::path& file,
                              std::vector<TemporaryFile>& finished) {
  using Kind = CommunicationItems::Kind;
  AtomicFile out(file);
  out.write("{\"p2p\":{");
  if (view.has_pair_operations())
    write_items(out, view, CommunicationItems(view, Kind::pairs, with_operations));
  out.write("},\n\"collective\":{");
  write_items(out, view, CommunicationItems(view, Kind::collectives, with_operations));
  out.write("}}\n");
  finished.push_back(out.finish());
}

}  // namespace msprof::cluster
