#include "runtime/acl/api/error_message.hpp"

#include <algorithm>
#include <array>

namespace msprof::acl {

namespace {

struct RecentError {
  std::array<char, 256> text;
  bool is_new;
};

// Per thread, as aclGetRecentErrMsg requires. Without a destructor, so that errors can be stored
// until the thread ends.
thread_local constinit RecentError recent_error = {};
thread_local constinit int recent_code = 0;

}  // namespace

void remember_error(std::string_view sentence) {
  const size_t size = std::min(sentence.size(), recent_error.text.size() - 1);
  std::copy_n(sentence.begin(), size, recent_error.text.begin());
  recent_error.text[size] = '\0';
  recent_error.is_new = true;
}

const char* take_error() {
  if (!recent_error.is_new) return nullptr;
  recent_error.is_new = false;
  return recent_error.text.data();
}

void remember_code(int code) {
  recent_code = code;
}

int last_code() {
  return recent_code;
}

}  // namespace msprof::acl
