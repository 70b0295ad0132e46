// Layer cann: calls on the host, a thread each.
#include "export/products.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

class CannCalls : public cann::Layer {
 public:
  CannCalls()
      : Layer({.name = "cann",
               .help = "calls on the host, a thread each",
               .exists = "SELECT 1 FROM api_call"}) {}

  void write(const Database&, const Document&, TraceJsonWriter&) const override {}
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_calls() {
  return std::make_unique<CannCalls>();
}

}  // namespace msprof
