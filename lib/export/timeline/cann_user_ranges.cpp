// Layer msproftx: ranges and marks that the application named.
#include "export/products.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

class CannUserRanges : public cann::Layer {
 public:
  CannUserRanges()
      : Layer({.name = "msproftx",
               .help = "ranges and marks that the application named",
               .exists = "SELECT 1 FROM user_range",
               .own_document = "msprof_tx"}) {}

  void write(const Database&, const Document&, TraceJsonWriter&) const override {}
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_user_ranges() {
  return std::make_unique<CannUserRanges>();
}

}  // namespace msprof
