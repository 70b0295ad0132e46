#include "board/disk/drained_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdint>
#include <utility>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/host_name.hpp"
#include "base/read_write.hpp"
#include "base/text.hpp"
#include "board/disk/drain_journal.hpp"
#include "board/disk/drainer.hpp"
#include "collect/file_tree.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Arguments: $1 msprof's folder, $2 run. Prints "drained" and the contents of .drained, if found.
const BoardScript kDrainNoteOf = {"looking for data downloaded during the run", R"sh(
cd "$1" || exit 1
for place in "kept/$2" "kept/$2/profiling" "runs/$2/profiling"; do
  [ -e "$place/.drained" ] || continue
  echo drained
  dd if="$place/.drained" bs=4096 count=1 2>/dev/null
  break
done
exit 0
)sh"};

constexpr std::string_view kDrainedAnswer = "drained\n";
constexpr std::string_view kDrainedPrefix = "drained-";

// Returns the paths of incomplete files, each with the number of bytes stored locally.
std::vector<std::pair<std::string, std::uint64_t>> incomplete_files(const DrainJournal& journal) {
  std::vector<std::pair<std::string, std::uint64_t>> found;
  for (const auto& [path, file] : journal.files()) {
    std::error_code error;
    const std::uint64_t here = fs::file_size(journal.file(path), error);
    if (error || here < file.length) found.emplace_back(path, error ? 0 : here);
  }
  return found;
}

std::string shortage(const DrainJournal& journal, const std::string& path, std::uint64_t here) {
  return fmt::format("{} has only {} of the {} bytes of {} downloaded during the run",
                     journal.folder().string(), here, journal.files().at(path).length,
                     printable(path));
}

std::uint64_t count_zero_bytes(const fs::path& path, std::uint64_t size) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) throw Error(Exit::cannot_write, fmt::format("cannot read {}", path.string()));
  std::string block(kDrainBlock, '\0');
  std::uint64_t zeros = 0;
  // The first block is never freed.
  for (std::uint64_t at = kDrainBlock; size - at >= kDrainBlock && at < size; at += kDrainBlock) {
    const auto bytes = std::as_writable_bytes(std::span(block));
    if (read_all_at(fd.get(), bytes, at) < bytes.size()) return zeros;
    if (block.find_first_not_of('\0') == std::string::npos) zeros += kDrainBlock;
  }
  return zeros;
}

}  // namespace

std::string drained_folder_name(const std::string& run) {
  return std::string(kDrainedPrefix) + run;
}

std::string drain_place_text(const fs::path& folder) {
  const std::string name = own_host_name();
  return fmt::format("{}:{}", name.empty() ? "the machine of msprof" : printable(name),
                     printable(folder.string()));
}

DrainPlace parse_drain_place(std::string_view text, const std::string& run) {
  const std::string_view line = trim(text);
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || printable(line) != line) return {};
  const fs::path folder(line.substr(colon + 1));
  if (!folder.is_absolute() || folder.lexically_normal() != folder ||
      folder.filename() != drained_folder_name(run)) {
    return {};
  }
  return {std::string(line.substr(0, colon)), folder};
}

bool is_drained_folder(const fs::path& folder, const std::string& run, bool only_own) {
  std::error_code error;
  if (folder.filename() != drained_folder_name(run) || fs::canonical(folder, error) != folder ||
      error) {
    return false;
  }
  const auto is_fine = [&](const struct stat& status) {
    return (S_ISDIR(status.st_mode) || S_ISREG(status.st_mode)) &&
           (!only_own || status.st_uid == ::geteuid());
  };
  struct stat top = {};
  struct stat journal = {};
  if (::lstat(folder.c_str(), &top) != 0 || !is_fine(top) || !S_ISDIR(top.st_mode) ||
      ::lstat((folder / "journal").c_str(), &journal) != 0 || !S_ISREG(journal.st_mode) ||
      !DrainJournal::is_one(folder / "journal")) {
    return false;
  }
  bool all_fine = true;
  walk_tree(
      folder,
      [&](const fs::path&, const struct stat& status) {
        all_fine = all_fine && is_fine(status);
        return all_fine;
      },
      [&](const fs::path&, int) { all_fine = false; });
  return all_fine;
}

