// Sink: sends records to the FIFO named by MSPROF_SINK, so that they need no local disk space. The
// FIFO must already have a reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace msprof::runtime {

#pragma pack(push, 1)

// Header of each chunk; the name and the data follow. A frame has at most PIPE_BUF bytes, so that
// writes to the FIFO are atomic even with other writers.
struct SinkFrame {
  char magic[4] = {'M', 'S', 'N', 'K'};
  uint16_t name_bytes = 0;
  uint16_t data_bytes = 0;
  uint64_t offset = 0;  // offset of the data in the file
};
static_assert(sizeof(SinkFrame) == 16);

#pragma pack(pop)

class Sink {
 public:
  // Opens the FIFO named by MSPROF_SINK. Null if the variable is unset, or, with a message, if the
  // FIFO has no reader. Names in the stream are relative to the folder `output`.
  static std::shared_ptr<Sink> open(const std::string& output);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Sends a chunk of the file `path` in the output folder. Returns false if the reader is gone or
  // reads nothing for two seconds; all later calls then fail, and the reason is printed once.
  // Thread-safe.
  bool write(const std::string& path, uint64_t offset, const void* bytes, std::size_t size);

 private:
  Sink(int fd, std::size_t prefix_bytes);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace msprof::runtime
