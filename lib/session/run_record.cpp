#include "session/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/json_levels.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

using nlohmann::ordered_json;  // keeps the order of facts and options

constexpr std::string_view kRunSchema = "msprof.run/1";
constexpr std::uint64_t kMaxRecordFileBytes = 4 << 20;
constexpr std::int64_t kRunSecondNs = 1'000'000'000;
constexpr std::size_t kMaxListed = 10'000;  // maximum number of items read from a list
constexpr std::size_t kMaxTextBytes = 4'000;
constexpr int kMaxSchemaWidth = 40;  // characters shown in a message

std::optional<std::tm> utc_parts(std::int64_t ns) {
  constexpr std::int64_t kEndOf9999 = 253402300800;  // in seconds since 1970
  const std::int64_t seconds = ns / kRunSecondNs;
  std::tm parts{};
  const auto time = static_cast<std::time_t>(seconds);
  if (ns < 0 || seconds >= kEndOf9999 || gmtime_r(&time, &parts) == nullptr) return std::nullopt;
  return parts;
}

// Returns "2026-11-23T11:06:12.345Z".
std::string iso_text(std::int64_t ns) {
  const auto parts = utc_parts(ns);
  if (!parts) return "";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts->tm_year + 1900,
                     parts->tm_mon + 1, parts->tm_mday, parts->tm_hour, parts->tm_min,
                     parts->tm_sec, ns % kRunSecondNs / 1'000'000);
}

// Parses `digits` digits of `text` starting at `at`; -1 if there is no number.
int digits_at(std::string_view text, std::size_t at, std::size_t digits) {
  std::uint64_t value = 0;
  if (at + digits > text.size() || !parse_u64(text.substr(at, digits), value)) return -1;
  return static_cast<int>(value);
}

// Parses the format of iso_text(); returns 0 for any other text.
std::int64_t parse_iso_ns(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
  if (text.size() != kForm.size()) return 0;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] != '0' && text[i] != kForm[i]) return 0;
  }
  std::tm parts{};
  parts.tm_year = digits_at(text, 0, 4) - 1900;
  parts.tm_mon = digits_at(text, 5, 2) - 1;
  parts.tm_mday = digits_at(text, 8, 2);
  parts.tm_hour = digits_at(text, 11, 2);
  parts.tm_min = digits_at(text, 14, 2);
  parts.tm_sec = digits_at(text, 17, 2);
  const int milliseconds = digits_at(text, 20, 3);
  const bool is_time = parts.tm_year >= 70 && parts.tm_mon >= 0 && parts.tm_mday >= 1 &&
                       parts.tm_hour >= 0 && parts.tm_min >= 0 && parts.tm_sec >= 0 &&
                       milliseconds >= 0;
  if (!is_time) return 0;
  const std::time_t seconds = timegm(&parts);
  // After the year 2262, nanoseconds do not fit in 64 bits.
  if (seconds < 0 || seconds >= INT64_MAX / kRunSecondNs) return 0;
  return std::int64_t{seconds} * kRunSecondNs + std::int64_t{milliseconds} * 1'000'000;
}

void add_text(ordered_json& object, const char* key, std::string_view text) {
  if (!text.empty()) object[key] = valid_utf8(text);
}

ordered_json facts_json(const RunRecord::Facts& facts) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : facts) object[valid_utf8(name)] = valid_utf8(value);
  return object;
}

const ordered_json* find_member(const ordered_json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

std::string find_text(const ordered_json& object, const char* key) {
  const ordered_json* value = find_member(object, key);
  if (value == nullptr || !value->is_string()) return "";
  return valid_utf8(
      std::string_view(value->get_ref<const std::string&>()).substr(0, kMaxTextBytes));
}

std::optional<int> find_integer(const ordered_json& object, const char* key) {
  const ordered_json* value = find_member(object, key);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT32_MAX) return std::nullopt;
  const auto number = value->get<std::int64_t>();
  if (number < INT32_MIN || number > INT32_MAX) return std::nullopt;
  return static_cast<int>(number);
}

RunRecord::Facts find_facts(const ordered_json& object, const char* key) {
  RunRecord::Facts facts;
  const ordered_json* value = find_member(object, key);
  if (value == nullptr || !value->is_object()) return facts;
  for (const auto& [name, fact] : value->items()) {
    if (fact.is_string() && facts.size() < kMaxListed) facts.emplace_back(name, fact);
  }
  return facts;
}

std::vector<RunModel> models_at(const ordered_json& document) {
  std::vector<RunModel> models;
  const ordered_json* list = find_member(document, "models");
  if (list == nullptr || !list->is_array()) return models;
  for (const ordered_json& entry : *list) {
    if (models.size() == kMaxListed) break;
    RunModel model{find_text(entry, "file"), 0, find_text(entry, "sha256")};
    const ordered_json* bytes = find_member(entry, "bytes");
    if (bytes != nullptr && bytes->is_number_unsigned()) model.bytes = bytes->get<std::uint64_t>();
    if (!model.file.empty()) models.push_back(std::move(model));
  }
  return models;
}

