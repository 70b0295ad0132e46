#include "collect/acl_json.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

std::string on_off(bool value) {
  return value ? "on" : "off";
}

std::string shown_value(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Sets one value under all its spellings: boards ignore unknown keys.
class Section {
 public:
  Section(Json& profiler, std::vector<std::string>& overridden)
      : profiler_(profiler), overridden_(overridden) {}

  void set(const std::vector<std::string>& spellings, const std::string& value, bool asked_for) {
    for (const std::string& key : spellings) {
      const auto entry = profiler_.find(key);
      if (entry != profiler_.end() && !asked_for && shown_value(*entry) != value) {
        overridden_.push_back(fmt::format("{} {} becomes {}", key, shown_value(*entry), value));
      }
      profiler_[key] = value;
    }
  }

 private:
  Json& profiler_;
  std::vector<std::string>& overridden_;
};

// Boards use different names for the dump switches; any of them counts.
bool asks_for_dump(const Json& document) {
  const auto dump = document.find("dump");
  if (dump == document.end() || !dump->is_object()) return false;
  for (const auto& [key, value] : dump->items()) {
    if (value.is_string() && lower_ascii(value.get<std::string>()) == "on") return true;
    if (key == "dump_list" && value.is_array() && !value.empty()) return true;
  }
  return false;
}

void set_profiler(Json& document, const ProfilerOptions& options, const std::string& output,
                  std::vector<std::string>& overridden) {
  Json& profiler = document["profiler"];
  if (!profiler.is_object()) profiler = Json::object();
  Section section(profiler, overridden);
  // Does not report a switch that is off in the file: the user asked to profile.
  section.set({"switch"}, on_off(options.on.value_or(true)), true);
  section.set({"output"}, output, true);
  section.set({"interval"}, std::to_string(options.interval.value_or(0)),
              options.interval.has_value());
  section.set({"aicpu", "aacpu"}, on_off(options.aicpu.value_or(true)), options.aicpu.has_value());
  section.set({"acl_api"}, on_off(options.acl_api.value_or(true)), options.acl_api.has_value());
  section.set({"aic_metrics", "aac_metrics"},
              options.metrics.value_or(std::string(kArithmeticUtilization)),
              options.metrics.has_value());
}

std::string serialize(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

constexpr std::uint64_t kMaxAclBytes = 16 << 20;

class Planner {
 public:
  Planner(const ProfilerOptions& options, const std::string& output)
      : options_(options), output_(output) {}

  void patch(const fs::path& source, const fs::path& place) {
    PatchedAclJson patched;
    try {
      patched = patch_acl_json(read_text_file(source, kMaxAclBytes), options_, output_);
    } catch (const Error& error) {
      if (::access(source.c_str(), R_OK) == 0) throw;
      log::verbose("{}", error.what());
      patched = patch_acl_json("", options_, output_);
    }
    if (patched.is_replaced) {
      log::warn("{} is not a JSON object; the run uses a default one instead", source.string());
    }
    for (const std::string& change : patched.overridden) {
      log::info("{}: {} for this run", place.string(), change);
    }
    plan_.is_dump_on = plan_.is_dump_on || patched.is_dump_on;
    plan_.own = true;
    add(place, patched.text);
  }

  void add_default(const fs::path& place) { add(place, default_acl_json(options_, output_)); }

  bool has(const fs::path& place) const {
    return std::any_of(plan_.files.begin(), plan_.files.end(),
                       [&](const ExtraFile& file) { return file.path == place; });
  }

  AclPlan& plan() { return plan_; }

 private:
  void add(const fs::path& place, const std::string& text) {
    const fs::path normal = place.lexically_normal();
    std::erase_if(plan_.files, [&](const ExtraFile& file) { return file.path == normal; });
    plan_.files.push_back({normal, text});
  }

  const ProfilerOptions& options_;
  const std::string& output_;
  AclPlan plan_;
};

fs::path find_named(const std::string& named, const fs::path& root) {
  std::error_code error;
  for (const fs::path& candidate : {fs::current_path() / named, root / named}) {
    if (fs::is_regular_file(candidate, error)) return candidate;
  }
  throw Error(Exit::nothing_to_do,
              fmt::format("--acl-json {}: no such file here or in the project", named));
}

// Returns the path relative to the project if the copy contains the file, otherwise an empty path.
fs::path place_in_project(const fs::path& file, const Project& project) {
  const fs::path real = fs::weakly_canonical(file.parent_path()) / file.filename();
  if (!is_within(real, project.target.root)) return {};
  const fs::path relative = real.lexically_relative(project.target.root);
  const bool copied =
      std::any_of(project.entries.begin(), project.entries.end(),
                  [&](const ProjectEntry& entry) { return entry.path == relative; });
  return copied ? relative : fs::path();
}

}  // namespace

const std::vector<std::string>& aac_metrics_names() {
  static const std::vector<std::string> names = {std::string(kArithmeticUtilization),
                                                 std::string(kMetricsOff)};
  return names;
}

PatchedAclJson patch_acl_json(std::string_view original, const ProfilerOptions& options,
                              const std::string& output) {
  PatchedAclJson result;
  Json document = Json::parse(original, nullptr, false, true);
  if (!document.is_object()) {
    result.is_replaced = true;
    document = Json::object();
  }
  result.is_dump_on = asks_for_dump(document);
  set_profiler(document, options, output, result.overridden);
  result.text = serialize(document);
  return result;
}

std::string default_acl_json(const ProfilerOptions& options, const std::string& output) {
  std::vector<std::string> none;
  Json document = Json::object();
  set_profiler(document, options, output, none);
  return serialize(document);
}

AclPlan plan_acl_json(const Project& project, const std::optional<std::string>& named,
                      const ProfilerOptions& options, const std::string& output) {
  Planner planner(options, output);
  AclPlan& plan = planner.plan();
  const fs::path folder = project.target.main.parent_path();
  const fs::path beside = (folder / "acl.json").lexically_normal();
  const fs::path in_src = (folder / ".." / "src" / "acl.json").lexically_normal();

  for (const ProjectEntry& entry : project.entries) {
    const auto& acl_files = project.acl_files;
    if (std::find(acl_files.begin(), acl_files.end(), entry.path) != acl_files.end()) {
      planner.patch(entry.source, entry.path);
    }
  }
  if (named) {
    const fs::path file = find_named(*named, project.target.root);
    const fs::path place = place_in_project(file, project);
    plan.chosen = place.empty() ? (folder / file.filename()).lexically_normal() : place;
    if (!planner.has(plan.chosen) || place.empty()) planner.patch(file, plan.chosen);
  }
  if (plan.files.empty()) {
    planner.add_default(beside);
    planner.add_default(in_src);
  }
  for (const fs::path& place : {beside, in_src, plan.files.front().path}) {
    if (plan.chosen.empty() && planner.has(place)) plan.chosen = place;
  }
  if (plan.is_dump_on) {
    log::warn("acl.json also enables dump; dump and profiling cannot be combined");
  }
  return std::move(plan);
}

}  // namespace msprof
