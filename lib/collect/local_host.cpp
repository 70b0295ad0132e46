#include "collect/local_host.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "base/findings.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/random_name.hpp"
#include "base/words.hpp"
#include "collect/arrival.hpp"
#include "collect/file_tree.hpp"
#include "collect/moved_results.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Suffix of the file in which a CANN runtime lists its folders:
// "<process>_profiling_output_record".
constexpr std::string_view kCollectorRecord = "_profiling_output_record";

[[noreturn]] void fail_to_copy(const fs::path& path, int error_number) {
  throw Error(
      Exit::cannot_write,
      fmt::format("cannot copy the project to {}: {} (set XDG_CACHE_HOME to use another folder)",
                  path.string(), errno_text(error_number)));
}

void make_folder(const fs::path& path) {
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) fail_to_copy(path, errno);
}

void set_variable(std::vector<std::string>& environment, const std::string& name,
                  const std::string& value) {
  std::erase_if(environment,
                [&](const std::string& entry) { return entry.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

void prepend(std::vector<std::string>& environment, const std::string& name,
             const std::string& folders) {
  if (folders.empty()) return;
  std::string value = folders;
  for (const std::string& entry : environment) {
    const bool is_set = entry.starts_with(name + "=") && entry.size() > name.size() + 1;
    if (is_set) value += ":" + entry.substr(name.size() + 1);
  }
  set_variable(environment, name, value);
}

// Sorts by path, but paths in the tree precede those in the output folder.
void in_order(std::vector<std::string>& paths) {
  std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    const bool a_is_first = is_below(a, kTreeName);
    return a_is_first == is_below(b, kTreeName) ? fs::path(a) < fs::path(b) : a_is_first;
  });
}

}  // namespace

Host::Facts facts_here() {
  utsname name = {};
  if (::uname(&name) != 0) return {};
  return {{"system", name.sysname},
          {"release", name.release},
          {"machine", name.machine},
          {"cores", std::to_string(std::thread::hardware_concurrency())},
          {"hostname", name.nodename}};
}

LocalHost::LocalHost(fs::path runs)
    : Host("this machine", false, facts_here()), runs_(std::move(runs)) {}

Project LocalHost::existing_project(const std::string& main, const std::string& folder,
                                    const fs::path& scratch) {
  is_in_place_ = true;
  project_ = folder;
  output_ = scratch / kOutputName;
  make_folder(output_);
  Project project;
  project.target.root = folder;
  project.target.main = main;
  return project;
}

std::optional<std::uint64_t> LocalHost::free_bytes() {
  return read_free_bytes(output_);
}

RunPaths LocalHost::open(const Project& project) {
  if (is_in_place_) return {project_.string(), output_.string()};
  const int removed = remove_stale_runs(runs_);
  if (removed > 0)
    log::verbose("removed {} from {}",
                 counted(static_cast<std::uint64_t>(removed), "unfinished run"), runs_.string());
  folder_ = std::make_unique<RunFolder>(runs_, project.target.root);
  if (const std::size_t others = folder_->others(); others > 0) {
    log::warn(
        FindingId::concurrent_run,
        "{} of {} in progress: each run has its own copy, but they distort each other's times",
        others == 1 ? "another run" : fmt::format("{} other runs", others),
        project.target.root.string() + (others == 1 ? " is" : " are"));
  }
  // An additional folder around the project, so that "../src" of a program in the project folder
  // stays inside the run.
  const fs::path name = project.target.root.filename();
  tree_ = folder_->path() / kTreeName;
  project_ = tree_ / (name.empty() ? fs::path("root") : name);
  output_ = folder_->path() / kOutputName;
  make_folder(tree_);
  make_folder(project_);
  make_folder(output_);
  return {project_.string(), output_.string()};
}

TransferTotals LocalHost::place(const Project& project, const std::vector<ExtraFile>& files) {
  if (is_in_place_) return {};
  std::set<fs::path> replaced;
  for (const ExtraFile& file : files) replaced.insert(file.path.lexically_normal());
  Progress progress("copying the project", project.bytes);
  std::uint64_t done_bytes = 0;
  for (const ProjectEntry& entry : project.entries) {
    interrupt::check();
    if (!replaced.contains(entry.path)) place_entry(entry);
    progress.update(done_bytes += entry.size_bytes);
  }
  for (const ExtraFile& file : files) place_file(file);
  close_folders(project);
  before_ = list_tree(folder_->path());
  // Without this listing, all files would count as run output.
  if (!before_.trouble.empty()) throw Error(Exit::partial_data, before_.trouble);
  return {project.file_count, project.bytes};
}

