#include "board/transfer/transfer.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <optional>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "board/session/steps.hpp"
#include "board/transfer/incoming.hpp"
#include "board/transfer/listing.hpp"
#include "board/transfer/outgoing.hpp"
#include "board/transfer/transfer_ways.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Returns the size of a local regular file; nullopt for anything else.
std::optional<std::uint64_t> size_here(const fs::path& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

bool is_whole(const fs::path& into, const std::string& path, const ListedFile& file) {
  return size_here(into / path) == file.size_bytes;
}

// Returns the files of `there` that do not exist locally with the listed size.
TreeListing different(const TreeListing& there, const fs::path& into) {
  TreeListing result;
  for (const auto& [path, file] : there.files) {
    if (file.is_file() && !is_whole(into, path, file)) result.files.emplace(path, file);
  }
  return result;
}

std::vector<std::string> listed_paths(const TreeListing& listing) {
  std::vector<std::string> names;
  for (const auto& [path, file] : listing.files) names.push_back(path);
  return names;
}

std::string free_here(const fs::path& folder) {
  struct statvfs status = {};
  if (::statvfs(folder.c_str(), &status) != 0) return "an unknown amount";
  return human_bytes(static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize);
}

void join(std::string& text, const std::string& more) {
  if (more.empty() || text.find(more) != std::string::npos) return;
  if (!text.empty()) text += "; ";
  text += more;
}

// Compares the local files with `there`, the board's final listing of `paths`. `problem` describes
// errors of the transfer.
FetchReport sum_up(const TreeListing& there, const std::vector<std::string>& paths,
                   const std::string& problem, const fs::path& into, const Incoming& incoming) {
  FetchReport report;
  for (const auto& [path, file] : there.files) {
    if (!file.is_file()) continue;
    if (is_whole(into, path, file)) {
      ++report.files;
      report.bytes += file.size_bytes;
    } else {
      report.changed.push_back(path);
    }
  }
  if (!report.changed.empty()) report.reason = problem;
  join(report.reason, there.trouble);
  for (const std::string& path : paths) {  // paths that vanished before the fetch
    std::error_code error;
    if (path == "." || there.files.contains(path) || fs::exists(into / path, error)) continue;
    report.changed.push_back(path);
    if (report.reason.empty()) {
      report.reason = fmt::format("{} is not on the board", printable(path));
    }
  }
  report.refused = incoming.refused();
  report.examples = incoming.examples();
  return report;
}

}  // namespace

void FetchAllowance::add(const ListedFile& file) {
  ++entries;
  if (file.is_file()) bytes = saturating_sum(bytes, file.size_bytes);
}

BoardTransfer::BoardTransfer(BoardShell& shell, const BoardInfo& info, TransferWay way)
    : shell_(shell), info_(info), way_(way) {
  if (way_ != TransferWay::automatic) return;
  way_ = info.has_tar ? TransferWay::tar : info.has_sftp ? TransferWay::sftp : TransferWay::cat;
}

std::string BoardTransfer::way() const {
  if (way_ == TransferWay::tar) return "tar";
  return way_ == TransferWay::sftp ? "SFTP" : "cat";
}

TreeListing BoardTransfer::list(const std::string& folder, const std::vector<std::string>& paths) {
  return list_paths(folder, paths);
}

std::optional<BoardStep> BoardTransfer::list_step(const std::string& folder,
                                                  const std::vector<std::string>& paths) const {
  if (!lists_by_shell()) return std::nullopt;
  return listing_step(info_.has_stat, folder, paths);
}

TreeListing BoardTransfer::listing_in(const std::string& folder, const BoardAnswer& answer) const {
  return msprof::listing_in(shell_, folder, answer);
}

TreeListing BoardTransfer::list_paths(const std::string& folder,
                                      const std::vector<std::string>& paths) {
  if (!lists_by_shell()) {
    if (const auto sftp = shell_.connection().sftp()) return list_by_sftp(*sftp, folder, paths);
  }
  return list_by_shell(shell_, info_.has_stat, folder, paths);
}

