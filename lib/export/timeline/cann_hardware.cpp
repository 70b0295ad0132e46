// Layer ascend_hardware: tasks on the device, a stream each.
#include "export/products.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

class CannHardware : public cann::Layer {
 public:
  CannHardware()
      : Layer({.name = "ascend_hardware",
               .help = "tasks on the device, a stream each",
               .exists = "SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL"}) {}

  void write(const Database&, const Document&, TraceJsonWriter&) const override {}
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_hardware() {
  return std::make_unique<CannHardware>();
}

}  // namespace msprof
