#include "board/transfer/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/text.hpp"
#include "board/session/config.hpp"
#include "board/transfer/transfer.hpp"

namespace msprof {

namespace {

constexpr std::size_t kMaxComponent = 255;  // NAME_MAX

bool has_control_characters(std::string_view path) {
  // Also rejects those above ASCII; in other encodings these bytes are letters.
  return has_control(path) || (is_valid_utf8(path) && printable(path) != path);
}

constexpr std::string_view kRefused = "@refused";
constexpr std::string_view kListEnd = "@end";
constexpr std::size_t kMaxPath = 4'000;  // Linux accepts 4,095 bytes

// File types in a mode, the same on every Linux.
constexpr std::uint32_t kKindMask = 0170000;
constexpr std::uint32_t kFolderKind = 0040000;
constexpr std::uint32_t kFileKind = 0100000;
constexpr std::uint32_t kLinkKind = 0120000;
constexpr std::uint32_t kPermissionMask = 07777;

// Old versions of find do not support `+`. The board omits names with control characters, which
// could forge output lines. LC_ALL=C: one byte is one character.
constexpr const char* kWithStat = R"sh(
LC_ALL=C
export LC_ALL
cd "$1" || exit 1
end=';'
find . -prune -exec stat -c %n {} + >/dev/null 2>&1 && end=+
show() {
  find "$@" -name '*[[:cntrl:]]*' -prune -exec echo @refused ';' -o \
    -exec stat -c 's %f %s %Y %Z %i %n' {} "$end" </dev/null
}
set --
while IFS= read -r name
do
  set -- "$@" "$name"
  if [ $# -ge 64 ]
  then
    show "$@"
    set --
  fi
done
[ $# -eq 0 ] || show "$@"
echo @end
)sh";
const BoardScript kListWithStat = {"listing files", kWithStat};

// Fails without stat; a folder that does not exist is empty.
const BoardScript kFirstListing = {"listing files", std::string(R"sh(
stat -c %f / >/dev/null 2>&1 || exit 1
[ -e "$1" ] || { echo @end; exit 0; }
)sh") + kWithStat};

const BoardScript kListWithLs = {"listing files", R"sh(
LC_ALL=C
export LC_ALL
cd "$1" || exit 1
set -f
show() {
  find "$@" -name '*[[:cntrl:]]*' -prune -exec echo @refused ';' -o -print </dev/null |
  while IFS= read -r name
  do
    case $name in
      (@*) echo "$name" && continue ;;
    esac
    set -- $(ls -dln "$name" 2>/dev/null)
    [ $# -lt 6 ] || printf 'l %s %s %s\n' "$1" "$5" "$name"
  done
}
while IFS= read -r name
do
  show "$name"
done
echo @end
)sh"};

template <typename Number>
bool parse_number(std::string_view word, Number& number, int base = 10) {
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data(), end, number, base);
  return error == std::errc() && at == end;
}

void set_kind(ListedFile& file, std::uint32_t mode) {
  const std::uint32_t kind = mode & kKindMask;
  file.is_special = kind != kFolderKind && kind != kFileKind && kind != kLinkKind;
  if (kind == kFolderKind) file.kind = EntryKind::folder;
  if (kind == kLinkKind) file.kind = EntryKind::link;
  file.mode = mode & kPermissionMask;
}

bool parse_stat_line(std::string_view& line, ListedFile& file) {
  std::uint32_t mode = 0;
  const bool good = parse_number(take_word(line), mode, 16) &&
                    parse_number(take_word(line), file.size_bytes) &&
                    parse_number(take_word(line), file.mtime_seconds) &&
                    parse_number(take_word(line), file.ctime_seconds) &&
                    parse_number(take_word(line), file.inode);
  set_kind(file, mode);
  return good;
}

// Parses "-rwxr-x---", optionally followed by a sign for further attributes.
bool parse_mode_text(std::string_view text, std::uint32_t& mode) {
  constexpr std::string_view kLetters = "rwxrwxrwx";
  if (text.size() < 1 + kLetters.size()) return false;
  mode = text[0] == 'd' ? kFolderKind : text[0] == '-' ? kFileKind : text[0] == 'l' ? kLinkKind : 0;
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    const char letter = text[i + 1];
    // 's' and 't' mean 'x' plus a bit that is not used here.
    const bool set = letter == kLetters[i] || letter == 's' || letter == 't';
    mode = mode | (set ? 0400U >> i : 0U);
  }
  return true;
}

bool parse_ls_line(std::string_view& line, ListedFile& file) {
  std::uint32_t mode = 0;
  if (!parse_mode_text(take_word(line), mode)) return false;
  set_kind(file, mode);
  const std::string_view size = take_word(line);
  return parse_number(size, file.size_bytes) ||
         file.is_special;  // a device has two numbers instead of a size
}

void check_entries(const TreeListing& listing) {
  if (listing.files.size() <= kMaxListedEntries) return;
  throw TooMuchSent(fmt::format("the board lists more than {} files and folders",
                                with_thousands(kMaxListedEntries)));
}

// `path` has the form that find or an SFTP server prints; "" is the listed folder itself.
void add(TreeListing& listing, std::string_view path, const ListedFile& file) {
  const std::string_view plain = plain_board_path(path);
  if (plain.empty()) return;
  if (!is_acceptable_board_path(plain)) {
    ++listing.refused;
    return;
  }
  listing.files.insert_or_assign(std::string(plain), file);
  check_entries(listing);
}

void parse_line(TreeListing& listing, std::string_view line) {
  ListedFile file;
  const std::string_view tag = take_word(line);
  const bool good =
      (tag == "s" && parse_stat_line(line, file)) || (tag == "l" && parse_ls_line(line, file));
  if (good && !line.empty()) {
    add(listing, line, file);
  } else {
    ++listing.refused;
  }
}

// Limit for the number of folders: each is listed separately, with several round trips.
constexpr std::size_t kMaxSftpFolders = 20'000;

// Returns the board's errors, without those for files that were removed during the listing.
std::string lasting_trouble(std::string_view words) {
  std::string trouble;
  for (const std::string_view line : split(words, '\n')) {
    if (line.empty() || line.find("No such file") != std::string_view::npos) continue;
    if (!trouble.empty()) trouble += "; ";
    trouble += printable(line);
  }
  return trouble;
}

class SftpLister {
 public:
  SftpLister(SftpFiles& sftp, const std::string& folder) : sftp_(sftp), folder_(folder) {}

  TreeListing list(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      if (path == ".") {
        add_all(sftp_.list(folder_), "");
      } else {
        add_one(path);
      }
    }
    return std::move(listing_);
  }

 private:
  void add_all(const std::vector<RemoteEntry>& entries, const std::string& prefix) {
    for (const RemoteEntry& entry : entries) add_entry(entry, prefix);
  }

  void add_entry(const RemoteEntry& entry, const std::string& prefix) {
    const std::string path = prefix + entry.name;
    const bool is_name = entry.name.find('/') == std::string::npos;
    if (!is_name || !is_acceptable_board_path(path) || path.size() > kMaxPath) {
      ++listing_.refused;
      return;
    }
    ListedFile file;
    file.is_special = entry.kind == RemoteKind::other;
    if (entry.kind == RemoteKind::folder) file.kind = EntryKind::folder;
    if (entry.kind == RemoteKind::link) file.kind = EntryKind::link;
    file.size_bytes = entry.size_bytes;
    file.mtime_seconds = entry.mtime_seconds;
    file.mode = entry.mode & kPermissionMask;
    listing_.files.insert_or_assign(path, file);
    check_entries(listing_);
    if (entry.kind == RemoteKind::folder) enter(path);
  }

  void enter(const std::string& path) {
    if (++folders_ > kMaxSftpFolders) {
      throw TooMuchSent(
          fmt::format("the board lists more than {} folders", with_thousands(kMaxSftpFolders)));
    }
    try {
      add_all(sftp_.list(folder_ + "/" + path), path + "/");
    } catch (const ConnectionLost&) {
      throw;
    } catch (const TooMuchSent&) {
      throw;
    } catch (const Error& error) {
      if (listing_.trouble.empty()) listing_.trouble = error.what();
    }
  }

  // Lists one path through its parent folder: SFTP reports the type of a file only in listings.
  void add_one(const std::string& path) {
    const auto slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    auto found = siblings_.find(parent);
    if (found == siblings_.end()) {
      const std::string folder = parent.empty() ? folder_ : folder_ + "/" + parent;
      std::vector<RemoteEntry> entries = sftp_.list(folder);
      held_ += entries.size();
      if (held_ > kMaxListedEntries) siblings_.clear();
      found = siblings_.emplace(parent, std::move(entries)).first;
    }
    for (const RemoteEntry& entry : found->second) {
      if (entry.name == name) add_entry(entry, parent.empty() ? "" : parent + "/");
    }
  }

  SftpFiles& sftp_;
  const std::string& folder_;
  std::map<std::string, std::vector<RemoteEntry>> siblings_;
  std::size_t held_ = 0;  // number of entries in them
  std::size_t folders_ = 0;
  TreeListing listing_;
};

}  // namespace

std::string_view objection_to_board_path(std::string_view path) {
  if (path.starts_with('/')) return "is absolute";
  if (has_control_characters(path)) return "has control characters";
  for (const std::string_view component : split(path, '/')) {
    if (component.empty()) return "has an empty name";
    if (component == "..") return "leads out of the folder";
    if (component == ".") return "has '.' as a name";
    if (component.size() > kMaxComponent) return "has a name of more than 255 bytes";
  }
  return "";
}

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view take_word(std::string_view& line) {
  const auto at = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, at);
  line.remove_prefix(std::min(at + 1, line.size()));
  return word;
}

