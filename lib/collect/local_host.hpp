// LocalHost: runs applications on this machine, on a copy of the project under the user's cache
// folder. For the collector.
#pragma once

#include <filesystem>
#include <memory>

#include "collect/file_tree.hpp"
#include "collect/host.hpp"
#include "collect/run_folder.hpp"

namespace msprof {

class LocalHost : public Host {
 public:
  // Runs take place below `runs`; see runs_folder().
  explicit LocalHost(std::filesystem::path runs);

  std::string name() const override { return "this machine"; }
  bool is_board() const override { return false; }
  Project existing_project(const std::string& main, const std::string& folder,
                           const std::filesystem::path& scratch) override;
  RunPlace open(const Project& project) override;
  Placed place(const Project& project, const std::vector<PlacedFile>& files) override;
  std::unique_ptr<RunningProgram> start(const RunCommand& command) override;
  std::optional<std::uint64_t> free_bytes() override;
  Fetched fetch(const std::filesystem::path& into) override;
  std::string keep() override;
  void clean_up() override;

 private:
  void place_entry(const ProjectEntry& entry);
  void place_file(const PlacedFile& file);
  void close_folders(const Project& project);
  void fetch_captures(const std::filesystem::path& from, const std::filesystem::path& into,
                      Fetched& fetched);
  void find_stray_captures(const std::filesystem::path& into, Fetched& fetched);
  bool is_fetched(const std::filesystem::path& path) const;
  std::filesystem::path name_at_home(const std::filesystem::path& in_tree) const;
  void fetch_files(const std::filesystem::path& into, Fetched& fetched);

  std::filesystem::path runs_;
  std::unique_ptr<RunFolder> folder_;
  std::filesystem::path tree_;  // around the project: the application's ".."
  std::filesystem::path project_;
  std::filesystem::path output_;
  Manifest before_;
  // Captures that came home; across file systems they stay here too until all has arrived.
  std::vector<std::filesystem::path> fetched_captures_;
};

}  // namespace msprof
