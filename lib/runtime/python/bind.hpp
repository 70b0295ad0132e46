// How functions of the C interface become functions of Python: pointers and handles are integers, a
// function with values beside its code gives (value, …, code), a function without a result gives 0.
// What waits does so without the GIL.
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

// Lets other threads of Python run while it lives. Unlike py::gil_scoped_release its destructor may
// end the thread, which is what Python does with threads that are still inside when the interpreter
// is gone.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() noexcept(false) { PyEval_RestoreThread(state_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// A parameter of C as Python gives it.
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

// A result of C as Python gets it. A text that is not there is empty.
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

template <auto function, std::size_t outs_first, std::size_t outs_last, typename R, typename... A,
          std::size_t... First, std::size_t... In, std::size_t... Last>
auto wrapped(R (*)(A...), std::index_sequence<First...>, std::index_sequence<In...>,
             std::index_sequence<Last...>) {
  using All = std::tuple<A...>;
  constexpr std::size_t kLast = sizeof...(A) - outs_last;
  return [](typename Parameter<std::tuple_element_t<outs_first + In, All>>::Python... in) {
    // One for each pointer to a value; none where there are no such pointers.
    [[maybe_unused]] std::tuple<std::remove_pointer_t<std::tuple_element_t<First, All>>...> first;
    [[maybe_unused]] std::tuple<std::remove_pointer_t<std::tuple_element_t<kLast + Last, All>>...>
        last;
    ((std::get<First>(first) = {}), ...);
    ((std::get<Last>(last) = {}), ...);
    const auto call = [&] {
      return function(&std::get<First>(first)...,
                      Parameter<std::tuple_element_t<outs_first + In, All>>::to_c(in)...,
                      &std::get<Last>(last)...);
    };
    if constexpr (std::is_void_v<R>) {
      call();
      return 0;
    } else if constexpr (outs_first + outs_last == 0) {
      return to_python(call());
    } else {
      const R code = call();
      return std::make_tuple(to_python(std::get<First>(first))...,
                             to_python(std::get<Last>(last))..., code);
    }
  };
}

// Defines `name`. The first and the last parameters of the C function that are pointers to results
// become results.
template <auto function, std::size_t outs_first = 0, std::size_t outs_last = 0, typename R,
          typename... A>
void define(py::module_& module, const char* name, R (*)(A...)) {
  module.def(name,
             wrapped<function, outs_first, outs_last>(
                 function, std::make_index_sequence<outs_first>(),
                 std::make_index_sequence<sizeof...(A) - outs_first - outs_last>(),
                 std::make_index_sequence<outs_last>()),
             py::call_guard<Unlocked>());
}

template <auto function>
void plain(py::module_& module, const char* name) {
  define<function>(module, name, function);
}
template <auto function, std::size_t count = 1>
void first_out(py::module_& module, const char* name) {
  define<function, count, 0>(module, name, function);
}
template <auto function, std::size_t count = 1>
void last_out(py::module_& module, const char* name) {
  define<function, 0, count>(module, name, function);
}

void define_base(py::module_& acl);
void define_runtime(py::module_& rt);
void define_models(py::module_& mdl);
void define_operators(py::module_& op);
void define_profiling(py::module_& prof);
void define_utilities(py::module_& util);
void define_media(py::module_& media);

}  // namespace msprof::python
