#include "msprof/language.hpp"

#include <cstdlib>
#include <string_view>

namespace msprof {

void add_language_option(cli::Command& command, std::string& language) {
  command.add_option(
      {"--lang", &language, "LANG", "en or zh (default: from LC_ALL or LANG)", {"en", "zh"}});
}

Language choose_language(const std::string& option) {
  if (!option.empty()) return option == "zh" ? Language::zh : Language::en;
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::string_view(value).starts_with("zh") ? Language::zh : Language::en;
  }
  return Language::en;
}

}  // namespace msprof
