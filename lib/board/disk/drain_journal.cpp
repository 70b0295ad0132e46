#include "board/disk/drain_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/atomic_file.hpp"
#include "base/durable.hpp"
#include "base/error.hpp"
#include "base/read_write.hpp"
#include "base/text.hpp"
#include "board/transfer/listing.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kJournalHead = "msprof drain 1";
constexpr std::uint64_t kMaxJournalBytes = 256 << 20;

}  // namespace

DrainJournal::DrainJournal(fs::path folder) : folder_(std::move(folder)) {
  create_output_folder(folder_.parent_path());
  if (::mkdir(folder_.c_str(), S_IRWXU) != 0 && errno != EEXIST) throw_cannot_write(folder_, errno);
  if (::mkdir((folder_ / "raw").c_str(), S_IRWXU) != 0 && errno != EEXIST)
    throw_cannot_write(folder_ / "raw", errno);
  load();
  const fs::path path = folder_ / "journal";
  fd_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd_) throw_cannot_write(path, errno);
  struct stat status = {};
  if (::fstat(fd_.get(), &status) == 0 && status.st_size == 0)
    append(std::string(kJournalHead), true);
  sync_folder(folder_);
  sync_folder(folder_.parent_path());
}

bool DrainJournal::is_one(const fs::path& file) {
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::string head(kJournalHead.size() + 1, '\0');
  return fd &&
         ::pread(fd.get(), head.data(), head.size(), 0) == static_cast<ssize_t>(head.size()) &&
         head == std::string(kJournalHead) + "\n";
}

// Ignores a last line without a line end: a crash or power failure interrupted the write.
void DrainJournal::load() {
  const fs::path path = folder_ / "journal";
  std::error_code error;
  if (!fs::exists(path, error)) return;
  const std::string text = read_text_file(path, kMaxJournalBytes);
  std::string_view rest = text;
  for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    take(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  if (!rest.empty()) fs::resize_file(path, text.size() - rest.size(), error);
}

void DrainJournal::take(std::string_view line) {
  const std::string_view verb = take_word(line);
  if (verb == "moved") {
    const auto tab = line.find('\t');
    if (tab == std::string_view::npos) return;
    const auto found = files_.find(std::string(line.substr(0, tab)));
    const std::string to(line.substr(tab + 1));
    if (found == files_.end() || !is_acceptable_board_path(to)) return;
    files_.insert_or_assign(to, found->second);
    files_.erase(found);
    return;
  }
  if (verb == "forgotten") {
    files_.erase(std::string(line));
    return;
  }
  std::uint64_t length = 0;
  std::uint64_t inode = 0;
  const bool is_punching = verb == "punching";
  if (!is_punching && verb != "freed" && verb != "kept") return;
  if (!parse_u64(take_word(line), length)) return;
  if (is_punching && !parse_u64(take_word(line), inode)) return;
  if (!is_acceptable_board_path(line)) return;
  DrainedFile& file = files_[std::string(line)];
  if (is_punching) file.inode = inode;
  if (is_punching || verb == "kept") file.length = length;
  if (verb == "freed") file.freed = std::min(length, file.length);
  file.freed = std::min(file.freed, file.length);
}

void DrainJournal::append(const std::string& line, bool flush) {
  if (const int error = write_all(fd_.get(), line + "\n"))
    throw_cannot_write(folder_ / "journal", error);
  if (flush) sync_file(fd_.get(), folder_ / "journal");
}

void DrainJournal::punching(const std::string& path, std::uint64_t inode, std::uint64_t length) {
  append(fmt::format("punching {} {} {}", length, inode, path), true);
  DrainedFile& file = files_[path];
  file.inode = inode;
  file.length = length;
}

void DrainJournal::freed(const std::string& path, std::uint64_t length) {
  append(fmt::format("freed {} {}", length, path), false);
  files_[path].freed = length;
}

void DrainJournal::kept(const std::string& path, std::uint64_t length) {
  append(fmt::format("kept {} {}", length, path), true);
  DrainedFile& file = files_[path];
  file.length = length;
  file.freed = std::min(file.freed, length);
}

void DrainJournal::moved(const std::string& from, const std::string& to) {
  const fs::path target = file(to);
  fs::create_directories(target.parent_path());
  fs::rename(file(from), target);
  sync_folder(target.parent_path());
  append(fmt::format("moved {}\t{}", from, to), true);
  const auto found = files_.find(from);
  if (found == files_.end()) return;
  files_.insert_or_assign(to, found->second);
  files_.erase(found);
}

void DrainJournal::forgotten(const std::string& path) {
  append(fmt::format("forgotten {}", path), true);
  files_.erase(path);
  std::error_code error;
  fs::remove(file(path), error);
}

}  // namespace msprof
