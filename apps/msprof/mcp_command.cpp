// msprof mcp: answers an agent's questions about captures, over the Model Context Protocol.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/stdout_output.hpp"
#include "base/version.hpp"
#include "mcp/server.hpp"
#include "msprof/mcp_pages.hpp"
#include "msprof/mcp_tools.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

namespace {

struct McpArguments {
  std::vector<std::string> roots;
  bool skill = false;
  Verbosity verbosity;
};

// How to find a cause. The same for the server's instructions and the skill file.
constexpr std::string_view kHowTo =
    "Call list for the captures, then open (imports if needed) or summary, then advise: its "
    "findings have ids and remedies. Use table, query and timeline for evidence, compare after a "
    "change, doctor if data is missing, cluster for many ranks. An answer has at most max_bytes "
    "bytes; if it has next_cursor, call the tool again with it as cursor. cannot_be_answered means "
    "that the capture does not have the data: do not guess. Units are in the names: _us, _ns, "
    "_bytes, _percent, (us). If unit_loads is modelled, times are measured, but unit loads are "
    "not.";

std::string instructions(const Roots& roots) {
  return fmt::format("Profiles of Huawei Ascend and HiSilicon NPUs. {} Roots: {}", kHowTo,
                     roots.text());
}

std::vector<mcp::Tool> server_tools() {
  std::vector<mcp::Tool> tools;
  for (const McpTool& tool : mcp_tools())
    tools.push_back({std::string(tool.name), std::string(tool.help), input_schema(tool)});
  return tools;
}

std::vector<mcp::Resource> server_resources() {
  std::vector<mcp::Resource> resources;
  for (const ManualPage& page : manual_pages()) {
    resources.push_back(
        {fmt::format("msprof://docs/{}", page.name), std::string(page.help), page.text});
  }
  return resources;
}

std::string tool_row(const McpTool& tool) {
  std::vector<std::string> inputs;
  for (const ToolInput& input : tool.inputs) {
    inputs.push_back(
        fmt::format("`{}`{}: {}", input.name, input.is_required ? "" : " (optional)", input.help));
  }
  return fmt::format("| `{}` | {} | {} |\n", tool.name, tool.help, fmt::join(inputs, "; "));
}

// Makes the text of a skill from the tools and the verbs.
std::string skill_text(const cli::Command& root) {
  std::string text = fmt::format(
      "---\n"
      "name: msprof\n"
      "description: Read profiles of Huawei Ascend and HiSilicon NPUs (captures JOB… and PROF_…): "
      "why a run is slow, what changed between two runs, which data is missing.\n"
      "---\n"
      "\n"
      "# msprof {}\n"
      "\n"
      "{}\n"
      "\n"
      "## Tools of `msprof mcp --root DIR`\n"
      "\n"
      "| tool | answer | inputs |\n"
      "|---|---|---|\n",
      version(), kHowTo);
  for (const McpTool& tool : mcp_tools()) text += tool_row(tool);
  std::vector<std::string> common;
  for (const ToolInput& input : common_inputs())
    common.push_back(fmt::format("`{}`: {}", input.name, input.help));
  text += fmt::format(
      "\n"
      "All tools: {}.\n"
      "\n"
      "## Commands\n"
      "\n"
      "Without the server, run these in a shell; most print one JSON document with `--json`, and "
      "`msprof VERB --help` lists the options.\n"
      "\n"
      "| command | purpose |\n"
      "|---|---|\n",
      fmt::join(common, "; "));
  for (const auto& verb : root.commands())
    if (!verb->is_hidden())
      text += fmt::format("| `msprof {}` | {} |\n", verb->name(), verb->help());
  return text;
}

Exit run_mcp(const McpArguments& arguments, const cli::Command& root) {
  apply_verbosity(arguments.verbosity);
  if (arguments.skill) {
    print_document_text(skill_text(root), DocumentForm::plain);
    return Exit::ok;
  }
  if (arguments.roots.empty())
    throw Error(Exit::usage, "--root DIR is missing: the folder with the captures");
  const Roots roots(arguments.roots);
  mcp::ServerParts parts = {"msprof",       std::string(version()), instructions(roots),
                            server_tools(), server_resources(),     {}};
  parts.call = [&roots](const std::string& tool, const nlohmann::ordered_json& inputs,
                        const mcp::KeepWorking& keep_working) {
    return call_mcp_tool(roots, tool, inputs, keep_working);
  };
  return mcp::Server(std::move(parts), STDIN_FILENO).run();
}

}  // namespace

void add_mcp_command(cli::Command& root) {
  auto arguments = std::make_shared<McpArguments>();
  cli::Command& command = root.add_command(
      "mcp",
      "Answer an agent's questions about captures: a server of the Model Context Protocol on "
      "standard input and output, without a network. Reads only captures below --root; imports "
      "them if needed.");
  command.set_examples(
      "  msprof mcp --root /data/profiles     for the configuration of the agent\n"
      "  msprof mcp --skill > SKILL.md        describe the tools and verbs for agents");
  cli::Option folders = {"--root", &arguments->roots, "DIR",
                         "folder whose captures may be read; can be repeated"};
  folders.takes_one_each = true;
  command.add_option(std::move(folders));
  command.add_option({"--skill", &arguments->skill, "", "print a SKILL.md instead"});
  add_verbosity(command, arguments->verbosity);
  command.set_action([arguments, &root] { return run_mcp(*arguments, root); });
}

}  // namespace msprof