void LocalHost::place_entry(const ProjectEntry& entry) {
  const fs::path target = project_ / entry.path;
  if (entry.kind == EntryKind::folder) {
    make_folder(target);
  } else if (entry.kind == EntryKind::link) {
    if (::symlink(entry.link.c_str(), target.c_str()) != 0) fail_to_copy(target, errno);
    set_mtime(target, entry.mtime_ns);
  } else {
    const int error = copy_file_whole(entry.source, target, entry.mode, entry.mtime_ns);
    if (error == EACCES || error == EPERM || error == ENOENT) {
      // Skipped: the application could not have read the file either.
      log::warn("not copied: {}: {}", entry.path.string(), errno_text(error));
    } else if (error != 0) {
      fail_to_copy(target, error);
    }
  }
}

void LocalHost::place_file(const ExtraFile& file) {
  const fs::path target = (project_ / file.path).lexically_normal();
  if (!is_within(target, project_.parent_path())) fail_to_copy(target, EINVAL);
  // Never write through a link: it leads to the user's own file.
  for (fs::path part = target.parent_path(); part != project_.parent_path();
       part = part.parent_path()) {
    if (fs::is_symlink(part)) return;
  }
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  fs::remove(target, error);
  std::ofstream stream(target, std::ios::binary);
  stream << file.text;
  stream.close();
  if (!stream) fail_to_copy(target, errno);
}

// Sets permissions and times of folders last, because adding files changes both. Keeps the owner's
// access, so that the run can be cleaned up.
void LocalHost::close_folders(const Project& project) {
  for (auto entry = project.entries.rbegin(); entry != project.entries.rend(); ++entry) {
    if (entry->kind != EntryKind::folder) continue;
    const fs::path target = project_ / entry->path;
    ::chmod(target.c_str(), entry->mode | S_IRWXU);
    set_mtime(target, entry->mtime_ns);
  }
}

std::unique_ptr<RunningProgram> LocalHost::start(const RunCommand& command) {
  LocalProgram program;
  program.path = project_ / command.main;
  program.arguments = command.arguments;
  program.working_folder = project_ / command.working_folder;
  program.sends_stdout_to_stderr = command.sends_stdout_to_stderr;
  program.without_input = command.without_input;
  program.output_changes = command.output_changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    program.environment.emplace_back(static_cast<const char*>(*entry));
  }
  for (const std::string& entry : command.environment) {
    const auto at = entry.find('=');
    set_variable(program.environment, entry.substr(0, at), entry.substr(at + 1));
  }
  prepend(program.environment, "LD_LIBRARY_PATH", command.libraries);
  prepend(program.environment, "PYTHONPATH", command.modules);
  if (!command.acl_json.empty()) {
    set_variable(program.environment, "MSPROF_ACL_JSON",
                 (project_ / command.acl_json).lexically_normal().string());
  }
  set_variable(program.environment, "PWD", program.working_folder.string());
  if (!is_in_place_) add_libraries(program);
  auto process = std::make_unique<LocalProcess>(program);
  has_unfetched_ = true;
  return process;
}

// The lib/ folders of the copy precede all others.
void LocalHost::add_libraries(LocalProgram& program) const {
  std::string libraries;
  std::set<fs::path> seen;
  for (const fs::path& folder : {program.path.parent_path() / "lib", project_ / "lib"}) {
    std::error_code error;
    if (!fs::is_directory(folder, error) || !seen.insert(folder).second) continue;
    libraries += (libraries.empty() ? "" : ":") + folder.string();
  }
  prepend(program.environment, "LD_LIBRARY_PATH", libraries);
}

void LocalHost::move_out(const fs::path& from, const fs::path& to) {
  move_tree(from, to);
  moved_.emplace_back(from, to);
}

