// Layer step_trace: iterations of models, with forward and backward pass.
#include "export/products.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

class CannSteps : public cann::Layer {
 public:
  CannSteps()
      : Layer({.name = "step_trace",
               .help = "iterations of models, with forward and backward pass",
               .exists = "SELECT 1 FROM iteration",
               .own_document = "step_trace"}) {}

  void write(const Database&, const Document&, TraceJsonWriter&) const override {}
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_steps() {
  return std::make_unique<CannSteps>();
}

}  // namespace msprof
