#include "import/cann/device_marks.hpp"

#include <algorithm>
#include <tuple>

namespace msprof::cann {

namespace {

// Marks of one id, from 9.1 on: every mark stands alone, edges of ranges follow each other.
void pair_by_tag(const DeviceMark* begin, const DeviceMark* end, DeviceMarkPairs& result) {
  const DeviceMark* open = nullptr;
  for (const DeviceMark* mark = begin; mark != end; ++mark) {
    if (mark->tag == kMarkTag) {
      result.pairs.push_back({*mark, mark->ticks});
    } else if (open == nullptr) {
      open = mark;
    } else {
      result.pairs.push_back({*open, mark->ticks});
      open = nullptr;
    }
  }
  if (open != nullptr) ++result.unpaired;
}

}  // namespace

DeviceMarkPairs pair_device_marks(std::vector<DeviceMark> marks, bool tags_tell) {
  const auto key = [](const DeviceMark& mark) { return std::tuple(mark.mark_id, mark.ticks); };
  std::stable_sort(marks.begin(), marks.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  DeviceMarkPairs result;
  const DeviceMark* end = marks.data() + marks.size();
  for (const DeviceMark* first = marks.data(); first != end;) {
    const DeviceMark* behind = std::find_if(
        first, end, [&](const DeviceMark& mark) { return mark.mark_id != first->mark_id; });
    if (tags_tell) {
      pair_by_tag(first, behind, result);
    } else {
      result.pairs.push_back({*first, (behind - 1)->ticks});
    }
    first = behind;
  }
  std::stable_sort(result.pairs.begin(), result.pairs.end(),
                   [&](const auto& a, const auto& b) { return key(a.first) < key(b.first); });
  return result;
}

}  // namespace msprof::cann
