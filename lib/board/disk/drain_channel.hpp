// DrainChannel: runs the script of the drain on the board, which reads requests as lines and
// answers them. Used by BoardDrain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "board/disk/drainer.hpp"
#include "board/session/shell.hpp"

namespace msprof {

// Result of the first probe, reused after a reconnect: by then the disk may be full and a new probe
// would fail.
struct DrainTools {
  SumTool sum = SumTool::none;
  bool frees = false;
};

class DrainChannel : public DrainBoard {
 public:
  // Starts the script in `output`, the output folder of a run. Without `tools` it probes the board
  // by freeing part of a scratch file. The script writes `note` to the file .drained in that
  // folder. Throws ConnectionLost, and Error(partial_data) if the answers are invalid.
  DrainChannel(BoardShell& shell, const std::string& output, bool has_stat,
               const std::optional<DrainTools>& tools, const std::string& note);

  const DrainTools& tools() const { return tools_; }
  SumTool tool() const override { return tools_.sum; }
  bool frees() const override { return tools_.frees; }
  RawLook look() override;
  std::string get(const std::string& path, std::uint64_t first, std::uint64_t blocks) override;
  std::string sum(const std::string& path, std::uint64_t first, std::uint64_t blocks) override;
  Punched punch(const std::string& path, std::uint64_t first, std::uint64_t blocks,
                const std::string& sum) override;

 private:
  std::string request(const std::string& line, const std::string& name, std::size_t most_bytes);
  void send(std::string_view text);
  std::optional<std::string> take_answer();

  std::string name_;  // name of the board
  std::string end_;   // start of the line that ends each answer
  DrainTools tools_;
  std::string held_;
  std::string errors_;
  std::size_t most_bytes_;  // limit for the pending answer
  bool is_too_long_ = false;
  std::unique_ptr<SshCommand> command_;
};

// Parses the listing of a poll, one entry per line: "s SIZE INODE MTIME ./PATH" from stat, "l …"
// from `ls -lin`, "free KB". Throws TooMuchSent for more than kMaxListedEntries.
RawLook parse_raw_look(std::string_view answer);

}  // namespace msprof