// Sets `listed` to the board's listing of `paths` if it was sent together with the files.
std::string BoardTransfer::fetch_once(const std::string& folder,
                                      const std::vector<std::string>& paths, Incoming& incoming,
                                      const TransferProgress& progress, StepsUnderWay* packed,
                                      std::optional<BoardAnswer>& listed) {
  if (packed != nullptr) return take_packed(*packed, incoming, progress, listed);
  if (way_ == TransferWay::tar) {
    StepAfter after = {.step = listing_step(info_.has_stat, folder, paths)};
    const bool asks = lists_by_shell();
    std::string problem =
        fetch_by_tar(shell_, folder, paths, incoming, progress, asks ? &after : nullptr);
    listed = std::move(after.answer);
    return problem;
  }
  const TreeListing wanted = list_paths(folder, paths);
  incoming.refuse_unnamed(wanted.refused);
  return fetch_listed(folder, wanted, incoming, progress);
}

std::vector<BoardStep> BoardTransfer::pack_steps(const std::string& folder) const {
  if (way_ != TransferWay::tar || !lists_by_shell()) return {};
  return {pack_captures_step(folder), listing_step(info_.has_stat, folder, {"."})};
}

// Fetches without tar: for boards without it, and for the few files missing from a tar stream.
std::string BoardTransfer::fetch_listed(const std::string& folder, const TreeListing& wanted,
                                        Incoming& incoming, const TransferProgress& progress) {
  try {
    if (way_ == TransferWay::sftp) {
      if (const auto sftp = shell_.connection().sftp()) {
        return fetch_by_sftp(*sftp, folder, wanted, incoming, progress);
      }
    }
    return fetch_by_cat(shell_, folder, wanted, incoming, progress);
  } catch (const TooMuchSent& error) {
    incoming.drop_file();
    return error.what();
  }
}

FetchReport BoardTransfer::fetch(const std::string& folder, const std::vector<std::string>& paths,
                                 const fs::path& into, const FetchAllowance& allowed,
                                 const TransferProgress& progress, StepsUnderWay* packed) {
  try {
    Incoming incoming(into, allowed);
    std::string problem;
    std::optional<BoardAnswer> listed;
    try {
      problem = fetch_once(folder, paths, incoming, progress, packed, listed);
    } catch (const ConnectionLost&) {
      incoming.keep_part();
      throw;
    }
    TreeListing there =
        listed && listed->has_succeeded() ? listing_in(folder, *listed) : list_paths(folder, paths);
    // The listing may contain more than the paths that were packed.
    if (packed != nullptr) {
      const PathSet wanted(paths.begin(), paths.end());
      std::erase_if(there.files, [&](const auto& one) { return !is_below_any(one.first, wanted); });
    }
    const TreeListing again = different(there, into);
    if (!again.files.empty()) {
      log::verbose("{} {} not have the size that the board reports and will be fetched again{}{}",
                   counted(again.files.size(), "file"), again.files.size() == 1 ? "does" : "do",
                   problem.empty() ? "" : ": ", problem);
      incoming.begin_again();
      join(problem, fetch_listed(folder, again, incoming, progress));
      // A file that vanished meanwhile is not an error: the board's last listing counts.
      TreeListing now = list_paths(folder, listed_paths(again));
      for (const auto& [path, file] : again.files) there.files.erase(path);
      there.files.merge(now.files);
      join(there.trouble, now.trouble);
    }
    incoming.finish();
    return sum_up(there, paths, problem, into, incoming);
  } catch (const CannotWriteHere& error) {
    if (!error.is_full()) throw;
    throw_disk_full(folder, paths, into);
  }
}

