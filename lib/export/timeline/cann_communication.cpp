// Layer communication: collectives and their tasks, by group and plane.
#include "export/products.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

class CannCommunication : public cann::Layer {
 public:
  CannCommunication()
      : Layer({.name = "communication",
               .help = "collectives and their tasks, by group and plane",
               .exists = "SELECT 1 FROM comm_op"}) {}

  void write(const Database&, const Document&, TraceJsonWriter&) const override {}
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_communication() {
  return std::make_unique<CannCommunication>();
}

}  // namespace msprof
