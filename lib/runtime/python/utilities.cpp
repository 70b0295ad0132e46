// acl.util: memory access from Python, and threads. numpy is imported only when its functions are
// used.
#include <limits>
#include <vector>

#include "acl/acl.h"
#include "runtime/python/bind.hpp"

namespace msprof::python {

namespace {

const char* numpy_type(int number) {
  switch (number) {
    case 0:
      return "bool_";
    case 1:
      return "int8";
    case 2:
      return "uint8";
    case 3:
      return "int16";
    case 4:
      return "uint16";
    case 5:
      return "int32";
    case 6:
      return "uint32";
    case 7:
    case 9:
      return "int64";
    case 8:
    case 10:
      return "uint64";
    case 11:
      return "float32";
    case 12:
      return "float64";
    case 23:
      return "float16";
    default:
      return nullptr;
  }
}

std::uintptr_t numpy_to_ptr(const py::object& array) {
  const py::dict interface = array.attr("__array_interface__");
  return py::tuple(interface["data"])[0].cast<std::uintptr_t>();
}

py::tuple numpy_contiguous_to_ptr(const py::object& array) {
  const py::object contiguous = py::module_::import("numpy").attr("ascontiguousarray")(array);
  return py::make_tuple(numpy_to_ptr(contiguous), contiguous);
}

// The array is a view of the memory, not a copy.
py::object ptr_to_numpy(std::uintptr_t pointer, const std::vector<py::ssize_t>& shape, int type) {
  const char* const name = numpy_type(type);
  if (name == nullptr) throw py::value_error("unknown numpy type: " + std::to_string(type));
  if (pointer == 0) throw py::value_error("the pointer is NULL");
  const py::module_ numpy = py::module_::import("numpy");
  const py::object dtype = numpy.attr("dtype")(numpy.attr(name));
  py::ssize_t bytes = dtype.attr("itemsize").cast<py::ssize_t>();
  for (const py::ssize_t extent : shape) {
    if (extent < 0 || (extent > 0 && bytes > std::numeric_limits<py::ssize_t>::max() / extent))
      throw py::value_error("the shape has no size");
    bytes *= extent;
  }
  const auto memory = py::memoryview::from_memory(Parameter<void*>::to_c(pointer), bytes);
  return numpy.attr("ndarray")(py::tuple(py::cast(shape)), dtype, memory);
}

std::uintptr_t bytes_to_ptr(const py::bytes& bytes) {
  return to_python(static_cast<void*>(PyBytes_AsString(bytes.ptr())));
}

py::bytes ptr_to_bytes(std::uintptr_t pointer, std::size_t size) {
  if (pointer == 0 && size > 0) throw py::value_error("the pointer is NULL");
  return {reinterpret_cast<const char*>(pointer), size};
}

// Maps the id, pthread_self(), of each running thread to the thread.
py::dict& threads() {
  // Never destroyed: the interpreter may shut down before this library is unloaded.
  static py::dict* const all = new py::dict;
  return *all;
}

// Starts a daemon thread that calls `function` with `argument`.
py::tuple start_thread(const py::object& function, const py::object& argument) {
  if (PyCallable_Check(function.ptr()) == 0) return py::make_tuple(0, ACL_ERROR_INVALID_PARAM);
  using namespace py::literals;
  const py::object thread =
      py::module_::import("threading")
          .attr("Thread")("target"_a = function, "args"_a = py::make_tuple(argument),
                          "daemon"_a = true);
  thread.attr("start")();
  const py::object id = thread.attr("ident");
  threads()[id] = thread;
  return py::make_tuple(id, ACL_SUCCESS);
}

// Waits until the thread's function has returned.
aclError stop_thread(const py::object& id) {
  if (!threads().contains(id)) return ACL_ERROR_INVALID_PARAM;
  const py::object thread = threads()[id];
  thread.attr("join")();
  threads().attr("pop")(id, py::none());
  return ACL_SUCCESS;
}

}  // namespace

void define_utilities(py::module_& util) {
  util.def("numpy_to_ptr", &numpy_to_ptr);
  util.def("numpy_contiguous_to_ptr", &numpy_contiguous_to_ptr);
  util.def("ptr_to_numpy", &ptr_to_numpy);
  util.def("bytes_to_ptr", &bytes_to_ptr);
  util.def("ptr_to_bytes", &ptr_to_bytes);
  util.def("start_thread", &start_thread);
  util.def("stop_thread", &stop_thread);
}

}  // namespace msprof::python