void BoardTransfer::continue_part(const std::string& folder, const NewFile& file,
                                  std::uint64_t part_bytes, Incoming& incoming,
                                  const TransferProgress& progress) {
  if (info_.has_sftp || info_.may_have_sftp) {
    if (const auto sftp = shell_.connection().sftp())
      return continue_by_sftp(*sftp, folder, file, part_bytes, incoming, progress);
  }
  continue_by_tail(shell_, folder, file, part_bytes, incoming, progress);
}

void BoardTransfer::continue_parts(const std::string& folder, const TreeListing& wanted,
                                   const std::vector<std::string>& paths, const fs::path& into,
                                   const TransferProgress& progress) {
  std::vector<std::string> parts;
  for (const std::string& path : paths) {
    if (size_here(into / path).value_or(0) > 0) parts.push_back(path);
  }
  if (parts.empty()) return;
  const TreeListing there = list_paths(folder, parts);
  FetchAllowance allowed;
  for (const auto& [path, file] : wanted.files) allowed.add(file);
  Incoming incoming(into, allowed);
  for (const std::string& path : parts) {
    const std::uint64_t here = size_here(into / path).value_or(0);
    const auto before = wanted.files.find(path);
    const auto now = there.files.find(path);
    const bool is_same = before != wanted.files.end() && now != there.files.end() &&
                         now->second == before->second && here < now->second.size_bytes;
    std::error_code error;
    if (!is_same) {
      fs::remove(into / path, error);
      continue;
    }
    const ListedFile& file = now->second;
    log::verbose("{} continues at {}", printable(path), human_bytes(here));
    try {
      const NewFile whole = {path, file.mode, file.mtime_seconds, file.size_bytes};
      continue_part(folder, whole, here, incoming, progress);
    } catch (const ConnectionLost&) {
      incoming.keep_part();
      throw;
    } catch (const CannotWriteHere& problem) {
      if (!problem.is_full()) throw;
      throw_disk_full(folder, parts, into);
    } catch (const Error& problem) {
      if (problem.code() != Exit::partial_data) throw;
      log::verbose("{}: {}", printable(path), problem.what());
      incoming.drop_file();
    }
    if (!is_whole(into, path, file)) fs::remove(into / path, error);
  }
}

void BoardTransfer::throw_disk_full(const std::string& folder,
                                    const std::vector<std::string>& paths, const fs::path& into) {
  std::string needed;
  try {
    std::uint64_t bytes = 0;
    for (const auto& [path, file] : list_paths(folder, paths).files) {
      if (file.is_file() && !is_whole(into, path, file)) bytes += file.size_bytes;
    }
    needed = fmt::format(" {} are still to be fetched and", human_bytes(bytes));
  } catch (const Error& error) {
    log::verbose("{}", error.what());
  }
  throw Error(Exit::cannot_write, fmt::format("cannot write {}: the disk is full:{} {} are free "
                                              "there; choose another folder with --output",
                                              into.string(), needed, free_here(into)));
}

SendReport BoardTransfer::send(const std::string& folder, const std::vector<ProjectEntry>& entries,
                               const TransferProgress& progress, const SendPlan& plan) {
  if (!entries.empty() && way_ == TransferWay::tar)
    return send_by_tar(shell_, folder, entries, progress, plan);
  SendReport report;
  const std::vector<BoardAnswer> before = shell_.ask_each(plan.before);
  for (std::size_t i = 0; i < before.size(); ++i)
    shell_.require_ok(plan.before[i].script, before[i]);
  if (!entries.empty()) {
    const auto sftp = way_ == TransferWay::sftp ? shell_.connection().sftp() : nullptr;
    make_tree(shell_, folder, entries, report);
    for (const ProjectEntry& entry : entries) {
      if (entry.kind != EntryKind::file || !is_one_line(entry.path.string())) continue;
      interrupt::check();
      if (sftp) {
        send_file_by_sftp(shell_, *sftp, folder, entry, report, progress);
      } else {
        send_file_by_cat(shell_, folder, entry, report, progress);
      }
    }
  }
  if (plan.answers != nullptr) *plan.answers = shell_.ask_each(plan.after);
  return report;
}

}  // namespace msprof