// Returns the default if the numbers are inconsistent.
RunRepeat parse_repeat(const ordered_json& object) {
  const int run = find_integer(object, "run").value_or(0);
  const int of = find_integer(object, "of").value_or(0);
  if (run < 1 || of < run) return {};
  const ordered_json* warm_up = find_member(object, "warm_up");
  return {run, of, warm_up != nullptr && warm_up->is_boolean() && warm_up->get<bool>()};
}

RunRecord parse_record(const ordered_json& document) {
  RunRecord record;
  record.msprof = find_text(document, "msprof");
  record.begin_ns = parse_iso_ns(find_text(document, "begin"));
  record.end_ns = parse_iso_ns(find_text(document, "end"));
  record.host = find_text(document, "host");
  record.board = find_facts(document, "board");
  if (const ordered_json* command = find_member(document, "command"); command != nullptr) {
    for (const ordered_json& word : *command) {
      if (word.is_string() && record.command.size() < kMaxListed) record.command.push_back(word);
    }
  }
  record.options = find_facts(document, "options");
  record.models = models_at(document);
  if (const ordered_json* application = find_member(document, "application");
      application != nullptr) {
    record.application_exit_code = find_integer(*application, "exit_code");
    record.application_signal = find_text(*application, "signal");
    record.application_ended_by = find_text(*application, "ended_by");
    const ordered_json* seconds = find_member(*application, "seconds");
    if (seconds != nullptr && seconds->is_number()) record.seconds = seconds->get<double>();
  }
  record.exit_code = find_integer(document, "exit_code").value_or(0);
  if (const ordered_json* layout = find_member(document, "layout"); layout != nullptr) {
    record.layout = {find_text(*layout, "file"), find_text(*layout, "source"), "",
                     find_text(*layout, "origin")};
    const ordered_json* text = find_member(*layout, "json");
    if (text != nullptr && text->is_object()) record.layout.json = text->dump();
  }
  if (const ordered_json* repeat = find_member(document, "repeat"); repeat != nullptr)
    record.repeat = parse_repeat(*repeat);
  return record;
}

constexpr const char* kHidden = "***";

bool names_secret(std::string_view option) {
  std::string letters = lower_ascii(option);
  std::erase_if(letters, [](char c) { return c == '-' || c == '_' || c == '.'; });
  constexpr std::string_view kWords[] = {"pass",          "pwd",        "secret",    "token",
                                         "apikey",        "privatekey", "accesskey", "credential",
                                         "authorization", "cookie"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return letters.find(word) != std::string::npos;
  });
}

// Replaces "https://user:word@server/x" by "https://***@server/x".
void hide_login(std::string& word) {
  const std::size_t scheme = word.find("://");
  if (scheme == std::string::npos) return;
  const std::size_t begin = scheme + 3;
  const std::size_t end = word.find_first_of("/?#", begin);
  const std::size_t at = word.rfind('@', end);
  if (at == std::string::npos || at < begin) return;
  word.replace(begin, at - begin, kHidden);
}

bool is_env(std::string_view word) {
  return word == "env" || word.ends_with("/env");
}

}  // namespace

nlohmann::ordered_json run_json(const RunRecord& record) {
  ordered_json document = {{"schema", kRunSchema}};
  add_text(document, "msprof", record.msprof);
  if (record.begin_ns > 0) add_text(document, "begin", iso_text(record.begin_ns));
  if (record.end_ns > 0) add_text(document, "end", iso_text(record.end_ns));
  add_text(document, "host", record.host);
  if (!record.board.empty()) document["board"] = facts_json(record.board);
  for (const std::string& word : record.command) document["command"].push_back(valid_utf8(word));
  document["options"] = facts_json(record.options);
  document["models"] = ordered_json::array();
  for (const RunModel& model : record.models) {
    ordered_json one = {{"file", valid_utf8(model.file)}, {"bytes", model.bytes}};
    add_text(one, "sha256", model.sha256);
    document["models"].push_back(std::move(one));
  }
  ordered_json application = ordered_json::object();
  if (record.seconds > 0) application["seconds"] = record.seconds;
  if (record.application_exit_code) application["exit_code"] = *record.application_exit_code;
  add_text(application, "signal", record.application_signal);
  add_text(application, "ended_by", record.application_ended_by);
  if (!application.empty()) document["application"] = std::move(application);
  document["exit_code"] = record.exit_code;
  if (!record.layout.file.empty()) {
    document["layout"] = {{"file", valid_utf8(record.layout.file)},
                          {"source", valid_utf8(record.layout.source)}};
    add_text(document["layout"], "origin", record.layout.origin);
    ordered_json text = ordered_json::parse(record.layout.json, nullptr, false, true);
    if (text.is_object()) document["layout"]["json"] = std::move(text);
  }
  if (record.repeat.run > 0) {
    document["repeat"] = {{"run", record.repeat.run},
                          {"of", record.repeat.of},
                          {"warm_up", record.repeat.is_warm_up}};
  }
  return document;
}

