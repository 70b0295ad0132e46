// The tools of `msprof mcp`: a table of names, inputs and the verbs that answer. The list of tools,
// their schemas and the skill file are made from it.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mcp/server.hpp"

namespace msprof {

enum class InputKind { path, paths, text, sql, count, number, flag };

struct ToolInput {
  std::string_view name;
  InputKind kind = InputKind::text;
  std::string_view help;
  // Option of the verb that gets the value; empty: a positional argument.
  std::string_view option;
  std::string_view fallback = {};  // value if the caller gives none
  bool is_required = false;
};

// A tool runs `msprof VERB --json` with its inputs as options.
struct McpTool {
  std::string_view name;
  std::string_view verb;
  std::string_view help;
  std::vector<ToolInput> inputs;
  bool has_rows = false;  // pages continue with --offset
};

const std::vector<McpTool>& mcp_tools();

// Inputs that every tool has.
const std::vector<ToolInput>& common_inputs();

nlohmann::ordered_json input_schema(const McpTool& tool);

// Folders that tools may read, and whatever is below them.
class Roots {
 public:
  // Throws Error(usage) if one is not a folder.
  explicit Roots(const std::vector<std::string>& folders);

  const std::vector<std::filesystem::path>& folders() const { return folders_; }
  std::string text() const;  // for messages: separated by commas
  // Returns the real path of a file or folder that the caller names: an absolute path, or one
  // relative to a root. Throws Error(usage) if it, or a link in it, leads out of the roots, and
  // Error(nothing_to_do) if it does not exist.
  std::filesystem::path resolve(const std::string& text) const;
  // Returns a link in this folder or its subfolders that leads out of the roots; empty if there is
  // none. Throws Error(usage) for a folder with very many files.
  std::filesystem::path find_way_out(const std::filesystem::path& folder) const;
  // `check` is called often in a search of many files, and throws to end it.
  void set_check(std::function<void()> check) { check_ = std::move(check); }
  void check() const { check_(); }

 private:
  bool contains(const std::filesystem::path& path) const;

  std::vector<std::filesystem::path> folders_;
  std::function<void()> check_ = [] {};
};

// Runs a tool. Errors that the caller can correct become results with `is_error`; data that a
// capture does not have becomes a result with `cannot_be_answered`.
mcp::ToolResult call_mcp_tool(const Roots& roots, const std::string& name,
                              const nlohmann::ordered_json& arguments,
                              const mcp::KeepWorking& keep_working);

}  // namespace msprof
