// The module acl: libascendcl.so for Python programs, with the names and return values of pyACL.
#include <dlfcn.h>

#include "acl/acl.h"
#include "runtime/python/bind.hpp"

namespace {

// Python loads the libraries of a module with local scope. This makes libascendcl.so global, so
// that an mstx client finds its recorder, as in a program linked to it.
void make_library_visible() {
  Dl_info library = {};
  if (dladdr(reinterpret_cast<void*>(&aclInit), &library) == 0 || library.dli_fname == nullptr)
    return;
  if (dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) == nullptr) dlerror();
}

}  // namespace

PYBIND11_MODULE(acl, acl) {
  using namespace msprof::python;
  acl.doc() =
      "CANN's interface on a Linux host. Pointers are integers; see docs/host_cann.md of "
      "msprof.";
  make_library_visible();
  define_base(acl);
  py::module_ rt = acl.def_submodule("rt"), mdl = acl.def_submodule("mdl"),
              op = acl.def_submodule("op"), prof = acl.def_submodule("prof"),
              util = acl.def_submodule("util"), media = acl.def_submodule("media"),
              blas = acl.def_submodule("blas"), fv = acl.def_submodule("fv"),
              himpi = acl.def_submodule("himpi");
  define_runtime(rt);
  define_models(mdl);
  define_operators(op);
  define_profiling(prof);
  define_utilities(util);
  define_media(media);
  define_blas(blas);
  define_search(fv);
  define_himpi(himpi);
}
