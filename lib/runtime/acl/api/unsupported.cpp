#include "runtime/acl/api/unsupported.hpp"

#include <string>

#include "acl/acl_base.h"
#include "runtime/acl/api/error_message.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::acl {

void refuse(std::atomic_flag& said, const char* function) noexcept try {
  remember_code(ACL_ERROR_API_NOT_SUPPORT);
  const std::string sentence = std::string(function) + " is not supported on a Linux host";
  remember_error(sentence);
  if (!said.test_and_set()) runtime::say(sentence);
} catch (...) {  // no memory for the message: the result still reports the error
}

}  // namespace msprof::acl
