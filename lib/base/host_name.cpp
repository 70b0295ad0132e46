#include "base/host_name.hpp"

#include <sys/utsname.h>

namespace msprof {

std::string own_host_name() {
  utsname names = {};
  ::uname(&names);
  return names.nodename;
}

}  // namespace msprof
