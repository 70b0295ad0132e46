// OutputRewriter: applies OutputChanges to a program's output on its way to stdout. Used by
// LocalProcess.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "base/file_reader.hpp"
#include "collect/host.hpp"

namespace msprof {

// Rewrites a stream that arrives in chunks. Holds back only bytes that may be part of a match, so
// that prompts appear immediately.
class OutputRewriter {
 public:
  explicit OutputRewriter(OutputChanges changes) : changes_(std::move(changes)) {}

  std::string take(std::string_view bytes);
  // Returns the held bytes at the end of the stream.
  std::string end();

 private:
  OutputChanges changes_;
  std::string held_;
  bool is_at_line_start_ = true;
  bool is_dropping_ = false;
};

// Copies a pipe to `to` in a thread, rewritten.
class RewritingPump {
 public:
  RewritingPump(FileDescriptor from, int to, OutputChanges changes);
  // Copies the remaining data in the pipe; does not wait for processes that keep it open.
  ~RewritingPump();
  RewritingPump(const RewritingPump&) = delete;
  RewritingPump& operator=(const RewritingPump&) = delete;

 private:
  void run();

  FileDescriptor from_;
  int to_;
  OutputRewriter rewriter_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;  // last member, because the thread uses the others
};

}  // namespace msprof
