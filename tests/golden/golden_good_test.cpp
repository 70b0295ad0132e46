// A good capture from raw bytes to every product, each byte of them.
#include <catch2/catch.hpp>

#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;

namespace {

struct Face {
  TempFolder folder;
  JobBuilder job{folder.path()};
  Face() { add_face(job); }
  RunResult run(std::vector<std::string> words) const {
    words.insert(words.end(), {"-dir", job.folder().string()});
    return run_msprof(words);
  }
  std::string product(const std::string& name) const { return read_file(job.folder() / name); }
};

}  // namespace

TEST_CASE("the products of a good capture have exactly the documented names") {
  const Face face;
  CHECK(face.run({"export", "timeline"}).exit_code == 0);
  CHECK(face.run({"export", "summary"}).exit_code == 0);
  CHECK(names_in(face.job.folder()) ==
        std::vector<std::string>{"data", "info.json.0", "sqlite", "summary", "timeline"});
  CHECK(names_in(face.job.folder() / "timeline") ==
        std::vector<std::string>{"acl_0.face.31.2.json", "task_time_0.face.31.2.json"});
  CHECK(names_in(face.job.folder() / "summary") ==
        std::vector<std::string>{"acl_statistic_0_31_0.csv", "op_statistic_0_31_0_0.csv",
                                 "op_summary_0.face.31.2.2.0.0.1000.500.csv"});
  CHECK(names_in(face.job.folder() / "sqlite") == std::vector<std::string>{"msprof.db"});
}

TEST_CASE("op_summary has a row for each layer with records, and the total row") {
  const Face face;
  REQUIRE(face.run({"export", "summary"}).exit_code == 0);
  // Means over two executions at 500 MHz; conv1 is 6001 / 2 / 500 = 6.001 us.
  CHECK(face.product("summary/op_summary_0.face.31.2.2.0.0.1000.500.csv") ==
        "Layer Id,Ori Layer Name,Layer Name,Layer Type,Time(us),Time Ratio,Mac Busy Ratio,"
        "Mac Ppen Ratio,Vec Busy Ratio,Vec Ppen Ratio,Dstr Ratio,Dtrans Ratio,DLD Ratio,WLD Ratio,"
        "Memory Bound,DDR Read(byte),DDR Write(byte),DDR Total(byte)\n"
        "0,conv1+bn1+relu1,conv1,Convolution,6.001,59.310,50.008,40.010,20.013,10.015,5.016,3.016,"
        "30.012,15.014,0.600,4097,2049,6145\n"
        "1,pool1,pool1,Pooling,2.500,24.708,0.000,0.000,72.000,48.000,24.000,1.200,40.000,0.000,"
        "0.833,2050,513,2562\n"
        "2,detect,detect,DetectionOutput,1.617,15.981,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,"
        "N/A\n"
        "-,-,-,-,10.118,100.000,35.302,28.244,35.302,21.186,10.599,2.482,32.949,10.599,0.933,6146,"
        "2561,8707\n");
}

TEST_CASE("op_statistic has the longest operator first and numbers by first execution") {
  const Face face;
  REQUIRE(face.run({"export", "summary", "--format", "csv"}).exit_code == 0);
  CHECK(face.product("summary/op_statistic_0_31_0_0.csv") ==
        "Task ID,Stream ID,OP Name,Task Type,Total Time Ratio(%),Total Time(us),Count,Avg(us),"
        "Max(us),Min(us)\n"
        "0,0,conv1,AA_CORE,59.310,12.002,2,6.001,6.002,6.000\n"
        "1,0,pool1,AA_CORE,24.708,5.000,2,2.500,3.000,2.000\n"
        "2,0,detect,AA_CPU,15.981,3.234,2,1.617,2.000,1.234\n");
}

TEST_CASE(
    "acl_statistic takes pid and tid from .done and the thread of a record where it has one") {
  const Face face;
  REQUIRE(face.run({"export", "summary"}).exit_code == 0);
  // 51001 / 2 ns = 25.5005 us, rounded half away from zero. The whole is 50056.501 us.
  CHECK(face.product("summary/acl_statistic_0_31_0.csv") ==
        "Process ID,Thread ID,Type,Name,Total Time Ratio(%),Total Time(us),Count,Avg(us),Max(us),"
        "Min(us)\n"
        "4711,4712,model,svp_acl_mdl_load_from_mem,99.887,50000.000,1,50000.000,50000.000,"
        "50000.000\n"
        "4711,9001,model,svp_acl_mdl_execute,0.102,51.001,2,25.501,26.001,25.000\n"
        "4711,4712,model,svp_acl_mdl_unload,0.006,3.000,1,3.000,3.000,3.000\n"
        "4711,4712,others,svp_acl_init,0.003,1.500,1,1.500,1.500,1.500\n"
        "4711,4712,runtime,svp_acl_rt_malloc,0.002,0.999,1,0.999,0.999,0.999\n"
        "4711,4712,N/A,api_999,0.000,0.001,1,0.001,0.001,0.001\n");
}
