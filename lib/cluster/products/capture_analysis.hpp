// Writes the communication analysis of one capture: analyze/communication.json,
// communication_matrix.json and communication_analyzer.db, in the vendor's formats read by
// torch_npu and MindSpore. Used by `msprof --analyze=on`.
// Source: cann_device.md 18.3.
#pragma once

#include <filesystem>
#include <vector>

#include "store/database.hpp"

namespace msprof::cluster {

struct AnalysisOptions {
  bool writes_communication = true;  // duration of each collective, and the kinds of links used
  bool writes_matrix = true;         // writes the bytes that each collective sent between ranks
  bool json = true;                  // writes JSON files; the database is always written
};

// Writes the files to `base`/analyze and returns the paths of the JSON files. Writes no files if
// the capture has no collectives. Throws Error(cannot_write).
std::vector<std::filesystem::path> write_capture_analysis(const Database& store,
                                                          const std::filesystem::path& base,
                                                          const AnalysisOptions& options);

}  // namespace msprof::cluster
