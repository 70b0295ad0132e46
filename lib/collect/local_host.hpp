// LocalHost: runs applications on this machine, in a copy of the project under the user's cache
// folder, or in place. Used by the collector.
#pragma once

#include <filesystem>
#include <memory>

#include "collect/host.hpp"
#include "collect/local_process.hpp"
#include "collect/run_changes.hpp"
#include "collect/run_folder.hpp"

namespace msprof {

// Facts about this machine, as for Host::facts().
Host::Facts facts_here();

class LocalHost : public Host {
 public:
  // Runs are created below `runs`; see runs_folder().
  explicit LocalHost(std::filesystem::path runs);

  Project existing_project(const std::string& main, const std::string& folder,
                           const std::filesystem::path& scratch) override;
  RunPaths open(const Project& project) override;
  TransferTotals place(const Project& project, const std::vector<ExtraFile>& files) override;
  std::unique_ptr<RunningProgram> start(const RunCommand& command) override;
  std::optional<std::uint64_t> free_bytes() override;
  std::unique_ptr<OutputPeek> peek() override { return std::make_unique<LocalPeek>(output_); }
  Fetched fetch(const std::filesystem::path& into) override;
  std::string keep() override;
  std::string clean_up() override;

 private:
  void place_entry(const ProjectEntry& entry);
  void place_file(const ExtraFile& file);
  void close_folders(const Project& project);
  void add_libraries(LocalProgram& program) const;
  void take_capture(const std::filesystem::path& capture, const std::filesystem::path& into,
                    Fetched& fetched);
  void fetch_output(const std::filesystem::path& into, Fetched& fetched);
  void keep_unlisted(const TreeListing& listing, Fetched& fetched);
  void move_out(const std::filesystem::path& from, const std::filesystem::path& to);
  void move_back();
  std::string stay();  // keeps the run folder and returns its location

  std::filesystem::path runs_;
  bool has_unfetched_ = false;  // the application was started, and fetch() has not succeeded
  bool is_in_place_ = false;    // no copy: the application runs in the project itself
  std::unique_ptr<RunFolder> folder_;
  std::filesystem::path tree_;  // parent of the project: the application's ".."
  std::filesystem::path project_;
  std::filesystem::path output_;
  TreeListing before_;  // listing of the run folder before the start
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> moved_;  // moved by fetch()
};

}  // namespace msprof
