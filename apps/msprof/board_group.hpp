// Several boards at the same time: a process for each, whose lines are marked with the board, and
// one summary. For the verb collect.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "msprof/board_options.hpp"

namespace msprof {

struct GroupBoard {
  BoardArguments arguments;  // of this board alone
  NamedBoard board;
  std::string label;   // "a" of a.ini, "10.0.0.7" of root@10.0.0.7, or what tells it from others
  std::string folder;  // the label as the name of a folder
};

// Reads what the command line says of several boards, with a password for each: a line of stdin
// (--password-stdin), MSPROF_SSH_PASSWORD, which goes from the environment, or of its ini file.
// Throws Error(usage), also where two are the same board, and as find_board().
std::vector<GroupBoard> find_boards(const BoardArguments& arguments);

// Collects from board `number`; fills its document of --json.
using CollectFromBoard = std::function<Exit(std::size_t number, nlohmann::ordered_json& document)>;

// Does `collect` for all at once, each in a child process. Where there is a terminal each board is
// logged in to once before, one after the other, so that questions are asked by name; the answers
// stay in memory. A board that fails leaves the others. Fills "boards" of `document`. Returns the
// gravest.
Exit collect_from_boards(const std::vector<GroupBoard>& boards, const CollectFromBoard& collect,
                         nlohmann::ordered_json& document);

}  // namespace msprof
