#include "support/network_proxy.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "support/bell.hpp"
#include "support/proxy_lane.hpp"

namespace msprof::test {

namespace {

// Disables Nagle's algorithm, whose wait for more data would add a delay.
void prepare(const Descriptor& socket) {
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
}

void close_with_reset(Descriptor& socket) {
  const linger at_once = {1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket = Descriptor();
}

struct Connection {
  Connection(Descriptor client_socket, Descriptor server_socket, ProxyClock::duration delay,
             ProxyRate& up_rate, ProxyRate& down_rate)
      : client(std::move(client_socket)),
        server(std::move(server_socket)),
        up(client.get(), server.get(), delay, up_rate),
        down(server.get(), client.get(), delay, down_rate) {}

  std::uint64_t passed_bytes(Direction direction) const {
    return (direction != Direction::down ? up.passed_bytes() : 0) +
           (direction != Direction::up ? down.passed_bytes() : 0);
  }
  // Returns true once both directions are finished, or one is broken.
  bool over() const { return up.broken() || down.broken() || (up.done() && down.done()); }
  bool broken() const { return up.broken() || down.broken(); }

  void close(CutKind kind) {
    for (Descriptor* socket : {&client, &server}) {
      if (kind == CutKind::reset) {
        close_with_reset(*socket);
      } else {
        ::shutdown(socket->get(), SHUT_WR);
        *socket = Descriptor();
      }
    }
  }

  Descriptor client;
  Descriptor server;
  ProxyLane up;
  ProxyLane down;
  bool was_answered = false;  // an answer arrived since the client last sent data
  // Earliest time for an answer to the data that started the latest round trip.
  ProxyClock::time_point answer_due{};
};

}  // namespace

class NetworkProxy::Engine {
 public:
  Engine(std::uint16_t target_port, const Line& line)
      : target_port_(target_port),
        delay_(line.round_trip / 2),
        cut_(line.cut),
        cut_every_(line.cut_every),
        next_cut_(ProxyClock::now() + line.cut_every),
        up_rate_(line.bytes_per_second),
        down_rate_(line.bytes_per_second),
        port_(line.port == 0 ? ReservedPort() : ReservedPort(line.port)) {
    listen();
    thread_ = std::thread([this] { run(); });
  }

  ~Engine() {
    order([this] { stopped_ = true; });
    thread_.join();
  }

  // Runs `task` on the engine's thread between two rounds.
  void order(const std::function<void()>& task) {
    std::unique_lock lock(mutex_);
    task_ = &task;
    bell_.ring();
    done_.wait(lock, [this] { return task_ == nullptr; });
  }

  void listen() { listener_ = port_.listen(); }
  void refuse(bool refused) {
    if (refused) {
      listener_ = Descriptor();
    } else if (listener_.get() < 0) {
      listen();
    }
  }
  void freeze(bool frozen) { frozen_ = frozen; }
  void cut_all(CutKind kind) {
    for (auto& connection : connections_) connection.close(kind);
    cuts += static_cast<int>(connections_.size());
    connections_.clear();
  }
  std::uint16_t port() const { return port_.number(); }

  std::atomic<std::uint64_t> bytes_up = 0;
  std::atomic<std::uint64_t> bytes_down = 0;
  std::atomic<int> accepted = 0;
  std::atomic<int> cuts = 0;
  std::atomic<int> turns = 0;
  std::atomic<int> round_trips = 0;

 private:
  void run() {
    while (!stopped_) {
      const auto ready = wait();
      if (ready.bell) take_order();
      if (ready.listener) accept();
      cut_when_due();
      move_bytes();
    }
  }

  struct Ready {
    bool bell = false;
    bool listener = false;
  };

