// Layer ai_core_freq: frequency of the AI cores.
#include "export/products.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

class CannFrequency : public cann::Layer {
 public:
  CannFrequency()
      : Layer({.name = "ai_core_freq",
               .help = "frequency of the AI cores",
               .exists = "SELECT 1 FROM track JOIN name ON name.id = track.name_id WHERE name.text = 'AI Core Freq'"}) {}

  void write(const Database&, const Document&, TraceJsonWriter&) const override {}
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_frequency() {
  return std::make_unique<CannFrequency>();
}

}  // namespace msprof
