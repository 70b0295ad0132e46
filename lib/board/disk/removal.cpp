#include "board/disk/removal.hpp"

#include "board/session/info.hpp"
#include "board/session/link.hpp"

namespace msprof {

namespace {

// `remove_folder FOLDER`. Makes folders writable, but leaves the modes of files: a file may be a
// hard link to one of the user's.
constexpr const char* kRemoveFolder = R"sh(
remove_folder() {
  find "$1" -type d ! -perm -700 -exec chmod u+rwx {} \; 2>/dev/null
  rm -rf "$1"
}
)sh";

constexpr std::string_view kRemovalName = "removing msprof's files from the board";

const BoardScript kRemoveRun = {kRemovalName, std::string(kUnmountFunction) + kRemoveFolder + R"sh(
unmount "$1" && remove_folder "$1"
)sh"};

// Arguments: msprof's folders. Removes msprof's files in each, then the folder if it is empty.
const BoardScript kRemoveAll = {kRemovalName, std::string(kUnmountFunction) + kRemoveFolder + R"sh(
for ours do
  cd "$ours" 2>/dev/null || continue
  for run in runs/*; do unmount "$run" || exit 1; done
  for part in cache kept runs lock; do remove_folder "$part" || exit 1; done
  cd / && rmdir "$ours" 2>/dev/null
done
exit 0
)sh"};

}  // namespace

void remove_run_folder(BoardShell& shell, const std::string& run_folder) {
  shell.change(kRemoveRun, {run_folder});
}

void remove_all_of_ours(BoardShell& shell, const std::string& folder) {
  shell.change(kRemoveAll, find_own_folders(folder));
}

}  // namespace msprof
