// Shared by the tests of devices, streams, models and operators: aclInit and aclFinalize, streams
// and events, a small model.
#pragma once

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/prof_fixture.hpp"
#include "support/eventually.hpp"
#include "support/temp_folder.hpp"

namespace msprof::acl::test {

// Calls aclInit and sets a device for this thread.
class Session {
 public:
  explicit Session(int device = 0) {
    REQUIRE(aclInit(nullptr) == ACL_SUCCESS);
    REQUIRE(aclrtSetDevice(device) == ACL_SUCCESS);
  }
  ~Session() { aclFinalize(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

// A stream destroyed at the end of its scope.
class OwnStream {
 public:
  OwnStream() { REQUIRE(aclrtCreateStream(&stream_) == ACL_SUCCESS); }
  ~OwnStream() {
    if (stream_ != nullptr) aclrtDestroyStream(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  operator aclrtStream() const { return stream_; }

 private:
  aclrtStream stream_ = nullptr;
};

class OwnEvent {
 public:
  OwnEvent() { REQUIRE(aclrtCreateEvent(&event_) == ACL_SUCCESS); }
  ~OwnEvent() { aclrtDestroyEvent(event_); }
  OwnEvent(const OwnEvent&) = delete;
  OwnEvent& operator=(const OwnEvent&) = delete;

  operator aclrtEvent() const { return event_; }

 private:
  aclrtEvent event_ = nullptr;
};

// A model that runs one image of 2x4x4 through a convolution, Relu, a pool and Softmax on the CPU.
inline std::string tiny_model(int batch = 1, int max_batch = 1) {
  return R"({"format":"msprof-model","version":1,"name":"tiny","seed":3,"batch":)" +
         std::to_string(batch) + R"(,"max_batch":)" + std::to_string(max_batch) +
         R"(,"inputs":[{"name":"image","shape":[2,4,4]}],"layers":[
    {"name":"conv1","type":"Conv2D","inputs":["image"],"out_channels":3,"kernel":3,"pad":1},
    {"name":"relu1","type":"Relu","inputs":["conv1"]},
    {"name":"pool","type":"Pool","inputs":["relu1"],"mode":"avg","global":true},
    {"name":"top","type":"Softmax","inputs":["pool"],"run_on":"AA_CPU"}]})";
}

// Runs a callable of the test on a stream.
template <typename Function>
aclError on_stream(aclrtStream stream, Function& function) {
  return aclrtLaunchHostFunc(
      stream, [](void* argument) { (*static_cast<Function*>(argument))(); }, &function);
}

}  // namespace msprof::acl::test
