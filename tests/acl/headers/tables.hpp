// The tables that tables.cmake generates from functions.txt.
#pragma once

#include <vector>

#include "acl/headers/table.h"

struct HeaderTables {
  const char* header;  // as programs include it
  const msprof_named_function* c;
  const msprof_named_function* cpp;
};

const std::vector<HeaderTables>& header_tables();
