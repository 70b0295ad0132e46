// The module mstx: marks and ranges of programs in Python, through the same client as programs in
// C.
#include <mstx/ms_tools_ext.h>

#include <optional>

#include "runtime/python/bind.hpp"

namespace {

using msprof::python::Unlocked;

aclrtStream stream_of(std::optional<std::uintptr_t> stream) {
  return reinterpret_cast<aclrtStream>(stream.value_or(0));
}

}  // namespace

PYBIND11_MODULE(mstx, mstx) {
  namespace py = pybind11;
  mstx.doc() =
      "Marks and ranges of the program. Without a recorder they do nothing, and ids are 0.";
  mstx.def(
      "mark",
      [](const char* message, std::optional<std::uintptr_t> stream) {
        mstxMarkA(message, stream_of(stream));
      },
      py::arg("message"), py::arg("stream") = py::none(), py::call_guard<Unlocked>());
  mstx.def(
      "range_start",
      [](const char* message, std::optional<std::uintptr_t> stream) {
        return mstxRangeStartA(message, stream_of(stream));
      },
      py::arg("message"), py::arg("stream") = py::none(), py::call_guard<Unlocked>());
  mstx.def(
      "range_end", [](mstxRangeId id) { mstxRangeEnd(id); }, py::arg("rangeId"),
      py::call_guard<Unlocked>());
  mstx.def(
      "get_tool_id",
      [] {
        std::uint64_t id = MSTX_TOOL_INVALID_ID;
        mstxGetToolId(&id);
        return id;
      },
      py::call_guard<Unlocked>());
}
