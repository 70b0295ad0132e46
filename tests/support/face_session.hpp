// A small good capture whose numbers can be checked by hand: two executions of four layers (one on
// the CPU, one without records) at 500 MHz, and seven calls. For golden and command tests.
#pragma once

#include <vector>

#include "support/job_builder.hpp"

namespace msprof::test {

std::vector<AicoreRecord> face_aicore();
std::vector<AicpuRecord> face_aicpu();
std::vector<AclRecord> face_calls();
std::vector<LayerLine> face_layers();

// Model "face", id 31, batch 2, device 0; names in the form of the oldest boards.
DataName face_name(const std::string& type);
Done face_aicore_done();  // instruction cache: 9000 hits, 1000 misses
Done face_acl_done();     // process 4711, thread 4712

// Adds all files to `job`.
void add_face(JobBuilder& job);

}  // namespace msprof::test
