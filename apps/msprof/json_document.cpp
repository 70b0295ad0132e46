#include "msprof/json_document.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

Exit print_document(nlohmann::ordered_json& document, const std::function<Exit()>& work) {
  Exit exit = Exit::ok;
  try {
    exit = work();
  } catch (const Error& error) {
    log::error("{}", error.what());
    document["error"] = valid_utf8(error.what());
    exit = error.code();
  }
  document["exit_code"] = static_cast<int>(exit);
  fmt::print("{}\n", document.dump(2));
  return exit;
}

}  // namespace msprof
