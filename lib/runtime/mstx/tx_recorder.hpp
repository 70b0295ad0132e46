// Converts mstx calls to records: applies the rules for messages, domains and ids. Independent of
// the client's tables and of the output. Every function may be called by any thread at any time and
// never throws.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/mstx/domain_filter.hpp"
#include "runtime/mstx/tx_sink.hpp"

namespace msprof::mstx {

// Longer messages are truncated.
inline constexpr std::size_t kMaxMessageBytes = 16384;
// A name, including its terminating zero, must fit.
inline constexpr std::size_t kDomainNameBytes = 1024;
inline constexpr std::size_t kMaxDomains = 1024;
// Maximum number of open ranges; more are not recorded.
inline constexpr std::size_t kMaxOpenRanges = std::size_t{1} << 20;

class TxRecorder {
 public:
  // A domain created by the program. It lives as long as the recorder, so a stale handle is
  // harmless.
  class Domain;

  TxRecorder(TxSink& sink, DomainFilter filter);
  ~TxRecorder();
  TxRecorder(const TxRecorder&) = delete;
  TxRecorder& operator=(const TxRecorder&) = delete;

  // These functions use the domain "default".
  void mark(const char* message, void* stream);
  std::uint64_t start_range(const char* message, void* stream);
  void end_range(std::uint64_t id);

  // Returns the same handle for the same name. Null if the name is null, empty, too long or
  // "default", or if there are already kMaxDomains.
  Domain* create_domain(const char* name);
  // The handle is invalid from then on, until a domain with its name is created again.
  void destroy_domain(Domain* domain);
  // The following functions do nothing if the handle is invalid or the domain is not recorded.
  void mark(Domain* domain, const char* message, void* stream);
  std::uint64_t start_range(Domain* domain, const char* message, void* stream);
  // A range can only be ended in the domain in which it was started.
  void end_range(Domain* domain, std::uint64_t id);

  // For a forked child: other threads of the parent may have been inside these functions.
  void forget_ranges();

 private:
  struct Range;
  struct Ranges;

  bool is_known(const Domain* domain) const;
  void mark_in(const Domain& domain, const char* message, void* stream);
  std::uint64_t start_in(const Domain& domain, const char* message, void* stream);
  void end_in(const Domain& domain, std::uint64_t id);
  void write(MsprofTxWire& record, const Domain& domain, std::string_view message);

  TxSink& sink_;
  const DomainFilter filter_;
  std::uint32_t process_id_;
  std::mutex domains_mutex_;
  std::atomic<std::size_t> domain_count_{1};  // the first is "default"
  std::unique_ptr<Domain[]> domains_;
  std::atomic<std::size_t> open_ranges_{0};
  std::unique_ptr<Ranges> ranges_;
};

}  // namespace msprof::mstx
