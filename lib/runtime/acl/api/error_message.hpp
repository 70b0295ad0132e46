// Why a call failed, for aclGetRecentErrMsg.
#pragma once

#include <string_view>

namespace msprof::acl {

// Keeps the sentence as the calling thread's recent error; longer ones than 255 bytes are cut.
// Never fails.
void remember_error(std::string_view sentence);

// The sentence, or nullptr; forgets it. It stays readable until the thread remembers another one.
const char* take_error();

}  // namespace msprof::acl
