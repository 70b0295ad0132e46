#include "base/host_name.hpp"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>

namespace msprof {

std::string own_host_name() {
  utsname names = {};
  ::uname(&names);
  return names.nodename;
}

std::string own_account_name() {
  const passwd* const user = ::getpwuid(::geteuid());
  return user != nullptr && user->pw_name != nullptr ? user->pw_name : "root";
}

std::filesystem::path own_home_folder() {
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return home;
  const passwd* const user = ::getpwuid(::geteuid());
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/";
}

}  // namespace msprof
