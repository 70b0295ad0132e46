#include "runtime/acl/api/call.hpp"

#include "runtime/acl/api/error_message.hpp"

namespace msprof::acl {

aclError result_of_call(aclError code) {
  if (code != ACL_SUCCESS) remember_code(code);
  return code;
}

aclError explain(const char* function, const char* why, aclError code) {
  if (*why == '\0') return code;
  try {
    const std::string sentence = std::string(function) + ": " + why;
    runtime::say(sentence);
    remember_error(sentence);
  } catch (const std::bad_alloc&) {
    // Out of memory: only the code is returned.
  }
  return code;
}

}  // namespace msprof::acl
