// Prints the host and device folders of a capture as CANN's tools do: the table of their query, and
// the JSON of get_msprof_info.py.
// Format: docs/collect_cann.md, docs/frameworks.md.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "session/cann_session.hpp"
#include "store/database.hpp"

namespace msprof {

// One model of a folder's step trace, or a folder without models. Unknown values are "N/A".
struct FolderRow {
  std::string job;  // jobInfo
  std::string device;
  std::string folder;  // "device_0"
  std::string date;    // start of the collection
  std::string model = "N/A";
  std::string iterations = "N/A";      // highest iteration number
  std::string top_iterations = "N/A";  // numbers of the longest iterations, longest first: "2,1,3"
  std::string rank;                    // "-1" if there is none
};

// `db` is the store of the capture, or null to omit models.
std::vector<FolderRow> folder_rows(const CannSession& session, const Database* db);

// Formats the rows like the vendor's query: a tab after each cell, an empty line after each row.
std::string folder_table(const std::vector<FolderRow>& rows);

// Returns the JSON document for one folder of a capture.
nlohmann::ordered_json folder_document(const CannPart& part, const std::vector<FolderRow>& rows);

}  // namespace msprof
