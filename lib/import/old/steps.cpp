#include "import/old/steps.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace msprof::old {

namespace {

// The current step, while its marks are read.
struct Step {
  std::optional<std::uint64_t> forward, backward;
  std::map<std::uint16_t, std::vector<TraceMark>> reduces;  // by stream
};

class StepWriter {
 public:
  StepWriter(const ImportContext& context, const CannPart& part, const StepMarks& data,
             StepIds& ids)
      : context_(context), part_(part), data_(data), ids_(ids) {}

  // A step consists of the marks up to an end mark, whose tag is 65535, or 255 in older captures.
  std::vector<IterationEnd> write() {
    constexpr std::uint64_t kOldEnd = 255;
    constexpr std::uint64_t kEnd = 65'535;
    enum : std::uint64_t { kForward = 1, kBackward = 2 };
    const bool is_later = std::any_of(data_.marks.begin(), data_.marks.end(),
                                      [](const TraceMark& mark) { return mark.tag == kEnd; });
    const std::uint64_t end_tag = is_later ? kEnd : kOldEnd;
    Step step;
    std::optional<std::uint64_t> last_end;
    std::vector<IterationEnd> ends;
    std::int64_t with_reduces = 0;
    for (const TraceMark& mark : data_.marks) {
      if (mark.tag == 0 || mark.tag > end_tag) continue;  // the start, which is not used
      if (mark.tag == kForward) {
        step.forward = mark.ticks;
      } else if (mark.tag == kBackward) {
        step.backward = mark.ticks;
      } else if (mark.tag != end_tag) {
        step.reduces[mark.stream].push_back(mark);
      } else {
        const auto number = static_cast<std::int64_t>(ends.size()) + 1;
        with_reduces += step.reduces.empty() ? 0 : 1;
        if (step.forward && step.backward) write_step(step, number, last_end, mark.ticks);
        ends.push_back({ns(mark.ticks), 0, number});
        last_end = mark.ticks;
        step = {};
      }
    }
    const std::int64_t without = static_cast<std::int64_t>(ends.size()) - with_reduces;
    if (with_reduces > 0 && without > 0)
      context_.report.add(FindingId::missing_reduces, "training_trace", part_.name,
                          "steps with fewer reduces than other steps", "Their records may be lost.",
                          without);
    return ends;
  }

 private:
  std::int64_t ns(std::uint64_t ticks) const { return part_.clock->ns(ticks); }
  std::int64_t between(std::uint64_t from, std::uint64_t to) const {
    return to >= from ? part_.clock->duration_ns(to - from) : -part_.clock->duration_ns(from - to);
  }

  void write_step(const Step& step, std::int64_t number, std::optional<std::uint64_t> last_end,
                  std::uint64_t end) {
    const std::uint64_t start = last_end.value_or(*step.forward);
    IterationRow row;
    row.id = ++ids_.iteration;
    row.device_id = part_.device.value_or(0);
    row.model_number = 0;
    row.number = number;
    row.start_ns = ns(start);
    row.fp_start_ns = ns(*step.forward);
    row.bp_end_ns = ns(*step.backward);
    row.end_ns = ns(end);
    row.duration_ns = between(start, end);
    row.fp_bp_ns = between(*step.forward, *step.backward);
    row.refresh_ns = between(*step.backward, end);
    row.data_aug_ns = between(start, *step.forward);
    context_.store.add(row);
    for (const auto& [stream, marks] : step.reduces) {
      if (marks.size() % 2 != 0) continue;  // the marks of this stream cannot be paired
      for (std::size_t i = 0; i < marks.size(); i += 2) {
        IterationPartRow part;
        part.id = ++ids_.part;
        part.iteration_id = row.id;
        part.start_ns = ns(marks[i].ticks);
        part.end_ns = ns(marks[i + 1].ticks);
        part.stream_id = stream;
        part.number = static_cast<std::int64_t>(i / 2);
        part.type_name_id = context_.store.name_id(reduce_type(marks[i].tag));
        context_.store.add(part);
      }
    }
  }

  // Returns the last part of the operator's name, up to the first "-".
  std::string reduce_type(std::uint64_t tag) const {
    const auto point = data_.points.find(tag);
    if (point == data_.points.end()) return "parallel";
    std::string_view name = point->second;
    name = name.substr(name.rfind('/') + 1);
    return std::string(name.substr(0, name.find('-')));
  }

  const ImportContext& context_;
  const CannPart& part_;
  const StepMarks& data_;
  StepIds& ids_;
};

}  // namespace

std::vector<IterationEnd> find_steps(const ImportContext& context, const CannPart& part,
                                     const StepMarks& data, StepIds& ids) {
  std::vector<IterationEnd> ends = iteration_ends(context.store.readable(), *part.device);
  if (ends.empty()) {
    ends = StepWriter(context, part, data, ids).write();
    std::stable_sort(ends.begin(), ends.end(), [](const IterationEnd& a, const IterationEnd& b) {
      return a.end_ns < b.end_ns;
    });
  } else if (!data.marks.empty()) {
    context.report.add(FindingId::obsolete_records, "training_trace", part.name,
                       "records not used: the steps are read from ts_track.data", "",
                       static_cast<std::int64_t>(data.marks.size()));
  }
  return ends;
}

}  // namespace msprof::old
