#include "export/cann_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "store/schema.hpp"

namespace msprof::cann {

std::string_view level_text(std::int64_t level) {
  switch (level) {
    case kAclLevel:
      return "acl";
    case kModelLevel:
      return "model";
    case kNodeLevel:
      return "node";
    case kCommunicationLevel:
      return "communication";
    case kRuntimeLevel:
      return "runtime";
    default:
      return "";
  }
}

std::string_view event_type_text(std::int64_t type) {
  constexpr std::string_view kTexts[] = {"marker", "push/pop", "start/end", "marker_ex"};
  return type >= 0 && type < 4 ? kTexts[type] : "N/A";
}

std::int64_t window_begin_ns(const Database& db) {
  return read_meta_integer(db, "window.begin_ns").value_or(INT64_MIN);
}

std::string time_stamp(const Database& db) {
  const std::string time = read_meta(db, "time_stamp");
  return time.find_first_not_of("0123456789") == std::string::npos ? time : std::string();
}

bool has_rows(const Database& db, std::string_view select) {
  Statement any = db.prepare(fmt::format("SELECT EXISTS({})", select));
  return any.step() && any.integer(0) != 0;
}

std::int64_t name_id_of(const Database& db, std::string_view text) {
  Statement read = db.prepare("SELECT id FROM name WHERE text = ? ORDER BY id");
  read.bind(1, text);
  return read.step() ? read.integer(0) : -1;
}

// The loading around a call has been met before it.
bool CallWindow::takes_early(std::int64_t name_id, std::int64_t thread_id, std::int64_t end_ns) {
  if (name_id == load_name_id_) {
    std::int64_t& load_end = load_ends_.try_emplace(thread_id, end_ns).first->second;
    load_end = std::max(load_end, end_ns);
    return true;
  }
  if (end_ns >= begin_ns_) return true;
  const auto load = load_ends_.find(thread_id);
  return load != load_ends_.end() && end_ns <= load->second;
}

}  // namespace msprof::cann
