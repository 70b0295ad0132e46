// Wrappers around the body of every C function.
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

// Reports why `function` failed, on stderr and through aclGetRecentErrMsg; returns `code`.
aclError explain(const char* function, const char* why, aclError code);

// Stores `code` as the thread's last error if the call failed; returns it.
aclError result_of_call(aclError code);

// Runs the body of a C function, an aclError() or a void(). Converts exceptions to codes.
template <typename Body>
aclError to_error_code(const char* function, Body body) {
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
  } catch (const std::system_error& error) {  // a stream could not create its thread
    return explain(function, error.what(), ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
  } catch (const std::exception& error) {
    return explain(function, error.what(), ACL_ERROR_INTERNAL_ERROR);
  }
}

// For a body without cancellation points.
template <typename Body>
aclError guarded_swift(const char* function, Body body) {
  return result_of_call(to_error_code(function, std::move(body)));
}

// Like guarded_swift(), for any body.
template <typename Body>
aclError guarded(const char* function, Body body) {
  const runtime::CancellationDisabled no_cancellation;
  return guarded_swift(function, std::move(body));
}

// Like guarded(), and records the call.
template <typename Body>
aclError recorded(const char* function, Call call, Body body) {
  return guarded(function, [&] {
    const RecordedCall record(call);
    return body();
  });
}

// Throws Failure if a required pointer is null.
template <typename... Pointers>
void require(const Pointers*... pointers) {
  if (((pointers == nullptr) || ...)) throw Failure(ACL_ERROR_INVALID_PARAM);
}

}  // namespace msprof::acl
