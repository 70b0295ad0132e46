#include "msprof/json_document.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/findings.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "export/json_text.hpp"

namespace msprof {

namespace {

// Integers that a double cannot hold become strings, wherever they are.
void keep_digits(nlohmann::ordered_json& value) {
  if (value.is_structured()) {
    for (auto& part : value) keep_digits(part);
  } else if (value.is_number_unsigned()) {
    const std::string digits = std::to_string(value.get<std::uint64_t>());
    if (!fits_double(digits)) value = digits;
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (!fits_double(number)) value = std::to_string(number);
  }
}

}  // namespace

Exit print_document(nlohmann::ordered_json& document, const std::function<Exit()>& work) {
  Exit exit = Exit::ok;
  try {
    exit = work();
  } catch (const Error& error) {
    log::failure(error);
    document["error"] = valid_utf8(error.what());
    if (error.id()) document["error_id"] = finding_info(*error.id()).id;
    exit = error.code();
  }
  document["exit_code"] = static_cast<int>(exit);
  keep_digits(document);
  fmt::print("{}\n", document.dump(2));
  return exit;
}

}  // namespace msprof