// Moves fetched results back into a run folder that is kept: the folder they were moved to is
// removed when the command ends.
void LocalHost::move_back() {
  std::error_code error;
  for (const auto& [from, to] : moved_) {
    if (!fs::exists(fs::symlink_status(to, error))) continue;  // already published
    try {
      move_tree(to, from);
    } catch (const Error& failed) {
      log::error("{}", failed.what());
    }
  }
  moved_.clear();
}

void LocalHost::take_capture(const fs::path& capture, const fs::path& into, Fetched& fetched) {
  const std::string name = capture.filename().string();
  const fs::path home = into / "captures" / name;
  fetched.not_fetched += drop_special_files(capture);
  move_out(capture, home);
  fetched.bytes += tree_bytes(home);
  fetched.captures.push_back({name, has_data_folder(home)});
}

// Keeps a folder that cannot be listed: its contents were not fetched and must not be removed.
void LocalHost::keep_unlisted(const TreeListing& listing, Fetched& fetched) {
  if (listing.trouble.empty()) return;
  fetched.notes.push_back(
      fmt::format("{}: the run's files were not fetched and stay {}", listing.trouble, stay()));
}

// Frameworks create PROF folders in subfolders, next to other files.
void LocalHost::fetch_output(const fs::path& into, Fetched& fetched) {
  std::vector<std::string> captures;
  std::vector<std::string> files;
  const TreeListing listing = list_tree(output_);
  // Sorted by path, so a folder precedes its contents.
  for (const auto& [path, file] : listing.files) {
    const bool is_inside =
        std::any_of(captures.begin(), captures.end(),
                    [&, &name = path](const auto& one) { return is_below(name, one); });
    if (is_inside) continue;
    if (file.is_folder() && is_capture_name(fs::path(path).filename().string())) {
      captures.push_back(path);
    } else if (file.is_file() && !path.ends_with(kCollectorRecord)) {
      files.push_back(path);
    } else if (!file.is_folder() && !file.is_file()) {
      ++fetched.not_fetched;
    }
  }
  for (const std::string& path : captures) take_capture(output_ / path, into, fetched);
  for (const std::string& path : files) {
    const fs::path home = into / "files" / path;
    std::error_code error;
    fs::create_directories(home.parent_path(), error);
    move_out(output_ / path, home);
    fetched.files.emplace_back(path);
  }
  keep_unlisted(listing, fetched);
}

Fetched LocalHost::fetch(const fs::path& into) {
  Fetched fetched;
  make_folder(into / kMovedMark);
  make_folder(into / "captures");
  make_folder(into / "files");
  if (is_in_place_) {
    fetch_output(into, fetched);
    has_unfetched_ = false;
    return fetched;
  }
  const TreeListing after = list_tree(folder_->path());
  RunChanges changes = compare_run(before_, after);
  for (const std::string& path : changes.captures)
    take_capture(folder_->path() / path, into, fetched);
  in_order(changes.files);
  in_order(changes.deleted);
  const std::string project = project_.filename().string();
  for (const std::string& path : changes.files) {
    const fs::path name = fetched_name(path, project);
    const fs::path home = into / "files" / name;
    std::error_code error;
    fs::create_directories(home.parent_path(), error);
    move_out(folder_->path() / path, home);
    fetched.bytes += static_cast<std::uint64_t>(fs::file_size(home, error));
    fetched.files.push_back(name);
  }
  for (const std::string& path : changes.deleted) {
    fetched.deleted.emplace_back(fetched_name(path, project));
  }
  fetched.not_fetched += changes.special;
  keep_unlisted(after, fetched);
  has_unfetched_ = false;
  return fetched;
}

std::string LocalHost::keep() {
  has_unfetched_ = false;
  move_back();
  return stay();
}

std::string LocalHost::stay() {
  if (is_in_place_) {
    // Moves the folder out of the scratch folder, which is removed with the run.
    const fs::path kept = output_.parent_path().parent_path().parent_path() /
                          fmt::format("profiling.kept.{}", random_name());
    std::error_code error;
    fs::rename(output_, kept, error);
    return fmt::format("in {}", error ? output_.string() : kept.string());
  }
  if (!folder_) return "";
  folder_->keep();
  return fmt::format("in {} until the next run", folder_->path().string());
}

std::string LocalHost::clean_up() {
  if (has_unfetched_) log::warn("the results were not fetched; they stay {}", keep());
  folder_.reset();
  return "";
}

}  // namespace msprof
