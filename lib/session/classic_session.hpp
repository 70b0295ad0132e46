// ClassicSession represents a JOB folder of an Ascend 310 or 910 from 2019 to 2021: one folder per
// device, file names in three styles. Devices become parts, as in PROF folders, so that the CANN
// kinds can read them. Source: cann5_classic.md 1 to 4.
#pragma once

#include <string>
#include <vector>

#include "session/cann_session.hpp"

namespace msprof {

class ClassicSession : public CannSession {
 public:
  explicit ClassicSession(const std::filesystem::path& folder, CaptureFolders folders = {});

 private:
  void add_devices(const std::vector<DataFolder>& folders);
  void add_folder(const std::filesystem::path& path, const std::string& prefix);
};

}  // namespace msprof