std::string run_text(const RunRecord& record) {
  return run_json(record).dump(2) + "\n";
}

std::string RunRepeat::text() const {
  if (run == 0) return "";
  return fmt::format("{} {} of {}", is_warm_up ? "warm-up" : "run", run, of);
}

std::string RunRecord::board_fact(std::string_view name) const {
  const auto at = std::find_if(board.begin(), board.end(),
                               [&](const auto& fact) { return fact.first == name; });
  return at == board.end() ? std::string() : at->second;
}

std::string RunRecord::machine_text() const {
  std::string text = board_fact("system");
  const auto add = [&](std::string_view between, std::string_view fact) {
    if (!fact.empty()) text += fmt::format("{}{}", text.empty() ? "" : between, fact);
  };
  // Shortens "6.1.0-18-amd64" to "6.1".
  const std::string release = board_fact("release");
  const std::size_t end = release.find_first_not_of("0123456789", release.find('.') + 1);
  add(" ", std::string_view(release).substr(0, end));
  add(" ", board_fact("machine"));
  add(", ", board_fact("product"));
  return text;
}

std::vector<std::string> without_secrets(std::vector<std::string> words) {
  bool is_value = false;      // true: the value of the previous option
  bool is_variables = false;  // true after "env": NAME=VALUE … program
  for (std::string& word : words) {
    // "--password=x", "--password x", "PASSWORD=x"
    const std::size_t equals = word.find('=');
    const bool has_name = equals != std::string::npos && equals != 0;
    const bool is_hidden_value = std::exchange(is_value, false);
    if (is_hidden_value) {
      word = kHidden;
    } else if (has_name && (names_secret(std::string_view(word).substr(0, equals)) ||
                            (is_variables && !word.starts_with('-')))) {
      word = word.substr(0, equals + 1) + kHidden;
    } else {
      is_value = !has_name && word.starts_with('-') && names_secret(word);
      hide_login(word);
    }
    is_variables = is_env(word) || (is_variables && (has_name || word.starts_with('-')));
  }
  return words;
}

void write_run_record(const std::filesystem::path& capture, const RunRecord& record) {
  AtomicFile file(capture / kRunRecordName);
  file.write(run_text(record));
  file.commit();
}

std::optional<RunRecord> read_run_record(const std::filesystem::path& capture,
                                         std::string* problem) {
  const std::filesystem::path path = capture / kRunRecordName;
  const auto refuse = [&](std::string why) {
    if (problem != nullptr) *problem = std::move(why);
    return std::nullopt;
  };
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(status)) return std::nullopt;
  // A link could lead to a private file of the user.
  if (!std::filesystem::is_regular_file(status)) return refuse("is not a regular file");
  try {
    const std::string text = read_text_file(path, kMaxRecordFileBytes);
    if (is_nested_deeper(text)) return refuse("is nested too deeply");
    if (has_too_many_members(text)) return refuse("has too many members");
    const ordered_json document = ordered_json::parse(valid_utf8(text), nullptr, false);
    if (document.is_discarded()) return refuse("is not JSON");
    const std::string schema = find_text(document, "schema");
    if (schema != kRunSchema)
      return refuse(schema.empty() ? "has no schema"
                                   : fmt::format("has the unknown schema {}",
                                                 shorten(printable(schema), kMaxSchemaWidth)));
    return parse_record(document);
  } catch (const Error& failed) {
    if (failed.code() == Exit::interrupted) throw;
    return refuse("cannot be read, or is too large");
  } catch (const ordered_json::exception&) {
    return refuse("has a number out of range");
  }
}

std::optional<RunRecord> parse_run_record(std::string_view text) {
  try {
    if (text.size() > kMaxRecordFileBytes || is_nested_deeper(text) || has_too_many_members(text))
      return std::nullopt;
    const ordered_json document = ordered_json::parse(valid_utf8(text), nullptr, false);
    if (document.is_discarded() || find_text(document, "schema") != kRunSchema) return std::nullopt;
    return parse_record(document);
  } catch (const ordered_json::exception&) {
    return std::nullopt;  // a number out of range
  }
}

std::string second_text(std::int64_t ns) {
  const auto parts = utc_parts(ns);
  if (!parts) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts->tm_year + 1900,
                     parts->tm_mon + 1, parts->tm_mday, parts->tm_hour, parts->tm_min,
                     parts->tm_sec);
}

}  // namespace msprof
