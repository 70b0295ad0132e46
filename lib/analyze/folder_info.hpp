// What CANN's own tools print about the host and device folders of a capture: the table of their
// query, and the JSON of get_msprof_info.py. For callers of these tools.
// Form: docs/collect_cann.md, docs/frameworks.md.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "session/cann_session.hpp"
#include "store/database.hpp"

namespace msprof {

// A model of a folder's step trace, or a folder without one. "N/A" is what is not known.
struct FolderRow {
  std::string job;  // jobInfo
  std::string device;
  std::string folder;  // "device_0"
  std::string date;    // of the start of the collection
  std::string model = "N/A";
  std::string iterations = "N/A";      // the highest number
  std::string top_iterations = "N/A";  // numbers of the longest, longest first: "2,1,3"
  std::string rank;                    // "-1": none
};

// `db`: the store of the capture; null: nothing is known about models.
std::vector<FolderRow> folder_rows(const CannSession& session, const Database* db);

// The rows as the vendor's query prints them: cells end with a tab, lines with an empty line.
std::string folder_table(const std::vector<FolderRow>& rows);

// What is known about one folder of a capture.
nlohmann::ordered_json folder_document(const CannPart& part, const std::vector<FolderRow>& rows);

}  // namespace msprof
