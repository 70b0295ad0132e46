// Reading a tar stream of a board: regular files and folders go to an Incoming, everything else is
// refused there. For the tar way of BoardTransfer, and for fuzzing.
#pragma once

#include <functional>
#include <string_view>

#include "board/incoming.hpp"

namespace msprof {

// The next bytes, good until the next call; empty at the end.
using TarSource = std::function<std::string_view()>;

// Reads one archive and what pads it. Throws Error(partial_data) where the bytes are no archive,
// end too early or go on behind its end; what came whole before is there then, what did not is not.
// Throws CannotWriteHere.
void read_tar(const TarSource& source, Incoming& incoming);

}  // namespace msprof
