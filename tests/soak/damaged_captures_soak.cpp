// Runs the real program on captures with random damage: every import must end with a verdict, every
// export with a documented exit code, and repeating the commands must give the same bytes.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "soak/damage.hpp"
#include "soak/soak.hpp"
#include "support/eventually.hpp"
#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/prof/prof_run.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace msprof::test;
namespace fs = std::filesystem;

struct Template {
  std::string name;
  Files files;
};

Template face() {
  const TempFolder temp;
  JobBuilder job(temp.path());
  add_face(job);
  return {job.folder().filename().string(), files_below(job.folder())};
}

Template run_on(const prof::ProfSetup& setup) {
  const TempFolder temp;
  prof::RunShape shape;
  shape.tasks = 120;
  shape.flip_at = 48;
  shape.slice_limit = 16u << 10;
  const auto made = prof::make_run(temp.path(), setup, shape);
  return {made.folder.filename().string(), files_below(made.folder)};
}

RunResult run_within_limit(const std::vector<std::string>& arguments) {
  RunningProgram program(msprof_path(), arguments);
  if (!eventually([&] { return program.has_ended(); })) program.send(9);
  return program.wait();
}

bool is_expected(const RunResult& run) {
  return run.exit_code == 0 || run.exit_code == 3 || run.exit_code == 4;
}

// Describes what is wrong; empty if all is well.
std::string wrong_with(const RunResult& imported, const RunResult& exported) {
  if (!is_expected(imported)) {
    return fmt::format("import ends with {} (signal {}): {}", imported.exit_code, imported.signal,
                       imported.err);
  }
  if (!is_expected(exported)) {
    return fmt::format("export ends with {} (signal {}): {}", exported.exit_code, exported.signal,
                       exported.err);
  }
  const auto document = nlohmann::json::parse(imported.out, nullptr, false);
  if (document.is_discarded()) return "import --json prints no JSON";
  const auto& captures = document.at("captures");
  const bool has_verdict = captures.size() == 1 && captures[0].contains("verdict");
  // If the damaged folder is no capture any more, there must be an error message instead.
  const bool has_sentence = imported.exit_code == 4 || imported.exit_code == 3;
  if (!has_verdict && !(has_sentence && imported.out.find("error") != std::string::npos)) {
    return "import gives no verdict: " + imported.out;
  }
  return "";
}

// Damages one of the templates and runs all commands twice.
void try_one(const std::vector<Template>& templates, std::uint64_t number, SoakRandom& random,
             SoakReport& report) {
  Damage damage(random);
  const Template& chosen = templates[damage.below(templates.size())];
  Files files = chosen.files;
  std::string story = chosen.name + ":";
  damage.apply(files, story);
  const TempFolder temp;
  const fs::path folder = temp / chosen.name;
  for (const auto& [name, bytes] : files) write_file(folder / name, bytes);

  std::string wrong;
  const auto run_all = [&] {
    const RunResult imported =
        run_within_limit({"import", "--json", "-q", "-dir", folder.string()});
    const RunResult exported = run_within_limit({"export", "all", "-q", "-dir", folder.string()});
    if (wrong.empty()) wrong = wrong_with(imported, exported);
    report.count(fmt::format("import ended with {}", imported.exit_code));
    return files_below(folder);
  };
  const Files first = run_all();
  const Files second = run_all();
  for (const auto& [name, bytes] : files) {
    if (wrong.empty() && first.at(name) != bytes) wrong = "the raw file " + name + " was changed";
  }
  const std::string other = difference(first, second);
  if (wrong.empty() && !other.empty()) wrong = "the second run: " + other;
  if (!wrong.empty()) report.fail(number, wrong + "; damage: " + story);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Template> templates = {face(), run_on({}), run_on(prof::setup_910a()),
                                           run_on(prof::setup_310p())};
  return run_soak(argc, argv, "damaged_captures", 10'000,
                  [&](std::uint64_t number, SoakRandom& random, SoakReport& report) {
                    try_one(templates, number, random, report);
                  });
}
