// msprof advise: what is wrong with a run, and what to do about it.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "analyze/advise/rule_file.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "msprof/advise_text.hpp"
#include "msprof/json_document.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace {

using nlohmann::ordered_json;

struct AdviseArguments {
  CaptureOptions capture;
  std::string language;
  std::vector<std::string> rule_files;
  bool all = false;
  bool json = false;
};

// As the C library decides it: the first of these variables that says anything.
Language language_of_environment() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::string_view(value).starts_with("zh") ? Language::zh : Language::en;
  }
  return Language::en;
}

Language language_of(const AdviseArguments& arguments) {
  if (arguments.language.empty()) return language_of_environment();
  return arguments.language == "zh" ? Language::zh : Language::en;
}

std::vector<Rule> rules_of(const AdviseArguments& arguments) {
  std::vector<Rule> rules = builtin_rules();
  for (const std::string& file : arguments.rule_files) {
    for (const std::string& note : add_rule_file(file, rules)) log::info("{}", note);
  }
  return rules;
}

Exit advise_one(const AdviseArguments& arguments, const std::vector<Rule>& rules,
                const ChosenCapture& capture, ordered_json& document) {
  const ReadyStore ready = ready_store(capture);
  const Advice advice = advise(ready.db, rules);
  const Language language = language_of(arguments);
  if (arguments.json) {
    ordered_json one = {{"folder", valid_utf8(capture.folder.string())},
                        {"verdict", valid_utf8(ready.verdict)}};
    one.update(advice_json(advice, language));
    document["captures"].push_back(std::move(one));
    return ready.exit;
  }
  fmt::print("{}\n", printable(capture.folder.string()));
  if (ready.exit != Exit::ok) fmt::print("PARTIAL DATA: `msprof import` says what is missing\n");
  fmt::print("{}", advice_text(advice, {language, arguments.all, terminal_columns(STDOUT_FILENO, 0),
                                        colour_allowed(STDOUT_FILENO)}));
  return ready.exit;
}

Exit run_advise(const AdviseArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  ordered_json document = {{"schema", "msprof.advise/2"},
                           {"language", language_of(arguments) == Language::zh ? "zh" : "en"},
                           {"captures", ordered_json::array()}};
  const auto work = [&] {
    const std::vector<Rule> rules = rules_of(arguments);
    return for_each_capture(
        choose_captures(arguments.capture),
        [&](const ChosenCapture& capture) {
          return advise_one(arguments, rules, capture, document);
        },
        &document["captures"]);
  };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_advise_command(cli::Command& root) {
  auto arguments = std::make_shared<AdviseArguments>();
  cli::Command& command = root.add_command(
      "advise",
      "Say what makes a run slow and what to do about it: decomposed activations, unfused layers, "
      "memory bound layers, CPU layers, waiting, … Each finding with its evidence. Imports first "
      "where needed.");
  command.set_examples(
      "  msprof advise                        the newest capture in this folder\n"
      "  msprof advise -dir JOBXXX --lang zh  in Chinese\n"
      "  msprof advise -dir PROF_XXX --rules my_rules.json\n"
      "  msprof advise -dir JOBXXX --json     for scripts");
  add_capture_options(command, arguments->capture);
  command.add_option({"--lang",
                      &arguments->language,
                      "LANG",
                      "en or zh (default: by LC_ALL or LANG)",
                      {"en", "zh"}});
  command.add_option({"--rules", &arguments->rule_files, "FILE",
                      "rules of your own, beside the built-in ones; several times"});
  command.add_option({"--all", &arguments->all, "", "also rules that are not met or have no data"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  command.set_action([arguments] { return run_advise(*arguments); });
}

}  // namespace msprof
