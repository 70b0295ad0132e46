// What every C function does around its body.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include "acl/acl_base.h"
#include "runtime/acl/device/failure.hpp"
#include "runtime/acl/prof/recorder.hpp"
#include "runtime/engine/cancellation.hpp"
#include "runtime/engine/message.hpp"
#include "runtime/engine/model/layer_reader.hpp"

namespace msprof::acl {

// Says why `function` failed, on stderr and to aclGetRecentErrMsg; gives the code back.
aclError explain(const char* function, const char* why, aclError code);

// Remembers the code of a call that failed; gives it back.
aclError result_of_call(aclError code);

// Runs the body of a C function, an aclError() or a void(); whatever it throws becomes a code.
template <typename Body>
aclError code_of(const char* function, Body body) {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return ACL_SUCCESS;
    } else {
      return body();
    }
  } catch (const Failure& failure) {
    return explain(function, failure.what(), failure.code());
  } catch (const runtime::ModelError& error) {
    return explain(function, error.what(), ACL_ERROR_PARSE_MODEL);
  } catch (const std::bad_alloc&) {
    return explain(function, "out of memory", ACL_ERROR_BAD_ALLOC);
  } catch (const std::system_error& error) {  // no thread for a stream
    return explain(function, error.what(), ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
  } catch (const std::exception& error) {
    return explain(function, error.what(), ACL_ERROR_INTERNAL_ERROR);
  }
}

// For a body in which pthread_cancel finds no place to end the thread.
template <typename Body>
aclError guarded_swift(const char* function, Body body) {
  return result_of_call(code_of(function, std::move(body)));
}

// The same for any body.
template <typename Body>
aclError guarded(const char* function, Body body) {
  const runtime::CancellationDisabled no_cancellation;
  return guarded_swift(function, std::move(body));
}

// The same for a call that is recorded.
template <typename Body>
aclError recorded(const char* function, Call call, Body body) {
  return guarded(function, [&] {
    const RecordedCall record(call);
    return body();
  });
}

// For pointers that a function needs.
template <typename... Pointers>
void require(const Pointers*... pointers) {
  if (((pointers == nullptr) || ...)) throw Failure(ACL_ERROR_INVALID_PARAM);
}

}  // namespace msprof::acl
