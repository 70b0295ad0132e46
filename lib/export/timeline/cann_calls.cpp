// Layer cann: calls on the host, one track per thread, and the starts of arrows to what they
// launched. Source: cann_host.md 2.5; of CANN 5: cann_device.md 24.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/number.hpp"
#include "base/recent_map.hpp"
#include "export/products.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/timeline/cann_arrows.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

std::string_view name_prefix(std::int64_t level) {
  switch (level) {
    case call_level::kAcl:
      return "AscendCL@";
    case call_level::kModel:
      return "Model@";
    case call_level::kNode:
      return "Node@";
    case call_level::kCommunication:
      return "Communication@";
    case call_level::kRuntime:
      return "Runtime@";
    default:
      return "Api@";
  }
}

enum class CallStyle {
  current,       // one process for all levels; names are prefixed with the level
  processes,     // CANN 5: one process per level
  ai_stack,      // CANN 5: ai_stack_time
  thread_group,  // CANN 5: thread_group
};

CallStyle call_style(const OutputFile& output_file) {
  if (!output_file.is_cann5) return CallStyle::current;
  if (output_file.key == kAiStackTime) return CallStyle::ai_stack;
  return output_file.key == kThreadGroup ? CallStyle::thread_group : CallStyle::processes;
}

std::string_view cann5_name_prefix(std::int64_t level) {
  if (level == call_level::kAcl) return "ACL@";
  if (level == call_level::kModel) return "GE@";
  return level == call_level::kNode ? "GE_OP_EXECUTE@" : name_prefix(level);
}

// Where CANN 5 draws the calls of a level.
struct Cann5Process {
  cann::TraceProcess process;
  std::string_view name;
  std::optional<cann::AiStackThread> stack_thread;
};
Cann5Process to_cann5_process(std::int64_t level) {
  using cann::AiStackThread;
  using cann::TraceProcess;
  switch (level) {
    case call_level::kAcl:
      return {TraceProcess::cann5_acl, "AscendCL", AiStackThread::acl};
    case call_level::kModel:
      return {TraceProcess::cann5_ge, "GE", AiStackThread::ge};
    case call_level::kNode:
      return {TraceProcess::cann5_ge_ops, "GeOPExecute", AiStackThread::ge};
    case call_level::kRuntime:
      return {TraceProcess::cann5_runtime, "Runtime", AiStackThread::runtime};
    default:
      return {TraceProcess::cann5_communication, "Communication", std::nullopt};
  }
}

// Text shared by calls of one kind on one thread.
struct CallText {
  SharedText name;
  SharedArguments arguments;
  TraceLane lane;
  std::int64_t level = 0;
  bool begins_arrow = false;
  bool is_drawn = false;  // at least once
};

class CallTexts {
 public:
  CallTexts(const Database& db, const cann::TraceProcesses& processes, CallStyle style,
            const cann::EventCalls& events)
      : processes_(processes),
        style_(style),
        host_pid_(read_meta_integer(db, "host.pid").value_or(0)),
        texts_(db),
        events_(events) {}

  // Valid until the next call.
  CallText& operator()(const ApiCallRow& call) {
    // In the current style the item of a call is not part of the key: there are many operators.
    const std::int64_t item = style_ == CallStyle::current ? kNull : call.item_name_id;
    const CallTextKey key{call.thread_id, call.type_name_id, call.name_id, call.level, item};
    return known_.get(key, [this](const CallTextKey& missing) { return make_text(missing); });
  }
  TraceText item_text(const ApiCallRow& call) {
    if (call.item_name_id == kNull) return "0";
    return texts_(call.item_name_id);
  }

  // Call when a call with this text is drawn.
  void add_thread(CallText& text) {
    if (!std::exchange(text.is_drawn, true)) threads_[text.level].insert(text.lane.tid);
  }
  using Threads = std::map<std::int64_t, std::set<std::int64_t>>;  // by level
  const Threads& threads() const { return threads_; }
  void write_metadata(const Threads& drawn, TraceWriter& out) const {
    constexpr auto kCalls = cann::TraceProcess::calls;
    std::set<std::int64_t> all;
    for (const auto& [level, threads] : drawn) {
      all.insert(threads.begin(), threads.end());
      const Cann5Process process = to_cann5_process(level);
      if (style_ == CallStyle::processes)
        processes_.write(out, process.process, cann::kHostDevice, process.name, "Thread", threads);
    }
    if (style_ == CallStyle::processes || all.empty()) return;
    if (style_ != CallStyle::ai_stack)
      return processes_.write(out, kCalls, cann::kHostDevice, "CANN", "Thread", all);
    processes_.write(out, kCalls, cann::kHostDevice, cann::kAiStackProcess);
    for (const std::int64_t thread : all) {
      out.thread({processes_.pid(kCalls, cann::kHostDevice), thread},
                 cann::ai_stack_thread_name(static_cast<cann::AiStackThread>(thread)), thread);
    }
  }

