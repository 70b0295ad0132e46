#include "board/link.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "base/interrupt.hpp"
#include "base/log.hpp"

namespace msprof {

namespace {

constexpr int kMostFruitlessLosses = 3;

std::string new_run_name() {
  return fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::gmtime(std::time(nullptr)), ::getpid());
}

}  // namespace

BoardLink::BoardLink(const BoardConfig& config, double reconnect_seconds)
    : shell_(config.login),
      board_dir_(config.board_dir),
      reconnect_seconds_(reconnect_seconds),
      run_(new_run_name()) {}

void BoardLink::open(bool force) {
  shell_.connect();
  facts_ = look_at_board(shell_, board_dir_);
  log::info("{}: {}", name(), facts_.in_one_line());
  log::verbose("logged in with {}", shell_.connection().login_method());
  keeper_ = std::make_unique<BoardKeeper>(shell_, facts_, run_, reconnect_seconds_, force);
}

void BoardLink::recover() {
  const interrupt::Aside aside;
  keeper_.reset();
  log::info("looking for {} again, for {} s at most", name(), reconnect_seconds_);
  if (!shell_.reconnect(reconnect_seconds_)) {
    throw ConnectionLost(fmt::format(
        "the connection to {} was lost, and the board could not be reached again within {} s "
        "(--reconnect S waits longer). What is there of the run is ended by the board itself; "
        "what it recorded is then in {} there",
        name(), reconnect_seconds_, kept_folder()));
  }
  keeper_ = std::make_unique<BoardKeeper>(shell_, facts_, run_, reconnect_seconds_, false);
  log::info("connected to {} again", name());
}

void BoardLink::persistently(const std::function<void()>& work,
                             const std::function<std::uint64_t()>& progress) {
  std::uint64_t before = progress();
  int fruitless = 0;
  for (;;) {
    try {
      work();
      return;
    } catch (const ConnectionLost& error) {
      const std::uint64_t now = progress();
      fruitless = now > before ? 0 : fruitless + 1;
      before = now;
      if (fruitless >= kMostFruitlessLosses || !keeper_) throw;
      log::warn("{}", error.what());
      recover();
    }
  }
}

void BoardLink::close() {
  try {
    if (keeper_ && shell_.is_connected()) keeper_->release();
  } catch (const std::exception& error) {
    log::verbose("{}", error.what());
  }
  keeper_.reset();
  shell_.disconnect();
}

}  // namespace msprof
