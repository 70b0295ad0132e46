// Small good files of every kind of system counters and of the newest kinds, for the seeds of the
// fuzz targets of PROF folders. Source: cann_system.md 2 to 21.
#pragma once

#include <string>
#include <vector>

#include "cann_seeds.hpp"
#include "support/prof/prof_setup.hpp"

namespace msprof::fuzz {

// What the info files have to say for the counters of `setup` to be read.
void describe_counters(test::prof::ProfSetup& setup);

// Each file once, in one slice, in a fixed order: new kinds go to the end.
std::vector<NamedBytes> counter_files();

// The kinds of cann_new_kinds.md 2 to 4, which counter_files() has at its end.
std::vector<NamedBytes> new_kind_files();

// Whether a file that counter_files() names is lines of text.
bool is_counter_text(const std::string& name);

}  // namespace msprof::fuzz
