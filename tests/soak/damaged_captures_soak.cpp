// Captures with random damage through the real program: every import must end with a verdict, every
// export with an exit code of the table, and the same commands again must leave the same bytes.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "soak/soak.hpp"
#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/prof/prof_run.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace msprof::test;
namespace fs = std::filesystem;

constexpr auto kLongestCommand = std::chrono::minutes(2);  // beyond it a command hangs

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

class Damage {
 public:
  explicit Damage(SoakRandom& random) : random_(random) {}

  std::size_t below(std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::size_t>(random_() % limit);
  }

  // Changes one to four files; what was done stands in `story`.
  void apply(Files& files, std::string& story) {
    for (std::size_t left = 1 + below(4); left > 0 && !files.empty(); --left) {
      auto file = files.begin();
      std::advance(file, static_cast<std::ptrdiff_t>(below(files.size())));
      story += fmt::format(" {}: ", file->first);
      if (below(20) == 0) {
        story += "removed;";
        files.erase(file);
      } else {
        story += change(file->second) + ";";
      }
    }
  }

 private:
  char any_byte() { return static_cast<char>(below(256)); }

  std::string change(std::string& bytes) {
    const std::size_t at = below(bytes.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(bytes.size() - at, 600));
    switch (below(7)) {
      case 0: {
        const std::size_t flips = 1 + below(24);
        for (std::size_t i = 0; i < flips && !bytes.empty(); ++i) {
          bytes[below(bytes.size())] ^= static_cast<char>(1u << below(8));
        }
        return fmt::format("{} bits flipped", flips);
      }
      case 1:
        bytes.resize(at);
        return fmt::format("cut at {}", at);
      case 2:
        bytes.erase(at, length);
        return fmt::format("{} bytes lost at {}", length, at);
      case 3:
        bytes.insert(at, std::string(length, any_byte()));
        return fmt::format("{} bytes too many at {}", length, at);
      case 4:
        bytes.erase(0, at);
        return fmt::format("head of {} bytes lost", at);
      case 5: {
        constexpr char kFills[] = {'\0', '\xff', '\x5a'};
        bytes.replace(at, length, std::string(length, kFills[below(3)]));
        return fmt::format("{} bytes filled at {}", length, at);
      }
      default:
        for (std::size_t i = at; i < std::min(bytes.size(), at + length); ++i)
          bytes[i] = any_byte();
        return fmt::format("{} random bytes at {}", length, at);
    }
  }

  SoakRandom& random_;
};

RunResult run_within_limit(const std::vector<std::string>& arguments) {
  RunningProgram program(msprof_path(), arguments);
  const auto begin = std::chrono::steady_clock::now();
  while (!program.has_ended()) {
    if (std::chrono::steady_clock::now() - begin > kLongestCommand) {
      program.send(9);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return program.wait();
}

bool is_expected(const RunResult& run) {
  return run.exit_code == 0 || run.exit_code == 3 || run.exit_code == 4;
}

// Empty where all is well.
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
  // A folder that is no capture any more has a sentence instead.
  const bool has_sentence = imported.exit_code == 4 || imported.exit_code == 3;
  if (!has_verdict && !(has_sentence && imported.out.find("error") != std::string::npos)) {
    return "import gives no verdict: " + imported.out;
  }
  return "";
}

// Damages one of the templates and runs everything twice.
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
