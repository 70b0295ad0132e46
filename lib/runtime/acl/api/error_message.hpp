// Why a call failed, for aclGetRecentErrMsg and aclrtGetLastError.
#pragma once

#include <string_view>

namespace msprof::acl {

// Keeps the sentence as the calling thread's recent error; longer ones than 255 bytes are cut.
// Never fails.
void remember_error(std::string_view sentence);

// The sentence, or nullptr; forgets it. It stays readable until the thread remembers another one.
const char* take_error();

// The code of the calling thread's last call that failed; 0: none since it was set to that. Codes
// are aclError.
void remember_code(int code);
int last_code();

}  // namespace msprof::acl
