#include "support/loop_disk.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <stdexcept>

#include "support/files.hpp"
#include "support/require.hpp"
#include "support/run_program.hpp"

namespace msprof::test {

namespace {

// The smallest size that mkfs.xfs accepts; the file is sparse.
constexpr std::uintmax_t kDiskBytes = std::uintmax_t{320} << 20;

void run(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  const RunResult result = run_program("/usr/bin/env", arguments);
  if (result.exit_code != 0) throw std::runtime_error(program + ": " + result.err);
}

}  // namespace

bool LoopDisk::is_available_or_skip(const std::string& kind) {
  std::string why = "run it as root where there are loop devices";
  bool is_there = false;
  try {
    const LoopDisk disk(kind);
    is_there = true;
  } catch (const std::exception& error) {
    why = error.what();
  }
  return require_or_skip("loop", is_there, "no " + kind + " in a file can be mounted here: " + why);
}

LoopDisk::LoopDisk(const std::string& kind) : kind_(kind) {
  std::filesystem::create_directory(path());
  write_file(image(), "");
  std::filesystem::resize_file(image(), kDiskBytes);
  run("mkfs." + kind, {"-q", image().string()});
  // Nothing is written to the disk automatically during a test.
  mount(kind == "ext4" ? "loop,commit=600" : "loop");
}

LoopDisk::LoopDisk(const std::string& kind, const std::filesystem::path& image) : kind_(kind) {
  std::filesystem::create_directory(path());
  run("cp", {"--sparse=always", image.string(), this->image().string()});
  // The copy has the same UUID as the original.
  mount(kind == "xfs" ? "loop,nouuid" : "loop");
}

LoopDisk::~LoopDisk() {
  if (mounted_) ::umount2(path().c_str(), MNT_DETACH);
}

void LoopDisk::mount(const std::string& options) {
  run("mount", {"-t", kind_, "-o", options, this->image().string(), path().string()});
  mounted_ = true;
}

void LoopDisk::sync() const {
  const int fd = ::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_done = fd >= 0 && ::syncfs(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (!is_done) throw std::runtime_error("the disk cannot be synced");
}

std::unique_ptr<LoopDisk> LoopDisk::cut() const {
  return std::make_unique<LoopDisk>(kind_, image());
}

}  // namespace msprof::test
