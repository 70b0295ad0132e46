#include "ssh/run_hosts.hpp"

namespace msprof {

void RunHosts::accept(const std::string& host, const HostKey& key) {
  const std::lock_guard lock(mutex_);
  accepted_.emplace(host, key);
}

std::optional<HostKey> RunHosts::find_accepted(const std::string& host) const {
  const std::lock_guard lock(mutex_);
  const auto found = accepted_.find(host);
  if (found == accepted_.end()) return std::nullopt;
  return found->second;
}

void RunHosts::refuse(const std::string& login, const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  refusals_.emplace(login, sentence);
}

std::string RunHosts::refusal(const std::string& login) const {
  const std::lock_guard lock(mutex_);
  const auto found = refusals_.find(login);
  return found == refusals_.end() ? std::string() : found->second;
}

int RunHosts::count_unanswered(const std::string& login) {
  const std::lock_guard lock(mutex_);
  return ++unanswered_[login];
}

void RunHosts::succeed(const std::string& login) {
  const std::lock_guard lock(mutex_);
  unanswered_.erase(login);
}

}  // namespace msprof