 private:
  static constexpr std::size_t kMaxKinds = 1 << 15;
  struct CallTextKey {
    std::int64_t thread = 0;
    std::int64_t type = 0;
    std::int64_t name = 0;
    std::int64_t level = 0;
    std::int64_t item = 0;
    bool operator==(const CallTextKey&) const = default;
  };
  struct CallTextKeyHash {
    std::size_t operator()(const CallTextKey& key) const {
      return cann::hash_of({key.thread, key.type, key.name, key.level, key.item});
    }
  };

  CallText make_text(const CallTextKey& key) {
    CallText text;
    text.level = key.level;
    // Thread ids have 32 bits; the vendor's tool prints them as signed.
    const std::int64_t thread = static_cast<std::int32_t>(static_cast<std::uint32_t>(key.thread));
    text.lane = {processes_.pid(cann::TraceProcess::calls, cann::kHostDevice), thread};
    const std::string name = texts_(key.name);
    if (style_ != CallStyle::current) {
      add_cann5_text(key, name, text);
      return text;
    }
    text.name = std::string(name_prefix(key.level)) + name;
    text.arguments.add("Thread Id", thread);
    text.arguments.add("Mode", texts_(key.type));
    text.arguments.add("level", cann::level_text(key.level));
    text.arguments.add("id", key.level == call_level::kAcl ? name : "0");
    text.begins_arrow =
        key.level == call_level::kNode || (key.level == call_level::kAcl && events_.has(key.name));
    return text;
  }

  // Sets names and arguments as CANN 5 did.
  void add_cann5_text(const CallTextKey& key, const std::string& name, CallText& text) {
    const Cann5Process process = to_cann5_process(key.level);
    text.name = name;
    if (style_ == CallStyle::thread_group) {
      text.name = std::string(cann5_name_prefix(key.level)) + name;
      text.arguments.add("Mode", texts_(key.type));
    } else if (style_ == CallStyle::ai_stack) {
      if (process.stack_thread) text.lane.tid = static_cast<std::int64_t>(*process.stack_thread);
    } else {
      text.lane.pid = processes_.pid(process.process, cann::kHostDevice);
      if (key.level == call_level::kAcl) {
        text.arguments.add("Mode", texts_(key.type));
        text.arguments.add("Process Id", host_pid_);
        text.arguments.add("Thread Id", text.lane.tid);
      } else if (key.level == call_level::kModel && key.item != kNull) {
        text.arguments.add("Model Id", texts_(key.item));
      } else {
        text.arguments.add("Thread Id", text.lane.tid);
      }
      if (key.level == call_level::kNode && key.item != kNull)
        text.name = texts_(key.item) + "_" + name;
    }
  }

  const cann::TraceProcesses& processes_;
  CallStyle style_;
  std::int64_t host_pid_;
  cann::Texts texts_;
  const cann::EventCalls& events_;
  RecentMap<CallTextKey, CallText, kMaxKinds, CallTextKeyHash> known_;
  Threads threads_;
};

// Data that the chunks of the layer share.
class CallPieces {
 public:
  CallPieces(const Database& db, const OutputFile& output_file)
      : output_file_(output_file),
        style_(call_style(output_file)),
        processes_(db),
        window_(db),
        events_(db) {}

  // The first thread computes it while the others wait.
  void find_copies(const Database& db) {
    std::call_once(copies_once_, [&] { copies_.emplace(cann::calls_with_copies(db)); });
  }

