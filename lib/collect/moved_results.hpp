// The mark of a staging folder into which results were moved instead of copied. Used by LocalHost
// and the staging folder of the next run.
#pragma once

namespace msprof {

// Name in the staging folder. Its "captures" and "files" are then the only copies.
inline constexpr const char* kMovedMark = "moved";
// Folder in the output folder into which the next run moves the "files" of a killed run.
inline constexpr const char* kKilledFiles = "killed.files";

}  // namespace msprof
