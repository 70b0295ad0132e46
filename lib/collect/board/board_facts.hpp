// BoardFacts: what a look at a board tells. For the board host and its transfers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace msprof {

struct BoardFacts {
  std::string system;            // uname -s: "Linux"
  std::string machine;           // uname -m: "aarch64"
  std::string home;              // the account's home folder, absolute
  std::string folder;            // <board_dir>/.msprof, absolute
  std::uint64_t free_bytes = 0;  // for files below `folder`
  bool has_tar = false;
  bool has_sftp = false;
  bool has_stat = false;  // stat -c, for listings with sizes and times
  bool has_setsid = false;
};

}  // namespace msprof
