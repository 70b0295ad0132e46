// Stores why a call failed, for aclGetRecentErrMsg and aclrtGetLastError.
#pragma once

#include <string_view>

namespace msprof::acl {

// Stores the message as the calling thread's recent error, truncated to 255 bytes. Never fails.
void remember_error(std::string_view sentence);

// Returns and clears the message; null if there is none. The text stays valid until the thread
// stores another one.
const char* take_error();

// Code (aclError) of the calling thread's last failed call; 0 if no call has failed since it was
// last set to 0.
void remember_code(int code);
int last_code();

}  // namespace msprof::acl
