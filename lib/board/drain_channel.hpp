// DrainChannel: the board's side of the drain, one constant script that takes requests as lines and
// answers them. For BoardDrain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "board/drainer.hpp"
#include "board/shell.hpp"

namespace msprof {

// What it found at its first start: a disk that is full by the second would tell otherwise.
struct DrainTools {
  SumTool sum = SumTool::none;
  bool frees = false;
};

class DrainChannel : public DrainBoard {
 public:
  // Starts the script in `output`, the output folder of a run. Where `tools` is not given the board
  // is probed: it frees a part of a scratch file. `note` becomes the file .drained there. Throws
  // ConnectionLost, Error(partial_data) where the answers make no sense.
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

  std::string name_;  // of the board
  std::string end_;   // the begin of the line behind each answer
  DrainTools tools_;
  std::string held_;
  std::string errors_;
  std::size_t most_bytes_;  // of the answer that is awaited
  bool too_long_ = false;
  std::unique_ptr<SshCommand> command_;
};

// The answer to a look, a line each: "s SIZE INODE MTIME ./PATH" of stat, "l …" of `ls -lin`, "free
// KB". Throws TooMuchSent for more than kMaxListedEntries.
RawLook parse_raw_look(std::string_view answer);

// Name of the file in a run's output folder that says where the rest of its files is.
inline constexpr std::string_view kDrainNote = ".drained";

}  // namespace msprof
