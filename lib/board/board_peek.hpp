// BoardPeek: a look at the output folder of a run on a board while the application writes, over a
// channel of its own of the run's connection: a constant script lists sizes and gives the parts of
// files that it is asked for. For SshHost.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/shell.hpp"
#include "collect/output_peek.hpp"

namespace msprof {

// Reads the answer of a round, which ends with "round WORD": "f BYTES ./PATH" a file, "end WORD",
// perhaps "free BLOCKS", and for each wish "part", its bytes in whole blocks, "over WORD". The word
// is one that no file holds. Names that leave the folder are left out; empty where it is no answer.
std::optional<Peeked> parse_peek_answer(std::string_view answer, std::string_view word,
                                        const std::vector<PeekWish>& wishes);

class BoardPeek : public OutputPeek {
 public:
  // Gives the file on this machine that has, from its begin on, what has come home of a file of the
  // run; there may be none.
  using FileHere = std::function<std::filesystem::path(const std::string& path)>;

  // `shell` outlives it; its connection may be lost and made again. What `file_here` (may be empty)
  // has is not read on the board, which may have freed it.
  BoardPeek(BoardShell& shell, std::string folder, FileHere file_here = {});

  bool is_ready() override;
  void ask(const std::vector<PeekWish>& wishes, bool with_free_bytes) override;
  std::optional<Peeked> take() override;
  std::string trouble() const override { return trouble_; }

 private:
  using Clock = std::chrono::steady_clock;

  void begin();
  // False when the script has gone.
  bool move();
  void drop();

  BoardShell& shell_;
  std::string folder_;
  std::string word_;
  std::string trouble_;
  std::string request_;  // what of it is not sent yet
  std::string answer_;
  FileHere file_here_;
  std::vector<PeekWish> wishes_;  // of the board
  std::vector<PeekedPart> here_;  // of the others
  bool is_asked_ = false;
  Clock::time_point asked_at_;
  std::unique_ptr<SshCommand> command_;
};

}  // namespace msprof