  void write(const Database& db, std::int64_t first_call, std::int64_t last_call,
             TraceWriter& out) {
    find_copies(db);
    CallTexts& texts = cached_texts(db);
    cann::CallCursor calls(
        db, output_file_.scope,
        {&ApiCallRow::id, &ApiCallRow::type_name_id, &ApiCallRow::level, &ApiCallRow::item_name_id},
        {.first_id = first_call, .last_id = last_call}, window_);
    while (calls.next()) {
      if (output_file_.key > 0 && calls->level != output_file_.key) continue;
      if (style_ == CallStyle::ai_stack && !to_cann5_process(calls->level).stack_thread) continue;
      CallText& text = texts(*calls);
      if (!out.begin_slice(text.name, text.lane, calls->start_ns, calls.duration_ns())) continue;
      out.arguments(text.arguments);
      texts.add_thread(text);
      if (style_ == CallStyle::current) {
        out.argument("item_id", texts.item_text(*calls));
        out.argument("connection_id", calls->id);
      }
      if (style_ == CallStyle::ai_stack)
        cann::write_ai_stack_arguments(out, output_file_.scope, calls->start_ns,
                                       calls.duration_ns());
      out.end_event();
      if (output_file_.has_arrows && (text.begins_arrow || copies_->has(calls->id))) {
        cann::write_arrow(out, 's', text.lane, calls->id, calls->start_ns);
      }
    }
  }

  void write_metadata(const Database& db, TraceWriter& out) {
    CallTexts::Threads drawn;
    all_texts_.for_each([&](const CallTexts& texts) {
      for (const auto& [level, threads] : texts.threads())
        drawn[level].insert(threads.begin(), threads.end());
    });
    cached_texts(db).write_metadata(drawn, out);
  }

 private:
  CallTexts& cached_texts(const Database& db) {
    return all_texts_.find(
        db, [&] { return std::make_unique<CallTexts>(db, processes_, style_, events_); });
  }

  OutputFile output_file_;
  CallStyle style_;
  cann::TraceProcesses processes_;
  cann::CallWindow window_;
  cann::EventCalls events_;
  std::once_flag copies_once_;
  std::optional<cann::IdBits> copies_;
  PerConnection<CallTexts> all_texts_;
};

// Returns the last call that starts before the collection. Whether such a call counts depends on
// the calls before it (CallWindow), so they must be one chunk. Calls are sorted by start.
std::int64_t last_early_call(const Database& db) {
  const std::int64_t begin_ns = cann::window_begin_ns(db);
  RowCursor<ApiCallRow> calls(db, {&ApiCallRow::id, &ApiCallRow::start_ns});
  std::int64_t last = 0;
  while (calls.next() && calls->start_ns < begin_ns) last = calls->id;
  return last;
}

class CannCalls : public cann::CannLayer {
 public:
  CannCalls()
      : CannLayer({.name = "cann",
                   .help = "calls on the host, by thread",
                   .exists = "SELECT 1 FROM api_call",
                   .needs = {"api_event", true},
                   .cann5_topics = {{1, "ai_stack_time", kAiStackTime},
                                    {2, "thread_group", kThreadGroup},
                                    {4, "runtime_api", call_level::kRuntime},
                                    {5, "ge", call_level::kModel},
                                    {6, "ge_op_execute", call_level::kNode},
                                    {9, "acl", call_level::kAcl}},
                   .is_of_host = true}) {}

  // If output_file.key is positive, only calls of that level are drawn.
  std::vector<TimelinePiece> pieces(const Database& db,
                                    const OutputFile& output_file) const override {
    using When = TimelinePiece::When;
    const auto shared = std::make_shared<CallPieces>(db, output_file);
    std::vector<TimelinePiece> pieces;
    pieces.push_back(
        {[shared](const Database& own, TraceWriter&) { shared->find_copies(own); }, When::ahead});
    const auto add = [&](std::int64_t first, std::int64_t last) {
      pieces.push_back({[shared, first, last](const Database& own, TraceWriter& out) {
        shared->write(own, first, last, out);
      }});
    };
    const IdRange ids = cann::id_range(db, ApiCallRow::kTable);
    const std::int64_t early = last_early_call(db);
    if (early >= ids.first) add(ids.first, early);
    for (const auto& [first, last] : cann::piece_ranges({std::max(ids.first, early + 1), ids.last}))
      add(first, last);
    pieces.push_back(
        {[shared](const Database& own, TraceWriter& out) { shared->write_metadata(own, out); },
         When::after_others});
    return pieces;
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_calls() {
  return std::make_unique<CannCalls>();
}

}  // namespace msprof
