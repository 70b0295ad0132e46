#include "msprof/follow_state.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/json_levels.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::string_view kFollowSchema = "msprof.follow/1";
constexpr std::uint64_t kMaxStateBytes = 256 << 20;

FollowedCapture parse_followed(const json& one) {
  FollowedCapture capture;
  capture.files = one.at("files").get<std::string>();
  capture.exit_code = one.at("exit_code").get<int>();
  capture.result = one.at("result").get<std::string>();
  capture.is_command_due = one.value("command_due", false);
  capture.command = one.value("command", "");
  return capture;
}

json followed_json(const FollowedCapture& capture) {
  json one = {{"files", capture.files},
              {"exit_code", capture.exit_code},
              {"result", valid_utf8(capture.result)}};
  if (capture.is_command_due) one["command_due"] = true;
  if (!capture.command.empty()) one["command"] = valid_utf8(capture.command);
  return one;
}

}  // namespace

FollowState::FollowState(fs::path file) : file_(std::move(file)) {
  std::error_code error;
  if (fs::symlink_status(file_, error).type() == fs::file_type::not_found) return;
  std::string problem;
  try {
    const std::string text = read_text_file(file_, kMaxStateBytes);
    if (is_nested_deeper(text)) throw Error(Exit::partial_data, "it is nested too deeply");
    const json document = json::parse(text);
    if (document.at("schema") == kFollowSchema) {
      for (const auto& [key, one] : document.at("captures").items())
        captures_[key] = parse_followed(one);
      return;
    }
    problem = "it was written by another version";
  } catch (const json::exception&) {
    problem = "it is damaged";
  } catch (const Error& unreadable) {
    problem = unreadable.what();
  }
  throw Error(Exit::partial_data,
              fmt::format("cannot use {}: {}. Remove it to handle all captures again",
                          file_.string(), problem));
}

std::string FollowState::key_of(const fs::path& relative) {
  const std::string& text = relative.native();
  const bool is_text = is_valid_utf8(text);
  std::string key;
  for (const char c : text) {
    if (c == '%' || (!is_text && static_cast<unsigned char>(c) >= 0x80)) {
      key += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      key += c;
    }
  }
  return key;
}

const FollowedCapture* FollowState::find(const std::string& key) const {
  const auto at = captures_.find(key);
  return at == captures_.end() ? nullptr : &at->second;
}

void FollowState::set(const std::string& key, FollowedCapture capture) {
  captures_[key] = std::move(capture);
  write();
}

void FollowState::keep_only(const std::set<std::string>& keys) {
  const auto removed =
      std::erase_if(captures_, [&](const auto& one) { return !keys.contains(one.first); });
  if (removed > 0) write();
}

void FollowState::write() const {
  json captures = json::object();
  for (const auto& [key, capture] : captures_) captures[key] = followed_json(capture);
  const json document = {{"schema", kFollowSchema}, {"captures", std::move(captures)}};
  AtomicFile file(file_, "");
  file.write_block(document.dump(1) + "\n");
  file.commit();
}

}  // namespace msprof
