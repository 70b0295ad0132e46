// A task of a stream.
#pragma once

#include <memory>
#include <utility>

namespace msprof::acl {

class Stream;

class Task {
 public:
  Task() = default;
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Runs on the stream's worker thread. A result other than ACL_SUCCESS becomes the stream's error.
  // A task dropped by its stream is destroyed without having run.
  virtual int run(Stream& stream) = 0;
};

template <typename Body>
class TaskOf final : public Task {
 public:
  explicit TaskOf(Body body) : body_(std::move(body)) {}
  int run(Stream& stream) override { return body_(stream); }

 private:
  Body body_;
};

template <typename Body>
std::unique_ptr<Task> make_task(Body body) {
  return std::make_unique<TaskOf<Body>>(std::move(body));
}

}  // namespace msprof::acl
