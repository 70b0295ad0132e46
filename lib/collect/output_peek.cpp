#include "collect/output_peek.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file_reader.hpp"
#include "base/read_write.hpp"
#include "collect/arrival.hpp"
#include "collect/file_tree.hpp"

namespace msprof {

namespace fs = std::filesystem;

std::string read_peeked_part(const fs::path& file, std::uint64_t from, std::uint64_t bytes) {
  std::string text;
  // Opening a pipe would block, and a link may lead anywhere.
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return text;
  text.resize(bytes);
  text.resize(read_all_at(fd.get(), std::as_writable_bytes(std::span(text)), from));
  return text;
}

void LocalPeek::ask(const std::vector<PeekWish>& wishes, bool with_free_bytes) {
  Peeked answer;
  walk_tree(
      folder_,
      [&](const fs::path& relative, const struct stat& status) {
        if (S_ISREG(status.st_mode) && answer.files.size() < kMaxPeekedFiles)
          answer.files.push_back({relative.string(), static_cast<std::uint64_t>(status.st_size)});
        return answer.files.size() < kMaxPeekedFiles;
      },
      [](const fs::path&, int) {});
  for (const PeekWish& wish : wishes)
    answer.parts.push_back(
        {wish.path, wish.from, read_peeked_part(folder_ / wish.path, wish.from, wish.bytes)});
  if (with_free_bytes) answer.free_bytes = read_free_bytes(folder_);
  answer_ = std::move(answer);
}

std::optional<Peeked> LocalPeek::take() {
  std::optional<Peeked> answer;
  answer.swap(answer_);
  return answer;
}

}  // namespace msprof
