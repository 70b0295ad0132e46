// NIC, RoCE, network device statistics and DVPP: text lines, one per interval or sample.
#include <catch2/catch.hpp>

#include "counters/counter_capture.hpp"

using namespace msprof::test;
using prof::ProfSetup;

namespace {

constexpr std::string_view kNicHead =
    "timestamp bandwidth rxPacket/s rxByte/s rxPackets rxBytes rxErrors rxDropped txPacket/s"
    " txByte/s txPackets txBytes txErrors txDropped funcId\n";
constexpr std::string_view kDvppHead =
    "time_stamp(s):time_stamp(ns) dvpp_id engine_type engine_id all_time all_frame all_utilization"
    " proc_time proc_frame proc_utilization last_time last_frame\n";

// A netdev_stats line at `ns` after the start; all 15 totals are `total`.
std::string netdev(std::uint64_t ns, std::uint64_t total) {
  std::string line = std::to_string(5'000'000'000 + ns);
  for (int i = 0; i < 15; ++i) line += " " + std::to_string(total);
  return line + "\n";
}

}  // namespace

TEST_CASE("NIC: rates are per second, and errors are per port") {
  CounterCapture capture;
  capture.device("nic.data", std::string(kNicHead) +
                                 "4:001000000 100 10 1310720 1000 0 0 0 20 0 10 0 4 2 7\n"
                                 "4:001000000 100 0 0 0 0 5 5 0 0 0 0 0 0 9\n"
                                 "4:501000000 100 30.5 2621440.25 2000 65");
  capture.prof().next_slice("nic.data", 0);
  capture.device("nic.data", "53600 1 3 60 0 10 0 4 4 7\n");
  capture.process();
  CHECK(capture.samples("nic").size() == 39);
  CHECK(capture.store("SELECT name.text || '=' || value || '/' || divisor FROM counter JOIN track"
                      " ON track.id = track_id JOIN name ON name.id = name_id WHERE number = 7 AND"
                      " time_ns = 1700000000501000000 ORDER BY counter.id LIMIT 4") ==
        Lines{"Bandwidth=100000/1000", "Rx Packet Rate=30500/1000", "Rx Byte Rate=2621440250/1000",
              "Rx Packets=2000/1"});
  CHECK(capture.header("nic") ==
        "Device_id,Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,"
        "rxError rate(%),rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,txError rate(%),"
        "txDropped rate(%),funcId");
  // Port 7: 6553600 bytes in half a second are 100 Mbit/s; 1000 packets in it; over two samples one
  // error in 40.5 packets, and three dropped. Port 9 has one sample, without packets.
  CHECK(capture.table("nic") ==
        Lines{"0|" + at(501'000'000) + "|100.0|100.0|2000.0|1.2|3.7|0.0|0.0|5.0|3.7|7",
              "0|" + at(1'000'000) + "|100.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0|9"});
  const Lines events = capture.events("NIC");
  REQUIRE(events.size() == 6);
  CHECK(events[0] == "Port 7/Rx|" + at(1'000'000) +
                         "|{\"Rx Bandwidth Efficiency\":0.1,\"Rx Packets\":10.0,"
                         "\"Rx Error Rate\":0.0,\"Rx Dropped Rate\":0.0}");
  CHECK(events[5] == "Port 7/Tx|" + at(501'000'000) +
                         "|{\"Tx Bandwidth Efficiency\":0.0,\"Tx Packets\":60.0,"
                         "\"Tx Error Rate\":0.4,\"Tx Dropped Rate\":0.4}");
  CHECK(capture.unified("SELECT timestampNs - 1700000000000000000, bandwidth, rxPacketRate,"
                        " rxByteRate, rxPackets, rxBytes, rxErrors, rxDropped, txDropped, funcId"
                        " FROM NIC WHERE funcId = 7") ==
        Lines{"1000000|104857600|10|1310720|1000|0|0|0|2|7",
              "501000000|104857600|30.5|2621440.25|2000|6553600|1|3|4|7"});
  CHECK(capture.findings("nic").empty());
}

TEST_CASE("RoCE: lines have a port and a type, or neither, like the first line") {
  CounterCapture capture;
  capture.device("roce.data", "4:001000000 100 1 2 3 4 0 0 1 2 3 4 0 0\n");
  capture.prof().next_slice("roce.data", 0);
  capture.device("roce.data",
                 "4:002000000 100 1 2 3 4 0 0 1 2 3 4 0 0\n"
                 "4:003000000 100 1 2 3 4 0 0 1 2 3 4 0 0 5\n");
  capture.process();
  CHECK(capture.table("roce").size() == 1);
  CHECK(capture.unified("SELECT timestampNs - 1700000000000000000, funcId FROM ROCE") ==
        Lines{"1000000|0", "2000000|0"});
  CHECK(capture.events("RoCE").size() == 4);
  CHECK(capture.findings("roce") == Lines{"PARTIAL roce: not in the expected format x1"});

  ProfSetup setup = prof::setup_310p();
  setup.devices = {0};
  CounterCapture other(setup);
  other.device("roce.data", "4:001000000 0 1 2 3 4 0 0 1 2 3 4 0 0 6 1\n");
  other.process();
  CHECK(other.unified("SELECT bandwidth, funcId FROM ROCE") == Lines{"0|6"});
  CHECK(other.events("RoCE").empty());  // no percentage of zero bandwidth
  CHECK(other.findings("roce") == Lines{"note roce: not expected on this chip x1"});
}

TEST_CASE("NIC: damaged lines are counted, the rest is kept") {
  CounterCapture capture;
  capture.device("nic.data",
                 "4:001000000 100 1 2 3 9 0 0 1 2 3 4 0 0 0\n"
                 "4:001500000 100 1 2 3 4 x 0 1 2 3 4 0 0 0\n"
                 "4:001600000 100 1 2 3 4 -1 0 1 2 3 4 0 0 0\n"
                 "4:001700000 99999999999999999999 1 2 3 4 0 0 1 2 3 4 0 0 0\n"
                 "4:1 100 1 2 3 4 0 0 1 2 3 4 0 0 0\n"
                 "4:002000000 100 1 2 3 4 0 0 1 2 3 18446744073709551615 0 0 0\n"
                 "99999999999999999999:000000000 1 1 2 3 4 0 0 1 2 3 4 0 0 0\n");
  capture.device("nic.data", std::string(3, '\0') + "\n4:003000000 100 1 2");
  capture.process();
  CHECK(capture.store("SELECT value FROM counter JOIN track ON track.id = track_id JOIN name ON"
                      " name.id = name_id WHERE text = 'Tx Bytes' ORDER BY counter.id") ==
        Lines{"4", "9223372036854775807"});
  CHECK(capture.findings("nic") == Lines{"PARTIAL nic: not in the expected format x6",
                                         "PARTIAL nic: incomplete line at the end x1",
                                         "PARTIAL nic: counter decreased x1"});
}

TEST_CASE("NIC: excess ports are counted but not kept") {
  CounterCapture capture;
  for (int port = 0; port < 300; ++port)
    capture.device("nic.data",
                   "4:001000000 100 1 2 3 4 0 0 1 2 3 4 0 0 " + std::to_string(port) + "\n");
  capture.process();
  CHECK(capture.table("nic").size() == 256);
  CHECK(capture.findings("nic") == Lines{"PARTIAL nic: more ports than a device has x44"});
}

TEST_CASE("network device statistics: rates are differences of totals by the host clock") {
  CounterCapture capture;
  capture.device("netdev_stats.data", netdev(1'000'000, 100));
  capture.prof().next_slice("netdev_stats.data", 0);
  capture.device("netdev_stats.data", netdev(3'000'000, 300) + netdev(5'000'000, 300));
  capture.process();
  const Lines samples = capture.samples("netdev_stats");
  REQUIRE(samples.size() == 30);
  CHECK(samples[0] == "0|MAC|Tx PFC Packets|packets/s|1000000|3000000|200");
  CHECK(samples[14] == "0|NIC|Rx|MB/s|1000000|3000000|200");
  CHECK(samples[16] == "0|MAC|Rx PFC Packets|packets/s|3000000|5000000|0");
  CHECK(capture.unified("SELECT deviceId, timestampNs - 1700000000000000000, macTxPfcPkt,"
                        " macTxByte, macTxBandwidth, macRxBadByte, roceNewPktRty, nicRxByte,"
                        " nicRxBandwidth FROM NETDEV_STATS") ==
        Lines{"0|3000000|200|200|100000|200|200|200|100000", "0|5000000|0|0|0|0|0|0|0"});
  CHECK(capture.table("netdev_stats").empty());
  CHECK(capture.findings("netdev_stats").empty());
}

TEST_CASE(
    "network device statistics: decreasing counters, repeated times and truncated lines are "
    "counted") {
  CounterCapture capture;
  capture.device("netdev_stats.data",
                 netdev(1'000'000, 100) + netdev(1'000'000, 150) +
                     "5002000000 90 200 200 200 200 200 200 200 200 200 200 200 200 200 200\n" +
                     "5003000000 90 200\n" + "5004000000 90 200 200 200 200");
  capture.process();
  CHECK(capture.samples("netdev_stats").size() == 14);
  CHECK(capture.unified("SELECT macTxPfcPkt, macRxPfcPkt FROM NETDEV_STATS") == Lines{"0|100"});
  CHECK(capture.findings("netdev_stats") ==
        Lines{"PARTIAL netdev_stats: not in the expected format x1",
              "PARTIAL netdev_stats: incomplete line at the end x1",
              "PARTIAL netdev_stats: same time as the previous sample x1",
              "PARTIAL netdev_stats: counter decreased x1"});
}

TEST_CASE("DVPP: each engine has its growth over all slices, and its last utilization") {
  CounterCapture capture;
  capture.device("dvpp.data", std::string(kDvppHead) +
                                  "4:001000000 1 4 0 1000 10 5% 1000 10 50% 1000 10\n"
                                  "4:001000000 0 1 0 0 0 0% 0 0 0% 0 0\n"
                                  "4:001000000 1 1 2 7 1 1% 7 1 1% 7 1\n");
  capture.prof().next_slice("dvpp.data", 0);
  capture.device("dvpp.data", std::string(kDvppHead) +
                                  "4:002000000 1 4 0 1600 14 7.5% 600 4 60% 600 4\n"
                                  "4:002000000 1 4 3 5 5 1% 5 5 5% 5 5\n"
                                  "4:003000000 1 9 0 5 5 1% 5 5 5% 5 5\n");
  capture.process();
  CHECK(capture.samples("dvpp").size() == 48);
  CHECK(capture.samples("dvpp")[2] == "0|DVPP 1 VPC 0|All Utilization|%||1000000|5000");
  CHECK(capture.header("dvpp") ==
        "Device_id,Dvpp Id,Engine Type,Engine ID,All Time(us),All Frame,All Utilization(%)");
  // Ordered by id, type and engine in the order of first appearance.
  CHECK(capture.table("dvpp") == Lines{"0|1|VPC|0|600.0|4.0|7.5", "0|1|VPC|3|0.0|0.0|1",
                                       "0|1|JPEGD|2|0.0|0.0|1", "0|1|Type 9|0|0.0|0.0|1",
                                       "0|0|JPEGD|0|0.0|0.0|0"});
  CHECK(capture.findings("dvpp").empty());
}

TEST_CASE("DVPP: lines of a 310 have no id, and damaged lines are counted") {
  ProfSetup setup;
  setup.platform = "0";
  CounterCapture capture(setup);
  capture.device("dvpp.data",
                 "4:001000000 4 0 1000 10 5% 1000 10 50% 1000 10\n"
                 "4:002000000 4 0 1000 10 5 1000 10 50% 1000 10\n"
                 "4:002000000 1 4 0 1000 10 5% 1000 10 50% 1000 10\n"
                 "4:002000000 4 VPC 1000 10 5% 1000 10 50% 1000 10\n"
                 "4:003000000 4 0 900 12 5% 1000 10 50% 1000 10\n"
                 "4:004000000 4 0 1000 1");
  capture.process();
  CHECK(capture.table("dvpp") == Lines{"0|0|VPC|0|0.0|2.0|5"});
  CHECK(capture.findings("dvpp") == Lines{"PARTIAL dvpp: not in the expected format x3",
                                          "PARTIAL dvpp: incomplete line at the end x1",
                                          "PARTIAL dvpp: counter decreased x1"});
}

TEST_CASE("empty network and DVPP files give no data and no finding") {
  CounterCapture capture;
  for (const char* stem : {"nic.data", "roce.data", "netdev_stats.data", "dvpp.data"})
    capture.device(stem, "");
  capture.device("nic.data", kNicHead);
  // a single sample only starts an interval
  capture.device("netdev_stats.data", netdev(1'000'000, 100));
  capture.process();
  for (const char* table : {"nic", "roce", "dvpp"}) CHECK(capture.table(table).empty());
  CHECK(capture
            .store("SELECT 1 FROM track JOIN name ON name.id = kind_name_id WHERE text IN"
                   " ('nic', 'roce', 'dvpp', 'netdev_stats')")
            .empty());
  for (const char* kind : {"nic", "roce", "netdev_stats", "dvpp"})
    CHECK(capture.findings(kind).empty());
}
