// A command line as someone types it into a shell, read without that shell: nothing in it is ever
// evaluated. For completion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msprof::completion {

// What a word that is not finished ends in.
enum class Quote { none, single_quote, double_quote, backslash };

struct TypedWord {
  std::string typed;  // without its quotes
  std::string value;  // the same with $HOME and other variables of the environment replaced
  Quote open = Quote::none;
  bool is_known = true;         // false: has $(…), `…`, $'…', which only a shell can tell
  bool is_redirection = false;  // a file behind > or <
};

// The words of the last command in `line`, which ends at the cursor: the command's name first, the
// word under the cursor, which may be empty, last. Redirections other than that word are left out.
std::vector<TypedWord> typed_words(std::string_view line);

// `rest` as it is typed behind a word that ends in `open`, so that a shell reads `rest` again.
std::string quoted_rest(std::string_view rest, Quote open);

}  // namespace msprof::completion