fs::path find_drained_folder(const DrainPlace& place, const std::string& run,
                             const fs::path& output) {
  fs::path in_output = output / drained_folder_name(run);
  if (is_drained_folder(in_output, run, false)) return in_output;
  // Another machine may have chosen this path: it can name any file.
  const bool is_this_machine = place.machine == printable(own_host_name());
  if (is_this_machine && is_drained_folder(place.folder, run, true)) return place.folder;
  return {};
}

std::vector<std::string> missing_from(const fs::path& folder) {
  const DrainJournal journal(folder);
  std::vector<std::string> sentences;
  for (const auto& [path, here] : incomplete_files(journal))
    sentences.push_back(shortage(journal, path, here));
  return sentences;
}

std::vector<std::string> cut_to_what_is_here(const fs::path& folder) {
  DrainJournal journal(folder);
  std::vector<std::string> sentences;
  for (const auto& [path, here] : incomplete_files(journal)) {
    sentences.push_back(shortage(journal, path, here));
    const std::uint64_t whole = here / kDrainBlock * kDrainBlock;
    if (whole > kDrainBlock) {
      journal.kept(path, whole);
    } else {
      journal.forgotten(path);
    }
  }
  return sentences;
}

DrainedRun find_drained_run(BoardLink& link, const fs::path& output, bool force) {
  const BoardAnswer answer = link.shell().ask(kDrainNoteOf, {link.info().folder, link.run()});
  if (!answer.has_succeeded()) {
    throw Error(Exit::board_unreachable,
                fmt::format("{}: looking for the recording of the run {}: {}", link.name(),
                            link.run(), answer.reason()));
  }
  const std::string_view text = answer.out;
  const bool is_drained = text.starts_with(kDrainedAnswer);
  const DrainPlace place =
      is_drained ? parse_drain_place(text.substr(kDrainedAnswer.size()), link.run()) : DrainPlace();
  DrainedRun run;
  run.folder = find_drained_folder(place, link.run(), output);
  if (run.folder.empty()) {
    if (!is_drained) return run;
    const std::string where = place.folder.empty()
                                  ? fmt::format("a folder {} that its note does not list",
                                                drained_folder_name(link.run()))
                                  : fmt::format("{} on {}", place.folder.string(), place.machine);
    run.gap = fmt::format(
        "the data downloaded during the run {}, which may no longer be on {}, is in {}, which does "
        "not exist here",
        link.run(), link.name(), where);
  } else if (const auto missing =
                 force ? cut_to_what_is_here(run.folder) : missing_from(run.folder);
             !missing.empty()) {
    run.gap = missing.front();
    if (missing.size() > 1)
      run.gap += fmt::format(", and {} more are incomplete", missing.size() - 1);
  }
  if (run.gap.empty() || force) return run;
  throw Error(Exit::nothing_to_do,
              fmt::format("{}: nothing was fetched, and all data stays on {}: fetch on the machine "
                          "with that folder, or copy it into {} (--force fetches the available "
                          "data and lists what is missing)",
                          run.gap, link.name(), output.string()));
}

std::vector<std::string> name_gaps(const fs::path& folder) {
  std::vector<std::string> sentences;
  walk_tree(
      folder,
      [&](const fs::path& path, const struct stat& status) {
        if (!S_ISREG(status.st_mode)) return S_ISDIR(status.st_mode) != 0;
        const auto size = static_cast<std::uint64_t>(status.st_size);
        const std::uint64_t zeros = count_zero_bytes(folder / path, size);
        if (zeros > 0) {
          sentences.push_back(
              fmt::format("{}: {} of its {} bytes are missing and replaced by zeros, unless the "
                          "application wrote zeros there",
                          printable(path.string()), zeros, size));
        }
        return true;
      },
      [&](const fs::path& path, int) {
        sentences.push_back(fmt::format("{}: cannot be read", printable(path.string())));
      });
  return sentences;
}

}  // namespace msprof
