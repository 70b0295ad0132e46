// layouts_soak [COUNT] [SEED] [TRIAL]: one board with a random layout per trial; compares the
// layout that msprof finds with the true one. A wrong field reported as certain is a failure. Trial
// n of seed s is board s + n, so the boards of two seeds can overlap: `1000 1` are boards 1 to
// 1000, `1000 100001` those from 100001 on.
#include <fmt/format.h>

#include "import/layout/capture_samples.hpp"
#include "soak/soak.hpp"
#include "support/files.hpp"
#include "support/layouts/judge.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

layout::InferredLayout found_in(const std::vector<GeneratedJob>& jobs,
                                const layout::LayerShapes& shapes) {
  layout::BoardSamples samples;
  for (const GeneratedJob& job : jobs)
    layout::add_samples(*Session::open(job.folder), shapes, samples);
  return layout::find_layouts(samples);
}

KindVerdict judge_kind(const layout::FoundKind& found, const GeneratedJob& job) {
  const bool is_core = found.kind == "aicore";
  return judge(found, is_core ? job.aicore : job.acl_api,
               read_file(job.folder / (is_core ? job.aicore_file : job.acl_api_file)));
}

std::string wrong_in(const layout::FoundKind& found, const KindVerdict& verdict) {
  std::string wrong;
  for (const std::string& name : verdict.wrong) wrong += fmt::format(" {} {}", found.kind, name);
  return wrong;
}

// Uses a single capture, as for the figures in the manual.
std::string try_one(const GeneratedJob& job, SoakReport& report) {
  std::string wrong;
  for (const layout::FoundKind& kind : found_in({job}, {}).kinds) {
    const KindVerdict verdict = judge_kind(kind, job);
    for (const auto& [name, word] : verdict.words)
      report.count(kind.kind + " " + name + ": " + word);
    wrong += wrong_in(kind, verdict);
    const bool is_usual = job.executions >= 20 && job.layers >= 10;
    if (kind.kind != "aicore" || !is_usual) continue;
    report.count(verdict.has_main_fields ? "20 executions of 10 layers: all found"
                                         : "20 executions of 10 layers: not all found");
  }
  return wrong;
}

// Uses a second capture of the board and the shapes of the layers.
std::string try_more(const std::vector<GeneratedJob>& jobs, SoakReport& report) {
  const GeneratedJob& job = jobs.front();
  const auto shapes = layout::parse_model_info(read_file(job.model_info_file), "shapes");
  std::string wrong;
  for (const layout::FoundKind& kind : found_in(jobs, shapes).kinds) {
    const KindVerdict verdict = judge_kind(kind, job);
    for (const auto& [name, word] : verdict.words) {
      if (name.starts_with("ddr")) report.count("with shapes, two captures: " + name + ": " + word);
    }
    const std::string more = wrong_in(kind, verdict);
    if (!more.empty()) wrong += " (two captures)" + more;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 2 ? std::stoull(argv[2]) : 1;
  return run_soak(
      argc, argv, "layouts", 200, [&](std::uint64_t number, SoakRandom&, SoakReport& report) {
        const TempFolder folder;
        const auto job = make_layout_job(folder / "JOBLAYOUT", seed + number);
        std::string wrong = try_one(job, report);
        GeneratorChoice same;
        same.layers = job.layers;
        const auto second = make_layout_job(folder / "JOBSECOND", seed + number, 2, same);
        wrong += try_more({job, second}, report);
        if (!wrong.empty()) report.fail(number, "certain and wrong:" + wrong);
      });
}
