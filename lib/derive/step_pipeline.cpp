#include "derive/step_pipeline.hpp"

#include <algorithm>

namespace msprof {

namespace {

// A pipeline of more iterations is a model whose ends are lost.
constexpr std::size_t kMostOpen = 256;

}  // namespace

StepPipeline::Open& StepPipeline::open_new() {
  if (open_.size() >= kMostOpen) emit_oldest();
  return open_.emplace_back();
}

template <typename Fits>
StepPipeline::Open& StepPipeline::first_that(Fits&& fits) {
  const auto found = std::find_if(open_.begin(), open_.end(), fits);
  return found == open_.end() ? open_new() : *found;
}

void StepPipeline::emit_oldest() {
  for (const StepMark& mark : open_.front().marks) emit_(mark);
  open_.pop_front();
}

void StepPipeline::add(const StepMark& mark) {
  using namespace step_tag;
  if (mark.tag == kModelEnd) {
    if (open_.empty()) return;
    // Iterations behind the first without a start of their own are of the same model run.
    do {
      emit_oldest();
    } while (!open_.empty() && !open_.front().has_start);
    emit_(mark);
  } else if (mark.tag == kModelStart) {
    Open& open = open_new();
    open.has_start = true;
    open.highest = kModelStart;
    open.marks.push_back(mark);
  } else if (mark.tag <= kIterationEnd) {
    Open& open = first_that([&](const Open& one) { return one.highest < mark.tag; });
    open.highest = mark.tag;
    open.marks.push_back(mark);
  } else if (mark.tag < kFirstGetNext) {
    first_that([](const Open& one) { return one.highest < kIterationEnd; }).marks.push_back(mark);
  } else {
    Open& open = open_.empty() ? open_new() : open_.back();
    open.marks.push_back(mark);
  }
}

void StepPipeline::flush() {
  while (!open_.empty()) emit_oldest();
}

}  // namespace msprof
