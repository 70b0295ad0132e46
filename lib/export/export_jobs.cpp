// Runs jobs on two threads, each with its own connection.
#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "export/exporter.hpp"
#include "export/product_folder.hpp"
#include "export/products.hpp"
#include "export/scope/export_style.hpp"

namespace msprof {

namespace {

// Returns the folders of `jobs` in their order, without duplicates.
std::vector<ProductFolder*> distinct_folders(const std::vector<ExportJob>& jobs) {
  std::vector<ProductFolder*> folders;
  for (const ExportJob& job : jobs) {
    ProductFolder* const folder = job.folder.get();
    const bool is_known = std::find(folders.begin(), folders.end(), folder) != folders.end();
    if (folder != nullptr && !is_known) folders.push_back(folder);
  }
  return folders;
}

}  // namespace

std::vector<ExportedFile> run_export_jobs(const TraceDb& store,
                                          const std::vector<ExportJob>& jobs) {
  const auto second = jobs.size() > 1 ? TraceDb::open(store.path()) : std::nullopt;
  std::vector<std::vector<ExportedFile>> written(jobs.size());
  std::exception_ptr error;
  try {
    in_parallel(jobs.size(), second ? 2 : 1, [&](std::size_t job, std::size_t thread) {
      interrupt::check();
      if (jobs[job].write)
        written[job] = jobs[job].write((thread == 0 ? store : *second).database());
    });
  } catch (...) {
    error = std::current_exception();
  }
  const auto folders = distinct_folders(jobs);
  // Also after an error: complete files appear.
  ProductFolder::release_all(folders);
  if (error) std::rethrow_exception(error);
  std::vector<ExportedFile> files;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    if (jobs[job].written) written[job] = jobs[job].written();
    std::move(written[job].begin(), written[job].end(), std::back_inserter(files));
    written[job].clear();
  }
  for (ProductFolder* folder : folders) folder->retire();
  return files;
}

std::vector<ExportJob> plan_all(const TraceDb& store, const std::filesystem::path& base,
                                const TimelineOptions& timeline, SummaryFormat format,
                                const std::shared_ptr<RowListener>& listener) {
  auto jobs = plan_unified_db(store, base, timeline.style);
  for (auto& job : plan_timelines(store, base, timeline)) jobs.push_back(std::move(job));
  const SummaryOptions summaries{.format = format, .style = timeline.style, .listener = listener};
  const Database& db = store.database();
  // torch_npu reads the timeline as soon as the folder has a csv file, so csv files appear last.
  const bool are_together = summary_folder(db) == timeline_folder(db) &&
                            style_for(db, timeline.style) != ExportStyle::cann5;
  for (auto& job : plan_summaries(store, base, summaries)) {
    if (are_together) job.folder->hold();
    jobs.push_back(std::move(job));
  }
  if (!jobs.empty()) add_service_files(jobs, store, base);
  return jobs;
}

std::vector<ExportedFile> export_summaries(const TraceDb& store, const std::filesystem::path& base,
                                           const SummaryOptions& options) {
  return run_export_jobs(store, plan_summaries(store, base, options));
}

std::vector<ExportedFile> export_timelines(const TraceDb& store, const std::filesystem::path& base,
                                           const TimelineOptions& options) {
  return run_export_jobs(store, plan_timelines(store, base, options));
}

}  // namespace msprof
