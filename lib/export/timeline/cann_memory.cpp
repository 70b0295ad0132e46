// Layer memory: device memory that operators hold.
#include "export/products.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

class CannMemory : public cann::Layer {
 public:
  CannMemory()
      : Layer({.name = "memory",
               .help = "device memory that operators hold",
               .exists = "SELECT 1 FROM memory_event",
               .is_default = false}) {}

  void write(const Database&, const Document&, TraceJsonWriter&) const override {}
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_memory() {
  return std::make_unique<CannMemory>();
}

}  // namespace msprof
