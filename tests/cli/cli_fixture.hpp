// A working folder with captures, for the tests of the command line.
#pragma once

#include <nlohmann/json.hpp>

#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/lines.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

using Words = std::vector<std::string>;

// Makes a good capture `parent`/`name`.
inline JobBuilder make_face(const std::filesystem::path& parent, const std::string& name) {
  JobBuilder job(parent, name);
  add_face(job);
  return job;
}

// Makes a capture with one layer record and no `.done` file, so that it is partial.
inline JobBuilder make_partial(const std::filesystem::path& parent, const std::string& name) {
  JobBuilder job(parent, name);
  AicoreRecord record;
  record.total = 10;
  job.info_json("500").net_info("net", 1).data(DataName{}, aicore_file({record}),
                                               {.written = false});
  return job;
}

// Sets the times of the capture's info.json to `seconds` after the start of 2020.
void set_age(const JobBuilder& job, int seconds);

// Adds many executions, so that an import takes long enough to be interrupted.
void add_many_records(JobBuilder& job, std::size_t records);

}  // namespace msprof::test
