// Layer cann: calls on the host, a thread each, and the starts of arrows to what they launched.
// Source: cann_host.md 2.5.
#include <set>
#include <unordered_map>
#include <utility>

#include "export/products.hpp"
#include "export/scoped_rows.hpp"
#include "export/timeline/cann_arrows.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

std::string_view prefix_of(std::int64_t level) {
  switch (level) {
    case call_level::kAcl:
      return "\"AscendCL@";
    case call_level::kModel:
      return "\"Model@";
    case call_level::kNode:
      return "\"Node@";
    case call_level::kCommunication:
      return "\"Communication@";
    case call_level::kRuntime:
      return "\"Runtime@";
    default:
      return "\"Api@";
  }
}

// Text that calls of one kind on one thread share.
struct CallText {
  std::string head;
  std::string arguments;
  TraceLane lane;
  bool begins_arrow = false;
  bool is_drawn = false;  // once at least
};

class CallTexts {
 public:
  CallTexts(const Database& db, std::int64_t pid)
      : pid_(pid),
        texts_(db, cann::TextForm::json),
        record_(cann::name_id_of(db, "aclrtRecordEvent")),
        wait_(cann::name_id_of(db, "aclrtStreamWaitEvent")) {}

  // Valid until the next call.
  CallText& operator()(const ApiCallRow& call) {
    const Key key{call.thread_id, call.type_name_id, call.name_id, call.level, call.item_name_id};
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    if (known_.size() >= kMaxKinds) known_.clear();
    return known_[key] = text_of(key);
  }

  // A call with this text is drawn.
  void add_thread(CallText& text) {
    if (!std::exchange(text.is_drawn, true)) threads_.insert(text.lane.tid);
  }
  const std::set<std::int64_t>& threads() const { return threads_; }

 private:
  static constexpr std::size_t kMaxKinds = 1 << 15;
  struct Key {
    std::int64_t thread = 0;
    std::int64_t type = 0;
    std::int64_t name = 0;
    std::int64_t level = 0;
    std::int64_t item = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return cann::hash_of({key.thread, key.type, key.name, key.level, key.item});
    }
  };

  CallText text_of(const Key& key) {
    CallText text;
    // Threads of the system have 32 bits; the vendor's tool prints them with a sign.
    const std::int64_t thread = static_cast<std::int32_t>(static_cast<std::uint32_t>(key.thread));
    text.lane = {pid_, thread};
    const std::string name = texts_(key.name);
    text.head = TraceJsonWriter::slice_head({std::string(prefix_of(key.level)) + name.substr(1)},
                                            text.lane);
    text.arguments = "\"Thread Id\":" + std::to_string(thread) + ",\"Mode\":" + texts_(key.type);
    text.arguments += ",\"level\":\"" + std::string(cann::level_text(key.level)) + "\",\"id\":";
    text.arguments += key.level == call_level::kAcl ? name : "\"0\"";
    text.arguments += ",\"item_id\":";
    text.arguments += key.item == kNull ? "\"0\"" : texts_(key.item);
    text.begins_arrow =
        key.level == call_level::kNode ||
        (key.level == call_level::kAcl && (key.name == record_ || key.name == wait_));
    return text;
  }

  std::int64_t pid_;
  cann::Texts texts_;
  std::int64_t record_;
  std::int64_t wait_;
  std::unordered_map<Key, CallText, KeyHash> known_;
  std::set<std::int64_t> threads_;
};

class CannCalls : public cann::Layer {
 public:
  CannCalls()
      : Layer({.name = "cann",
               .help = "calls on the host, a thread each",
               .exists = "SELECT 1 FROM api_call",
               .needs = {"api_event", true},
               .cann5_topics = {{1, "ai_stack_time"},
                                {2, "thread_group"},
                                {4, "runtime_api", call_level::kRuntime},
                                {5, "ge", call_level::kModel},
                                {6, "ge_op_execute", call_level::kNode}}}) {}

  // document.key is the level whose calls are drawn, 0: of all.
  void write(const Database& db, const OutputFile& output_file,
             TraceJsonWriter& out) const override {
    const cann::TraceProcesses processes(db);
    CallTexts texts(db, processes.pid(cann::TraceProcess::calls, cann::kHostDevice));
    const cann::IdBits copies = cann::calls_with_copies(db);
    cann::CallCursor calls(db, output_file.scope,
                           {&ApiCallRow::id, &ApiCallRow::type_name_id, &ApiCallRow::level,
                            &ApiCallRow::item_name_id});
    while (calls.next()) {
      if (output_file.key != 0 && calls->level != output_file.key) continue;
      CallText& text = texts(*calls);
      if (!out.begin_slice(text.head, calls->start_ns, calls.duration_ns(), text.arguments)) {
        continue;
      }
      texts.add_thread(text);
      out.argument({"\"connection_id\""}, calls->id);
      out.end_slice();
      if (output_file.has_arrows && (text.begins_arrow || copies.has(calls->id))) {
        cann::write_arrow(out, 's', text.lane, calls->id, calls->start_ns);
      }
    }
    processes.write(out, cann::TraceProcess::calls, cann::kHostDevice, "CANN", "Thread",
                    texts.threads());
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_calls() {
  return std::make_unique<CannCalls>();
}

}  // namespace msprof
