// The analyses of the collectives of one capture: analyze/communication.json,
// communication_matrix.json and communication_analyzer.db, as torch_npu and MindSpore read them
// from the vendor's tool. For `msprof --analyze=on`.
// Source: cann_device.md 18.3.
#pragma once

#include <filesystem>
#include <vector>

#include "store/database.hpp"

namespace msprof::cluster {

struct AnalysisOptions {
  bool communication = true;  // how long each collective took, and over which kinds of links
  bool matrix = true;         // what each sent to which rank
  bool json = true;           // beside the database, which is always written
};

// Writes them into `base`/analyze and returns the JSON files. Writes nothing where the capture has
// no collectives. Throws Error(cannot_write).
std::vector<std::filesystem::path> write_capture_analysis(const Database& store,
                                                          const std::filesystem::path& base,
                                                          const AnalysisOptions& options);

}  // namespace msprof::cluster
