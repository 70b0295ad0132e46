// The scripts of completion/, for `msprof completion`.
#pragma once

#include <string_view>
#include <vector>

namespace msprof::completion {

struct CompletionScript {
  std::string_view shell;
  std::string_view text;
};

const std::vector<CompletionScript>& completion_scripts();

}  // namespace msprof::completion