  Ready wait() {
    std::vector<pollfd> fds = {{bell_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    const auto now = ProxyClock::now();
    std::optional<ProxyClock::time_point> due;
    if (!frozen_) {
      for (const auto& connection : connections_) {
        for (const ProxyLane* lane : {&connection.up, &connection.down}) {
          if (lane->wants_to_read()) fds.push_back({lane->from(), POLLIN, 0});
          if (lane->can_write(now)) {
            fds.push_back({lane->to(), POLLOUT, 0});
          } else if (const auto next = lane->next_due()) {
            due = due ? std::min(*due, *next) : *next;
          }
        }
      }
    }
    if (cut_every_.count() > 0) due = due ? std::min(*due, next_cut_) : next_cut_;
    timespec limit = {};
    if (due) {
      const auto left = std::max(ProxyClock::duration::zero(), *due - now);
      limit.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(left).count();
      limit.tv_nsec = (left % std::chrono::seconds(1)).count();
    }
    ::ppoll(fds.data(), fds.size(), due ? &limit : nullptr, nullptr);
    return {fds[0].revents != 0, fds[1].revents != 0};
  }

  void cut_when_due() {
    if (cut_every_.count() == 0 || ProxyClock::now() < next_cut_) return;
    next_cut_ = ProxyClock::now() + cut_every_;
    cut_all(CutKind::reset);
  }

  void take_order() {
    bell_.quieten();
    const std::scoped_lock lock(mutex_);
    if (task_ != nullptr) (*task_)();
    task_ = nullptr;
    done_.notify_all();
  }

  void accept() {
    Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client.get() < 0) return;
    ++accepted;
    try {
      Descriptor server = connect_to_loopback(target_port_);
      prepare(client);
      prepare(server);
      connections_.emplace_back(std::move(client), std::move(server), delay_, up_rate_, down_rate_);
      begin_round_trip(connections_.back(), ProxyClock::now());
    } catch (const std::system_error&) {
      close_with_reset(client);
    }
  }

  void move_bytes() {
    for (auto connection = connections_.begin(); !frozen_ && connection != connections_.end();) {
      const bool ended = move_bytes(*connection);
      connection = ended ? connections_.erase(connection) : std::next(connection);
    }
  }

  // Returns true if the connection has ended.
  bool move_bytes(Connection& connection) {
    const auto now = ProxyClock::now();
    for (ProxyLane* lane : {&connection.up, &connection.down}) {
      const bool is_up = lane == &connection.up;
      const std::uint64_t passed = lane->passed_bytes();
      if (lane->wants_to_read()) {
        const std::size_t count = lane->read(now, buffer_);
        (is_up ? bytes_up : bytes_down) += count;
        if (is_up && count > 0) count_turn(connection, now);
      }
      lane->write(now, bytes_until_cut(connection, is_up));
      if (!is_up && lane->passed_bytes() > passed) connection.was_answered = true;
    }
    if (cut_is_due(connection)) {
      if (cut_->kind == CutKind::freeze) {
        frozen_ = true;
        ++cuts;
        return false;
      }
      connection.close(cut_->kind);
      if (++cuts >= cut_->connections && cut_->refuse_afterwards) refuse(true);
      return true;
    }
    if (!connection.over()) return false;
    if (connection.broken()) connection.close(CutKind::reset);
    return true;
  }

  void count_turn(Connection& connection, ProxyClock::time_point now) {
    if (!std::exchange(connection.was_answered, false)) return;
    ++turns;
    if (now >= connection.answer_due) begin_round_trip(connection, now);
  }
  void begin_round_trip(Connection& connection, ProxyClock::time_point now) {
    ++round_trips;
    connection.answer_due = now + 2 * delay_;
  }

  bool still_cuts() const { return cut_ && cuts < cut_->connections; }
  bool cut_is_due(const Connection& connection) const {
    return still_cuts() && connection.passed_bytes(cut_->direction) >= cut_->after_bytes;
  }
  std::uint64_t bytes_until_cut(const Connection& connection, bool up) const {
    const bool counts = still_cuts() && cut_->direction != (up ? Direction::down : Direction::up);
    if (!counts) return std::numeric_limits<std::uint64_t>::max();
    return cut_->after_bytes - connection.passed_bytes(cut_->direction);
  }

  const std::uint16_t target_port_;
  const ProxyClock::duration delay_;
  const std::optional<Cut> cut_;
  const std::chrono::milliseconds cut_every_;
  ProxyClock::time_point next_cut_;
  ProxyRate up_rate_;
  ProxyRate down_rate_;
  ReservedPort port_;
  Descriptor listener_;
  std::list<Connection> connections_;
  std::vector<char> buffer_ = std::vector<char>(256 << 10);
  bool frozen_ = false;
  bool stopped_ = false;

  Bell bell_;
  std::mutex mutex_;
  std::condition_variable done_;
  const std::function<void()>* task_ = nullptr;
  std::thread thread_;
};

NetworkProxy::NetworkProxy(std::uint16_t target_port, std::chrono::microseconds round_trip,
                           const std::optional<Cut>& cut)
    : NetworkProxy(target_port, Line{.round_trip = round_trip, .cut = cut}) {}

NetworkProxy::NetworkProxy(std::uint16_t target_port, const Line& line)
    : engine_(std::make_unique<Engine>(target_port, line)) {}

NetworkProxy::~NetworkProxy() = default;

std::uint16_t NetworkProxy::port() const {
  return engine_->port();
}

std::uint64_t NetworkProxy::bytes_up() const {
  return engine_->bytes_up;
}

std::uint64_t NetworkProxy::bytes_down() const {
  return engine_->bytes_down;
}

int NetworkProxy::connections() const {
  return engine_->accepted;
}

int NetworkProxy::turns() const {
  return engine_->turns;
}

int NetworkProxy::round_trips() const {
  return engine_->round_trips;
}

int NetworkProxy::cuts() const {
  return engine_->cuts;
}

void NetworkProxy::cut_now(CutKind kind) {
  engine_->order([&] { engine_->cut_all(kind); });
}

void NetworkProxy::refuse(bool refused) {
  engine_->order([&] { engine_->refuse(refused); });
}

void NetworkProxy::freeze(bool frozen) {
  engine_->order([&] { engine_->freeze(frozen); });
}

}  // namespace msprof::test
