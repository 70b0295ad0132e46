// The module mstx: marks and ranges for Python programs, through the same client as for C programs.
#include <mstx/ms_tools_ext.h>

#include <optional>
#include <string>

#include "runtime/python/bind.hpp"

namespace {

using msprof::python::Unlocked;

using Stream = std::optional<std::uintptr_t>;
using Domain = std::optional<std::string>;

aclrtStream to_stream(Stream stream) {
  return reinterpret_cast<aclrtStream>(stream.value_or(0));
}

// None and "default" select the default domain. A null handle means that the name is invalid.
struct NamedDomain {
  bool is_default = true;
  mstxDomainHandle_t handle = nullptr;
};

// Returns the domain of a name. Handles are never destroyed, and each name has a single handle.
NamedDomain open_domain(const Domain& name) {
  if (!name || *name == "default") return {};
  return {false, mstxDomainCreateA(name->c_str())};
}

}  // namespace

PYBIND11_MODULE(mstx, mstx) {
  namespace py = pybind11;
  mstx.doc() =
      "Marks and ranges of the program. Without a recorder or a message they do nothing, and ids "
      "are 0.";
  mstx.def(
      "mark",
      [](const char* message, Stream stream, const Domain& domain) {
        const NamedDomain in = open_domain(domain);
        if (in.is_default) {
          mstxMarkA(message, to_stream(stream));
        } else {
          mstxDomainMarkA(in.handle, message, to_stream(stream));
        }
      },
      py::arg("message") = py::none(), py::arg("stream") = py::none(),
      py::arg("domain") = py::none(), py::call_guard<Unlocked>());
  mstx.def(
      "range_start",
      [](const char* message, Stream stream, const Domain& domain) {
        const NamedDomain in = open_domain(domain);
        return in.is_default ? mstxRangeStartA(message, to_stream(stream))
                             : mstxDomainRangeStartA(in.handle, message, to_stream(stream));
      },
      py::arg("message") = py::none(), py::arg("stream") = py::none(),
      py::arg("domain") = py::none(), py::call_guard<Unlocked>());
  mstx.def(
      "range_end",
      [](mstxRangeId id, const Domain& domain) {
        const NamedDomain in = open_domain(domain);
        if (in.is_default) {
          mstxRangeEnd(id);
        } else {
          mstxDomainRangeEnd(in.handle, id);
        }
      },
      py::arg("rangeId") = 0, py::arg("domain") = py::none(), py::call_guard<Unlocked>());
  mstx.def(
      "get_tool_id",
      [] {
        std::uint64_t id = MSTX_TOOL_INVALID_ID;
        mstxGetToolId(&id);
        return id;
      },
      py::call_guard<Unlocked>());
}
