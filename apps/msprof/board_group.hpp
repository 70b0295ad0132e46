// Collects from several boards in parallel: one process per board, whose output lines are prefixed
// with the board's label, and one summary. For the verb collect.
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
  BoardArguments arguments;  // for this board only
  NamedBoard board;
  std::string label;   // "a" for a.ini, "10.0.0.7" for root@10.0.0.7, or a longer name if needed to
                       // be unique
  std::string folder;  // the label as a folder name
};

// Reads the options for several boards. Each gets a password: from a line of stdin
// (--password-stdin), from MSPROF_SSH_PASSWORD, which is removed from the environment, or from its
// ini file. Throws Error(usage), also if two boards are the same, and the errors of find_board().
std::vector<GroupBoard> find_boards(const BoardArguments& arguments);

// Collects from board `number` and fills its --json document.
using CollectFromBoard = std::function<Exit(std::size_t number, nlohmann::ordered_json& document)>;

// Runs `collect` for all boards in parallel, each in a child process. With a terminal, first logs
// in to one board at a time, so that questions are asked with the board's name; the answers are
// kept in memory. A failed board does not stop the others. Fills "boards" of `document`. Returns
// the most severe result.
Exit collect_from_boards(const std::vector<GroupBoard>& boards, const CollectFromBoard& collect,
                         nlohmann::ordered_json& document);

}  // namespace msprof
