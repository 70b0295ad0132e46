// Sink: records straight into a stream, MSPROF_SINK, so that they need no space on this machine's
// disk. The stream is a FIFO that somebody reads already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace msprof::runtime {

#pragma pack(push, 1)

// In front of each piece; the name and the bytes follow. Frames are at most PIPE_BUF long, which a
// FIFO takes whole or not at all, whoever else writes to it.
struct SinkFrame {
  char magic[4] = {'M', 'S', 'N', 'K'};
  uint16_t name_bytes = 0;
  uint16_t data_bytes = 0;
  uint64_t offset = 0;  // of the bytes in the file
};
static_assert(sizeof(SinkFrame) == 16);

#pragma pack(pop)

class Sink {
 public:
  // Opens what MSPROF_SINK names; null where it names nothing, or nobody reads it, which is said.
  // `output`: the folder to which names are relative.
  static std::shared_ptr<Sink> open(const std::string& output);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Thread-safe. `path` lies in the output folder. False where its reader is gone, or takes nothing
  // for two seconds: then for good, and that is said once.
  bool write(const std::string& path, uint64_t offset, const void* bytes, std::size_t size);

 private:
  Sink(int fd, std::size_t prefix_bytes);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace msprof::runtime
