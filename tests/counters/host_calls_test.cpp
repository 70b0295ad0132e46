// host_syscall, host_pthreadcall: operating-system calls; static_op_mem: memory of graphs.
#include <catch2/catch.hpp>

#include "counters/counter_capture.hpp"

using namespace msprof::test;
using prof::ProfSetup;

namespace {

struct __attribute__((packed)) StaticMemory {
  std::uint16_t magic = 0x5A5A;
  std::uint16_t level = 10000;
  std::uint32_t type = 12, thread = 4321, bytes = 60;
  std::uint64_t count = 500'000'000;
  std::int64_t size = 0;
  std::uint64_t op = 0, begin = 0, end = 0, total = 0, model = 0;
  std::uint32_t graph = 0;
  std::uint8_t rest[180]{};
};
static_assert(sizeof(StaticMemory) == 256);

std::string to_bytes(const StaticMemory& record) {
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

}  // namespace

TEST_CASE("calls: the first line of each file is at the start of the collection") {
  CounterCapture capture;
  capture.host("host_syscall.data",
               " 1234576.633 (    1.507 ms): python3/4321 getpid(fd: 26, cmd: 0x1) = 0\n"
               " 1234577.633 (    0.500 ms): python3/4321 read(fd: 26, a: b) = 0\n"
               " 1234578.134 (    0.25");
  capture.prof().next_slice("host_syscall.data");
  capture.host("host_syscall.data",
               "0 ms): my app/4322 pread64(fd: 10) = -1 EAGAIN\n"
               " 1234576.000 (    0.001 ms): ioctl(fd: 10) = 0\n");
  capture.host("host_pthreadcall.data",
               "[pid 4322] 1715760307.208008 python3->pthread_once(0x1234) = 0 <0.000027>\n"
               "[pid 4321] 1715760307.208508 python3->pthread_create(0x1) = 0 <0.002000>\n"
               "1715760307.218508 python3->pthread_create(0x1) = 0 <0.001250>\n"
               "[pid 4321] 1715760307.228508 +++ exited (status 0) +++\n");
  capture.process();
  // The store has all calls by end time, including early ones and those omitted from products.
  CHECK(capture.samples("host_syscall") ==
        Lines{"host|Thread 4321|ioctl|us|-633000|-632000|1000",
              "host|Thread 4321|read|us|1000000|1500000|500000",
              "host|Thread 4321|getpid|us|0|1507000|1507000",
              "host|Thread 4322|pread64|us|1501000|1751000|250000"});
  CHECK(capture.header("os_runtime_statistic") ==
        "Device_id,Process ID,Thread ID,Name,Time(%),Time(us),Count,Avg(us),Max(us),Min(us)");
  CHECK(capture.table("os_runtime_statistic") ==
        Lines{"host|4321|4321|pthread_create|81.25|3250.0|2|1625.0|2000.0|1250.0",
              "host|4321|4321|read|12.5|500.0|1|500.0|500.0|500.0",
              "host|4321|4322|pread64|6.25|250.0|1|250.0|250.0|250.0"});
  CHECK(capture.events("OS Runtime API") ==
        Lines{"read|4321|" + at(1'000'000) + "|500.0", "pread64|4322|" + at(1'501'000) + "|250.0",
              "pthread_create|4321|" + at(500'000) + "|2000.0",
              "pthread_create|4321|" + at(10'500'000) + "|1250.0"});
  CHECK(capture.unified("SELECT value, globalTid - (4321 << 32), startNs - 1700000000000000000,"
                        " endNs - startNs FROM OSRT_API JOIN STRING_IDS ON id = name") ==
        Lines{"read|4321|1000000|500000", "pread64|4322|1501000|250000",
              "pthread_create|4321|500000|2000000", "pthread_create|4321|10500000|1250000"});
  CHECK(capture.findings("host_syscall").empty());
  CHECK(capture.findings("host_pthreadcall").empty());
}

TEST_CASE("calls: damaged lines and unpaired calls are counted") {
  CounterCapture capture;
  capture.host("host_syscall.data",
               " 1.000 ( 1.000 ms): a/1 read(1) = 0\n"
               " 2.000 ( ): a/1 futex(1) ...\n"
               " 3.000 ( 1.000 ms): a/1 ... [continued]: futex()) = 0\n"
               " 4.000 ( 1.000 s): a/1 read(1) = 0\n"
               " 5 1.000 ms: a/1 read(1) = 0\n"
               " 99999999999999999999.000 ( 1.000 ms): a/1 read(1) = 0\n"
               " 9000000000000.000 ( 9000000000000.000 ms): a/1 read(1) = 0\n"
               " 7.000 ( 1.000 ms): a/x read(1) = 0\n"
               " 7.000 ( 1.000 ms): a/1 r\x01d(1) = 0\n"
               " 8.0");
  capture.host("host_pthreadcall.data",
               "[pid 1] 1.000000 a->pthread_create(0x1 <unfinished ...>\n"
               "[pid 1] 2.000000 <... pthread_create resumed> ) = 0 <0.5>\n"
               "[pid 1 3.000000 a->pthread_create(0x1) = 0 <0.000001>\n"
               "[pid 1] 3.000000 a->pthread_create(0x1) = 0\n"
               "[pid 1] 4.000000 a->pthread_create(0x1) = 0 <0.000001>\n" +
                   std::string("\0\0\n", 3));
  capture.process();
  CHECK(capture.table("os_runtime_statistic") ==
        Lines{"host|4321|1|read|99.9000999000999|1000.0|1|1000.0|1000.0|1000.0",
              "host|4321|1|pthread_create|0.0999000999000999|1.0|1|1.0|1.0|1.0"});
  CHECK(capture.findings("host_syscall") ==
        Lines{"PARTIAL host_syscall: not in the expected format x5",
              "PARTIAL host_syscall: impossible time x1",
              "PARTIAL host_syscall: incomplete line at the end x1",
              "note host_syscall: calls without their start or end x2"});
  CHECK(capture.findings("host_pthreadcall") ==
        Lines{"PARTIAL host_pthreadcall: not in the expected format x3",
              "note host_pthreadcall: calls without their start or end x2"});
}

TEST_CASE("calls: empty files give no data and no finding") {
  CounterCapture capture;
  capture.host("host_syscall.data", "");
  capture.host("host_pthreadcall.data", "\n");
  capture.process();
  CHECK(capture.table("os_runtime_statistic").empty());
  CHECK(capture.events("OS Runtime API").empty());
  CHECK(capture.findings("host_syscall").empty());
  CHECK(capture.findings("host_pthreadcall").empty());
}

TEST_CASE("static operator memory: each record is a row, with names of the dictionary") {
  CounterCapture capture;
  StaticMemory record;
  record.op = capture.prof().hash("conv1");
  record.model = capture.prof().hash("resnet");
  record.graph = 3;
  record.size = 1536;
  record.begin = 2;
  record.end = 7;
  capture.host("unaging.additional.static_op_mem", to_bytes(record));
  record.size = 4096;
  record.end = 4294967294;
  record.count += 100;
  capture.host("unaging.additional.static_op_mem", to_bytes(record).substr(0, 100));
  capture.prof().next_slice("unaging.additional.static_op_mem");
  capture.host("unaging.additional.static_op_mem", to_bytes(record).substr(100));
  record.op = 0;
  record.model = 77;
  record.size = -1024;
  record.count = 499'999'000;  // before the collection
  capture.host("unaging.additional.static_op_mem", to_bytes(record));
  capture.process();
  CHECK(capture.header("static_op_mem") ==
        "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)");
  CHECK(capture.table("static_op_mem") == Lines{"host|conv1|resnet|3|2|7|1.5",
                                                "host|conv1|resnet|3|2|4294967295|4",
                                                "host|TOTAL|77|3|2|4294967295|-1"});
  CHECK(capture.samples("static_op_mem").at(3) == "host|conv1|Size|KB||1000|4096");
  CHECK(capture.store("SELECT count(*) FROM track JOIN name ON name.id = kind_name_id WHERE"
                      " name.text = 'static_op_mem'") == Lines{"6"});
  CHECK(capture.findings("static_op_mem").empty());
}

TEST_CASE("static operator memory: damaged records are counted, an empty file is not damage") {
  CounterCapture capture;
  StaticMemory record;
  capture.host("unaging.additional.static_op_mem", to_bytes(record));
  record.magic = 0;
  capture.host("unaging.additional.static_op_mem", to_bytes(record));
  record.magic = 0x5A5A;
  record.begin = UINT64_MAX;
  capture.host("unaging.additional.static_op_mem", to_bytes(record) + "cut");
  capture.process();
  CHECK(capture.table("static_op_mem") ==
        Lines{"host|TOTAL|0|0|0|0|0", "host|TOTAL|0|0|9223372036854775807|0|0"});
  CHECK(capture.findings("static_op_mem") ==
        Lines{"PARTIAL static_op_mem: bad magic x1",
              "PARTIAL static_op_mem: ends in the middle of a record x3"});

  CounterCapture empty;
  empty.host("unaging.additional.static_op_mem", "");
  empty.process();
  CHECK(empty.table("static_op_mem").empty());
  CHECK(empty.findings("static_op_mem").empty());
}
