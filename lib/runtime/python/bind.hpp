// Binds functions of the C interface to Python. Pointers and handles are integers; a function with
// output values returns (value, …, code); a void function returns 0. The GIL is released during
// each call.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace msprof::python {

namespace py = pybind11;

// Releases the GIL during its lifetime. Unlike py::gil_scoped_release, its destructor may end the
// thread: Python does this to threads that are still running after the interpreter has shut down.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() noexcept(false) { PyEval_RestoreThread(state_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// Converts a C parameter from its Python type.
template <typename T>
struct Parameter {
  using Python = T;
  static T to_c(Python value) { return value; }
};
template <typename T>
struct Parameter<T*> {
  using Python = std::uintptr_t;
  static T* to_c(Python value) { return reinterpret_cast<T*>(value); }
};
template <>
struct Parameter<const char*> {
  using Python = const char*;
  static const char* to_c(Python value) { return value; }
};
template <typename T>
requires std::is_enum_v<T>
struct Parameter<T> {
  using Python = std::int64_t;
  static T to_c(Python value) { return static_cast<T>(value); }
};

// Converts a C result to Python. A null string becomes an empty one.
template <typename T>
auto to_python(T value) {
  if constexpr (std::is_same_v<T, const char*>) {
    return std::string(value == nullptr ? "" : value);
  } else if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uintptr_t>(value);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return value;
  }
}

template <auto kFunction, std::size_t kOutsFirst, std::size_t kOutsLast, typename R, typename... A,
          std::size_t... kFirst, std::size_t... kIn, std::size_t... kLast>
auto wrapped(R (*)(A...), std::index_sequence<kFirst...>, std::index_sequence<kIn...>,
             std::index_sequence<kLast...>) {
  using All = std::tuple<A...>;
  constexpr std::size_t kLastBegin = sizeof...(A) - kOutsLast;
  return [](typename Parameter<std::tuple_element_t<kOutsFirst + kIn, All>>::Python... in) {
    // Values for the output pointers; the tuples are empty if there are none.
    [[maybe_unused]] std::tuple<std::remove_pointer_t<std::tuple_element_t<kFirst, All>>...> first;
    [[maybe_unused]] std::tuple<
        std::remove_pointer_t<std::tuple_element_t<kLastBegin + kLast, All>>...>
        last;
    ((std::get<kFirst>(first) = {}), ...);
    ((std::get<kLast>(last) = {}), ...);
    const auto call = [&] {
      return kFunction(&std::get<kFirst>(first)...,
                       Parameter<std::tuple_element_t<kOutsFirst + kIn, All>>::to_c(in)...,
                       &std::get<kLast>(last)...);
    };
    if constexpr (std::is_void_v<R>) {
      call();
      return 0;
    } else if constexpr (kOutsFirst + kOutsLast == 0) {
      return to_python(call());
    } else {
      const R code = call();
      return std::make_tuple(to_python(std::get<kFirst>(first))...,
                             to_python(std::get<kLast>(last))..., code);
    }
  };
}

// Defines `name`. The first kOutsFirst and the last kOutsLast parameters of the C function are
// pointers to results and become results in Python.
template <auto kFunction, std::size_t kOutsFirst = 0, std::size_t kOutsLast = 0, typename R,
          typename... A>
void define(py::module_& module, const char* name, R (*)(A...)) {
  const auto function = wrapped<kFunction, kOutsFirst, kOutsLast>(
      kFunction, std::make_index_sequence<kOutsFirst>(),
      std::make_index_sequence<sizeof...(A) - kOutsFirst - kOutsLast>(),
      std::make_index_sequence<kOutsLast>());
  if constexpr (sizeof...(A) == kOutsFirst + kOutsLast) {
    // pyACL ignores arguments of functions without parameters, and some programs pass them:
    // pop(stamp).
    module.def(
        name, [function](const py::args&) { return function(); }, py::call_guard<Unlocked>());
  } else {
    module.def(name, function, py::call_guard<Unlocked>());
  }
}

template <auto kFunction>
void plain(py::module_& module, const char* name) {
  define<kFunction>(module, name, kFunction);
}
template <auto kFunction, std::size_t kCount = 1>
void first_out(py::module_& module, const char* name) {
  define<kFunction, kCount, 0>(module, name, kFunction);
}
template <auto kFunction, std::size_t kCount = 1>
void last_out(py::module_& module, const char* name) {
  define<kFunction, 0, kCount>(module, name, kFunction);
}

void define_base(py::module_& acl);
void define_runtime(py::module_& rt);
void define_models(py::module_& mdl);
void define_operators(py::module_& op);
void define_profiling(py::module_& prof);
void define_utilities(py::module_& util);
void define_media(py::module_& media);
void define_blas(py::module_& blas);
void define_search(py::module_& fv);
void define_himpi(py::module_& himpi);

}  // namespace msprof::python
