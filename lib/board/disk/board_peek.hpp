// BoardPeek: inspects the output folder of a run on a board while the application writes. Opens a
// separate channel on the run's connection; a constant script there lists file sizes and returns
// the requested parts of files. Used by SshHost.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/shell.hpp"
#include "collect/output_peek.hpp"

namespace msprof {

// Parses the answer to one round of requests, which ends with "round WORD". It contains "f BYTES
// ./PATH" for each file, "end WORD", optionally "free BLOCKS", and for each wish "part", the bytes
// in whole blocks and "over WORD". WORD is random and occurs in no file. Skips names that lead
// outside the folder. Returns nullopt if the answer is invalid.
std::optional<Peeked> parse_peek_answer(std::string_view answer, std::string_view word,
                                        const std::vector<PeekWish>& wishes);

class BoardPeek : public OutputPeek {
 public:
  // Returns the local file with the first bytes of a file of the run; empty if there is none.
  using FileHere = std::function<std::filesystem::path(const std::string& path)>;

  // `shell` must outlive this object; its connection may be lost and re-established. Data that
  // `file_here` (may be empty) provides is not read from the board, which may have freed it.
  BoardPeek(BoardShell& shell, std::string folder, FileHere file_here = {});

  bool is_ready() override;
  void ask(const std::vector<PeekWish>& wishes, bool with_free_bytes) override;
  std::optional<Peeked> take() override;
  std::string trouble() const override { return trouble_; }

 private:
  using Clock = std::chrono::steady_clock;

  void begin();
  // Returns false if the script has ended.
  bool move();
  void drop();

  BoardShell& shell_;
  std::string folder_;
  std::string word_;
  std::string trouble_;
  std::string request_;  // not yet sent
  std::string answer_;
  FileHere file_here_;
  std::vector<PeekWish> wishes_;  // requested from the board
  std::vector<PeekedPart> here_;  // answered from local files
  bool is_asked_ = false;
  Clock::time_point asked_at_;
  std::unique_ptr<SshCommand> command_;
};

}  // namespace msprof
