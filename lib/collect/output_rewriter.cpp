#include "collect/output_rewriter.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/read_write.hpp"

namespace msprof {

std::string OutputRewriter::take(std::string_view bytes) {
  held_ += bytes;
  std::string out;
  std::size_t at = 0;
  const auto& [dropped, from, to] = changes_;
  while (at < held_.size()) {
    const std::string_view rest = std::string_view(held_).substr(at);
    if (is_dropping_) {
      const std::size_t end = rest.find('\n');
      is_dropping_ = end == std::string_view::npos;
      is_at_line_start_ = !is_dropping_;
      at += is_dropping_ ? rest.size() : end + 1;
      continue;
    }
    if (is_at_line_start_ && !dropped.empty() && rest.starts_with(dropped)) {
      is_dropping_ = true;
      continue;
    }
    if (is_at_line_start_ && dropped.starts_with(rest)) break;
    if (!from.empty() && rest.starts_with(from)) {
      out += to;
      at += from.size();
      is_at_line_start_ = false;
      continue;
    }
    if (from.starts_with(rest)) break;
    is_at_line_start_ = rest.front() == '\n';
    out += rest.front();
    ++at;
  }
  held_.erase(0, at);
  return out;
}

std::string OutputRewriter::end() {
  return std::exchange(held_, {});
}

RewritingPump::RewritingPump(FileDescriptor from, int to, OutputChanges changes)
    : from_(std::move(from)), to_(to), rewriter_(std::move(changes)), thread_([this] { run(); }) {}

RewritingPump::~RewritingPump() {
  is_over_ = true;
  thread_.join();
}

void RewritingPump::run() {
  constexpr int kLookAgainMs = 50;
  std::array<char, 65536> part;
  for (;;) {
    const bool is_last = is_over_;
    pollfd ready = {from_.get(), POLLIN, 0};
    const int count = ::poll(&ready, 1, is_last ? 0 : kLookAgainMs);
    if (count == 0 && is_last) break;
    if (count <= 0) continue;
    const ssize_t got = ::read(from_.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    // Ignores write errors: the program must not stop if the reader is gone.
    write_all(to_, rewriter_.take({part.data(), static_cast<std::size_t>(got)}));
  }
  write_all(to_, rewriter_.end());
}

}  // namespace msprof
