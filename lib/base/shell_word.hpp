// Words of a POSIX shell. For what is sent to boards, and for commands that users copy from a
// message.
#pragma once

#include <string>
#include <string_view>

namespace msprof {

// `text` as one word of a POSIX shell, whatever bytes it has (NUL excepted).
std::string shell_quoted(std::string_view text);

// The same, in quotes only where it needs them.
std::string shell_word(std::string_view text);

}  // namespace msprof
