// msprof advise: finds problems of a run and suggests remedies.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "analyze/advise/advice.hpp"
#include "analyze/advise/rule_file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "msprof/cluster_info.hpp"
#include "msprof/cluster_output.hpp"
#include "msprof/cluster_store.hpp"
#include "msprof/json_values.hpp"
#include "msprof/language.hpp"
#include "msprof/pipeline.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

namespace {

struct AdviceStyle {
  Language language = Language::en;
  bool all = false;  // also print rules that found nothing
  int width = 0;     // of the terminal; 0: no limit
  bool is_in_colour = false;
};

using nlohmann::ordered_json;

constexpr std::size_t kShownEvidence = 5;
constexpr int kIndent = 9;
constexpr int kWidestName = 60;
constexpr std::string_view kBlanks = "         ";

// Localized words that surround the texts of rules.
struct AdviseWords {
  std::string_view severity[3];
  std::string_view advice, more, checked, all_says_why, without, not_met, nothing, modelled,
      inferred;
};
constexpr AdviseWords kEnglish = {{"problem", "hint", "info"},
                                  "do: ",
                                  "… and {} more",
                                  "{} rules checked, {} without data",
                                  "; --all lists them",
                                  "no data: {}",
                                  "not met: {}",
                                  "nothing found",
                                  kModelledNote,
                                  kInferredNote};
constexpr AdviseWords kChinese = {{"问题", "提示", "信息"},
                                  "建议:",
                                  "…… 另有 {} 项",
                                  "已检查 {} 条规则,其中 {} 条没有数据",
                                  " (--all 列出原因)",
                                  "没有数据:{}",
                                  "未触发:{}",
                                  "没有发现问题",
                                  "主机运行时:时间为实测,单元负载为模型值",
                                  "推断的记录布局:字段由 msprof layout 找出,并非厂商说明"};

const AdviseWords& advise_words(Language language) {
  return language == Language::zh ? kChinese : kEnglish;
}

std::string padded(std::string_view text, int width) {
  return fmt::format("{}{:{}}", text, "", std::max(0, width - display_width(text)));
}

// Appends `text` after `first`, wrapped at blanks; continuation lines are indented.
void append_wrapped(std::string& out, std::string_view first, std::string_view text, int width) {
  std::string line(first);
  bool is_empty = true;
  for (const std::string_view word : split(text, ' ')) {
    const bool is_full =
        width > 0 && !is_empty && display_width(line) + 1 + display_width(word) > width;
    if (is_full) {
      out += line + '\n';
      line = kBlanks;
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
  }
  out += line + '\n';
}

// Formats a number with three decimals, or with more digits if it needs them.
std::string shown(const EvidenceValue& value) {
  std::string name = value.name;
  std::replace(name.begin(), name.end(), '_', ' ');
  return fmt::format(
      "{} {}", printable(name),
      value.number ? number_text(*value.number) : shorten(printable(value.text), kWidestName));
}

std::string evidence_line(const Evidence& evidence, int name_width) {
  std::string line = padded(shorten(printable(evidence.name), kWidestName), name_width);
  if (evidence.count) line += fmt::format("  {} x", *evidence.count);
  if (evidence.time_us) line += fmt::format("  {:.3f} us", *evidence.time_us);
  if (evidence.share_percent) line += fmt::format("  {:.1f} %", *evidence.share_percent);
  for (std::size_t i = 0; i < evidence.values.size(); ++i)
    line += (i == 0 ? "  " : ", ") + shown(evidence.values[i]);
  return line;
}

void append_evidence(std::string& out, const AdviceFinding& finding, const AdviceStyle& style) {
  const std::size_t shown_count = std::min(kShownEvidence, finding.evidence.size());
  int name_width = 0;
  for (std::size_t i = 0; i < shown_count; ++i) {
    const int width = display_width(printable(finding.evidence[i].name));
    name_width = std::max(name_width, std::min(width, kWidestName));
  }
  for (std::size_t i = 0; i < shown_count; ++i)
    out += fmt::format("{}{}\n", kBlanks, evidence_line(finding.evidence[i], name_width));
  if (finding.evidence_count > shown_count) {
    out += kBlanks;
    out += fmt::format(fmt::runtime(advise_words(style.language).more),
                       finding.evidence_count - shown_count);
    out += '\n';
  }
}

std::string severity_word(RuleSeverity severity, const AdviceStyle& style) {
  auto word = padded(advise_words(style.language).severity[static_cast<int>(severity)], kIndent);
  if (!style.is_in_colour || severity == RuleSeverity::info) return word;
  return fmt::format("\x1b[{}m{}\x1b[0m", severity == RuleSeverity::problem ? "1;31" : "1", word);
}

ordered_json evidence_json(const Evidence& evidence) {
  ordered_json json = {{"name", valid_utf8(evidence.name)}};
  if (evidence.count) json["count"] = *evidence.count;
  if (evidence.time_us) json["time_us"] = *evidence.time_us;
  if (evidence.share_percent) json["share_percent"] = *evidence.share_percent;
  ordered_json values = ordered_json::object();
  for (const EvidenceValue& value : evidence.values) {
    values[valid_utf8(value.name)] =
        value.number ? ordered_json(*value.number) : ordered_json(valid_utf8(value.text));
  }
  json["values"] = std::move(values);
  return json;
}

ordered_json finding_json(const AdviceFinding& finding, Language language) {
  const Rule& rule = *finding.rule;
  ordered_json evidence = ordered_json::array();
  for (const Evidence& one : finding.evidence) evidence.push_back(evidence_json(one));
  return {{"rule", rule.id},
          {"file", as_json(rule.file)},
          {"severity", severity_name(rule.severity)},
          {"title", valid_utf8(finding.title.in(language))},
          {"advice", valid_utf8(finding.advice.in(language))},
          {"count", finding.count},
          {"time_us", as_json(finding.time_us)},
          {"time_of", finding.is_per_execution ? "execution" : "capture"},
          {"share_percent", as_json(finding.share_percent)},
          {"thresholds", rule.thresholds},
          {"source", valid_utf8(rule.source)},
          {"evidence_count", finding.evidence_count},
          {"evidence", std::move(evidence)}};
}

std::string advice_text(const Advice& advice, const AdviceStyle& style) {
  const AdviseWords& words = advise_words(style.language);
  std::string out;
  for (const AdviceFinding& finding : advice.findings) {
    std::string title;
    append_wrapped(title, kBlanks, printable(finding.title.in(style.language)), style.width);
    out += severity_word(finding.rule->severity, style) + title.substr(kBlanks.size());
    append_evidence(out, finding, style);
    append_wrapped(out, fmt::format("{}{}", kBlanks, words.advice),
                   printable(finding.advice.in(style.language)), style.width);
  }
  if (advice.findings.empty()) out += fmt::format("{}\n", words.nothing);
  if (style.all) {
    for (const Rule* rule : advice.not_met)
      out += fmt::format(fmt::runtime(words.not_met), rule->id) + '\n';
    for (const RuleWithoutData& rule : advice.without_data) {
      const std::string text =
          fmt::format("{} ({})", rule.rule->id, printable(rule.reason.in(style.language)));
      out += fmt::format(fmt::runtime(words.without), text) + '\n';
    }
  }
  std::string last =
      fmt::format(fmt::runtime(words.checked), advice.checked(), advice.without_data.size());
  if (!style.all && !advice.without_data.empty()) last += words.all_says_why;
  append_wrapped(out, "", last, style.width);
  return out;
}

ordered_json advice_json(const Advice& advice, Language language) {
  ordered_json findings = ordered_json::array();
  for (const AdviceFinding& finding : advice.findings)
    findings.push_back(finding_json(finding, language));
  ordered_json not_met = ordered_json::array();
  for (const Rule* rule : advice.not_met) not_met.push_back(rule->id);
  ordered_json without = ordered_json::array();
  for (const RuleWithoutData& rule : advice.without_data) {
    without.push_back({{"rule", rule.rule->id}, {"reason", valid_utf8(rule.reason.in(language))}});
  }
  return {{"rules_checked", advice.checked()},
          {"findings", std::move(findings)},
          {"not_met", std::move(not_met)},
          {"without_data", std::move(without)}};
}

struct AdviseArguments {
  CaptureOptions capture;
  std::string language;
  std::vector<std::string> rule_files;
  bool all = false;
  bool json = false;
};

std::vector<Rule> load_rules(const AdviseArguments& arguments) {
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
  const Language language = choose_language(arguments.language);
  if (arguments.json) {
    ordered_json one = {{"folder", valid_utf8(capture.folder.string())},
                        {"verdict", valid_utf8(ready.verdict)},
                        {"unit_loads", unit_loads_name(advice.unit_loads)},
                        {"layout_origin", layout_origin_name(advice.layout_origin)}};
    one.update(advice_json(advice, language));
    document["captures"].push_back(std::move(one));
    return ready.exit;
  }
  fmt::print("{}\n", printable(capture.folder.string()));
  if (ready.exit != Exit::ok) fmt::print("PARTIAL DATA: `msprof import` lists what is missing\n");
  if (advice.unit_loads == UnitLoads::modelled) fmt::print("{}\n", advise_words(language).modelled);
  if (advice.layout_origin == LayoutOrigin::inferred)
    fmt::print("{}\n", advise_words(language).inferred);
  fmt::print("{}", advice_text(advice, {language, arguments.all, text_width(STDOUT_FILENO),
                                        is_colour_allowed(STDOUT_FILENO)}));
  return ready.exit;
}

Exit advise_cluster(const AdviseArguments& arguments, const std::vector<Rule>& rules,
                    const std::filesystem::path& path, ordered_json& document) {
  const cluster::Part part = cluster::Part::open(path);
  const ClusterVerdict verdict = judge_ranks(part);
  const Advice advice = advise(part, rules);
  const Language language = choose_language(arguments.language);
  if (arguments.json) {
    ordered_json one = {{"folder", valid_utf8(path.string())}, {"verdict", verdict.name}};
    one.update(ranks_json(verdict.ranks));
    one.update(advice_json(advice, language));
    document["captures"].push_back(std::move(one));
    return verdict.exit;
  }
  fmt::print("{}\n{} ranks on {} hosts\n", printable(path.string()),
             verdict.ranks.present.count() + verdict.ranks.unknown, verdict.ranks.hosts);
  fmt::print("{}", advice_text(advice, {language, arguments.all, text_width(STDOUT_FILENO),
                                        is_colour_allowed(STDOUT_FILENO)}));
  return verdict.exit;
}

Exit run_advise(const AdviseArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  ordered_json document = {
      {"schema", "msprof.advise/2"},
      {"language", choose_language(arguments.language) == Language::zh ? "zh" : "en"},
      {"captures", ordered_json::array()}};
  const auto work = [&] {
    const std::vector<Rule> rules = load_rules(arguments);
    const ChosenInputs chosen = choose_inputs(arguments.capture);
    return for_each_capture(
        chosen.inputs,
        [&](const ChosenCapture& capture) {
          return chosen.are_clusters ? advise_cluster(arguments, rules, capture.folder, document)
                                     : advise_one(arguments, rules, capture, document);
        },
        &document["captures"]);
  };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_advise_command(cli::Command& root) {
  auto arguments = std::make_shared<AdviseArguments>();
  cli::Command& command =
      root.add_command("advise",
                       "Find what makes a run slow and how to fix it: decomposed activations, "
                       "unfused layers, memory-bound layers, CPU layers, waiting, … Each finding "
                       "lists its evidence. Imports first if needed.");
  command.set_examples(
      "  msprof advise                        the newest capture in this folder\n"
      "  msprof advise -dir JOBXXX --lang zh  in Chinese\n"
      "  msprof advise -dir PROF_XXX --rules my_rules.json\n"
      "  msprof advise -dir cluster.db        many ranks merged: slow ranks, hosts, links, …\n"
      "  msprof advise -dir JOBXXX --json     for scripts");
  add_capture_options(command, arguments->capture);
  add_language_option(command, arguments->language);
  command.add_option(
      {"--rules", &arguments->rule_files, "FILE", "additional rules; can be repeated"});
  command.add_option(
      {"--all", &arguments->all, "", "also list rules that did not match or have no data"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  command.set_action([arguments] { return run_advise(*arguments); });
}

}  // namespace msprof
