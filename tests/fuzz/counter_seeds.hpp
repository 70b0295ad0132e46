// Small valid files of every kind of system counters and of the newest kinds, for the seeds of the
// fuzz targets of PROF folders. Source: cann_system.md 2 to 21.
#pragma once

#include <string>
#include <vector>

#include "cann_seeds.hpp"
#include "support/prof/prof_setup.hpp"

namespace msprof::fuzz {

// Adds the info to `setup` that the counters need to be read.
void describe_counters(test::prof::ProfSetup& setup);

// Returns each file once, in one slice, in a fixed order: add new kinds at the end.
std::vector<NamedBytes> counter_files();

// Returns the kinds of cann_new_kinds.md 2 to 4, which are at the end of counter_files().
std::vector<NamedBytes> new_kind_files();

// Returns true if a file of counter_files() contains lines of text.
bool is_counter_text(const std::string& name);

}  // namespace msprof::fuzz