std::string_view plain_board_path(std::string_view path) {
  while (path.starts_with("./")) {
    path.remove_prefix(2);
    while (path.starts_with('/')) path.remove_prefix(1);
  }
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path == "." ? "" : path;
}

bool is_acceptable_board_path(std::string_view path) {
  return objection_to_board_path(path).empty();
}

BoardScript listing_script(bool has_stat) {
  return has_stat ? kListWithStat : kListWithLs;
}

TreeListing parse_board_listing(std::string_view answer) {
  TreeListing listing;
  bool whole = false;
  while (!answer.empty() && !whole) {
    const std::string_view line = take_line(answer);
    if (line == kRefused) {
      ++listing.refused;
    } else if (line == kListEnd) {
      whole = true;
    } else {
      parse_line(listing, line);
    }
  }
  if (!whole) throw Error(Exit::partial_data, "the board's listing ends too early");
  return listing;
}

BoardStep listing_step(bool has_stat, const std::string& folder,
                       const std::vector<std::string>& paths) {
  BoardStep step = {.script = listing_script(has_stat), .arguments = {folder}};
  step.most_bytes = kMaxListingBytes;
  for (const std::string& path : paths) step.lines += path == "." ? ".\n" : "./" + path + "\n";
  return step;
}

BoardStep first_listing_step(const std::string& folder) {
  return {.script = kFirstListing,
          .arguments = {folder},
          .lines = ".\n",
          .most_bytes = kMaxListingBytes};
}

TreeListing list_by_shell(BoardShell& shell, bool has_stat, const std::string& folder,
                          const std::vector<std::string>& paths) {
  return listing_in(shell, folder, shell.ask_each({listing_step(has_stat, folder, paths)}).front());
}

TreeListing listing_in(const BoardShell& shell, const std::string& folder,
                       const BoardAnswer& answer) {
  if (!answer.has_succeeded()) {
    throw Error(Exit::partial_data, fmt::format("{}: cannot list {}: {}", shell.login().name(),
                                                printable(folder), answer.reason()));
  }
  try {
    TreeListing listing = parse_board_listing(answer.out);
    listing.trouble = lasting_trouble(answer.err);
    return listing;
  } catch (const TooMuchSent& error) {
    throw TooMuchSent(
        fmt::format("{}: {}: {}", shell.login().name(), printable(folder), error.what()));
  } catch (const Error& error) {
    throw error.with_context(fmt::format("{}: {}", shell.login().name(), printable(folder)));
  }
}

TreeListing list_by_sftp(SftpFiles& sftp, const std::string& folder,
                         const std::vector<std::string>& paths) {
  return SftpLister(sftp, folder).list(paths);
}

}  // namespace msprof
