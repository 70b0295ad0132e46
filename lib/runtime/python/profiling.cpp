// acl.prof: recording to files, subscription through a pipe, steps and stamps.
#include "acl/acl_prof.h"

#include <algorithm>
#include <vector>

#include "runtime/python/bind.hpp"

namespace msprof::python {

namespace {

// Maximum length of a text returned by get_op_type and get_op_name.
constexpr std::size_t kMaxTextBytes = 4096;

aclError prof_init(const std::string& path) {
  return aclprofInit(path.data(), path.size());
}

std::uintptr_t create_config(std::vector<std::uint32_t> devices, std::int64_t metrics,
                             std::uintptr_t events, std::uint64_t bits) {
  return to_python(aclprofCreateConfig(devices.data(), static_cast<std::uint32_t>(devices.size()),
                                       static_cast<aclprofAicoreMetrics>(metrics),
                                       Parameter<const aclprofAicoreEvents*>::to_c(events), bits));
}

aclError set_config(std::int64_t type, const std::string& value) {
  return aclprofSetConfig(static_cast<aclprofConfigType>(type), value.data(), value.size());
}

std::uintptr_t create_subscribe_config(std::int8_t time_info, std::int64_t metrics, int fd) {
  return to_python(
      aclprofCreateSubscribeConfig(time_info, static_cast<aclprofAicoreMetrics>(metrics), &fd));
}

using TextFunction = aclError (*)(const void*, std::size_t, std::uint32_t, char*, std::size_t);
using LengthFunction = aclError (*)(const void*, std::size_t, std::uint32_t, std::size_t*);

template <TextFunction function>
py::tuple op_text(std::uintptr_t data, std::size_t size, std::uint32_t index, std::size_t bytes) {
  std::string text(std::min(bytes, kMaxTextBytes) + 1, '\0');
  aclError code = ACL_ERROR_INVALID_PARAM;
  if (bytes <= kMaxTextBytes) {
    const Unlocked unlocked;
    code = function(Parameter<const void*>::to_c(data), size, index, text.data(), bytes);
  }
  // A truncated text may end inside a character.
  return py::make_tuple(
      py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
          text.c_str(), code == ACL_SUCCESS ? static_cast<Py_ssize_t>(text.find('\0')) : 0,
          "ignore")),
      code);
}

// Returns the text without truncation.
template <TextFunction function, LengthFunction length>
py::tuple whole_op_text(std::uintptr_t data, std::size_t size, std::uint32_t index) {
  std::size_t bytes = 0;
  const aclError code = length(Parameter<const void*>::to_c(data), size, index, &bytes);
  if (code != ACL_SUCCESS) return py::make_tuple("", code);
  return op_text<function>(data, size, index, std::min(bytes, kMaxTextBytes));
}

// Programs pass the length in characters or in bytes. If it equals the number of characters, the
// whole text is used.
aclError set_stamp_trace_message(std::uintptr_t stamp, const py::str& message, std::size_t length) {
  const std::string text = message;
  const std::size_t bytes = length == py::len(message) ? text.size() : length;
  if (bytes > text.size()) return ACL_ERROR_INVALID_PARAM;
  return aclprofSetStampTraceMessage(Parameter<void*>::to_c(stamp), text.data(),
                                     static_cast<std::uint32_t>(bytes));
}

aclError mark_ex(const std::string& message, std::uintptr_t stream) {
  return aclprofMarkEx(message.data(), message.size(), Parameter<aclrtStream>::to_c(stream));
}

void define_subscription(py::module_& prof) {
  plain<aclprofModelSubscribe>(prof, "model_subscribe");
  plain<aclprofModelUnSubscribe>(prof, "model_unsubscribe");
  plain<aclprofModelUnSubscribe>(prof, "model_un_subscribe");
  prof.def("create_subscribe_config", &create_subscribe_config, py::call_guard<Unlocked>());
  plain<aclprofDestroySubscribeConfig>(prof, "destroy_subscribe_config");
  first_out<aclprofGetOpDescSize>(prof, "get_op_desc_size");
  last_out<aclprofGetOpNum>(prof, "get_op_num");
  prof.def("get_op_type", &op_text<aclprofGetOpType>);
  prof.def("get_op_name", &op_text<aclprofGetOpName>);
  prof.def("get_op_type_v2", &whole_op_text<aclprofGetOpType, aclprofGetOpTypeLen>);
  prof.def("get_op_name_v2", &whole_op_text<aclprofGetOpName, aclprofGetOpNameLen>);
  last_out<aclprofGetOpTypeLen>(prof, "get_op_type_len");
  last_out<aclprofGetOpNameLen>(prof, "get_op_name_len");
  plain<aclprofGetOpStart>(prof, "get_op_start");
  plain<aclprofGetOpEnd>(prof, "get_op_end");
  plain<aclprofGetOpDuration>(prof, "get_op_duration");
  plain<aclprofGetModelId>(prof, "get_model_id");
}

void define_stamps(py::module_& prof) {
  plain<aclprofCreateStepInfo>(prof, "create_step_info");
  plain<aclprofDestroyStepInfo>(prof, "destroy_step_info");
  plain<aclprofGetStepTimestamp>(prof, "get_step_timestamp");
  plain<aclprofCreateStamp>(prof, "create_stamp");
  plain<aclprofDestroyStamp>(prof, "destroy_stamp");
  prof.def("set_stamp_trace_message", &set_stamp_trace_message);
  plain<aclprofMark>(prof, "mark");
  prof.def("mark_ex", &mark_ex, py::call_guard<Unlocked>());
  plain<aclprofPush>(prof, "push");
  plain<aclprofPop>(prof, "pop");
  last_out<aclprofRangeStart>(prof, "range_start");
  plain<aclprofRangeStop>(prof, "range_stop");
}

}  // namespace

void define_profiling(py::module_& prof) {
  prof.def("init", &prof_init, py::call_guard<Unlocked>());
  plain<aclprofFinalize>(prof, "finalize");
  plain<aclprofStart>(prof, "start");
  plain<aclprofStop>(prof, "stop");
  prof.def("create_config", &create_config, py::call_guard<Unlocked>());
  plain<aclprofDestroyConfig>(prof, "destroy_config");
  prof.def("set_config", &set_config, py::call_guard<Unlocked>());
  define_subscription(prof);
  define_stamps(prof);
}

}  // namespace msprof::python
