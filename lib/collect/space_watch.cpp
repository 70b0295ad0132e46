#include "collect/space_watch.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/arrival.hpp"

namespace msprof {

namespace {

constexpr std::uint64_t kFullBytes = 1'000'000;

}  // namespace

SpaceWatch::SpaceWatch(Host& host, std::filesystem::path output)
    : host_(host),
      output_(std::move(output)),
      interval_(host.is_board() ? 10 : 1),
      next_(Clock::now() + interval_) {}

int SpaceWatch::level_of(std::uint64_t free_bytes) {
  return free_bytes < kNoSpaceBytes ? 2 : free_bytes < kLittleSpaceBytes ? 1 : 0;
}

void SpaceWatch::look() {
  if (Clock::now() < next_) return;
  look_now();
}

void SpaceWatch::look_now() {
  look_at_host();
  if (host_.is_board()) look_here();
  next_ = Clock::now() + interval_;
}

void SpaceWatch::look_at_host() {
  const auto free = host_.free_bytes();
  if (!free) return;
  run_full_ = run_full_ || *free < kFullBytes;
  const int level = level_of(*free);
  if (level <= said_host_) return;
  said_host_ = level;
  log::warn("{} free where the run writes on {}; nothing more is recorded when the disk is full",
            human_bytes(*free), host_.name());
}

void SpaceWatch::look_here() {
  const auto free = free_bytes_of(output_);
  if (!free) return;
  const int level = level_of(*free);
  if (level <= said_here_) return;
  said_here_ = level;
  log::warn("{} free in {}, where the results arrive (--output names another folder)",
            human_bytes(*free), output_.string());
}

}  // namespace msprof
