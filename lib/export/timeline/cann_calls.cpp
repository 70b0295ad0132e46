// Layer cann: calls on the host, one track per thread, and the starts of arrows to what they
// launched. Source: cann_host.md 2.5.
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
#include "export/timeline/cann_forms.hpp"
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

// Names are prefixed with the level.
class CurrentCalls : public cann::CallForm {
 public:
  bool has_item() const override { return false; }
  void describe(const cann::TraceProcesses&, cann::Texts& texts, const cann::CallKind& kind,
                cann::CallText& text) const override {
    const std::string name = texts(kind.name);
    text.name = std::string(name_prefix(kind.level)) + name;
    text.arguments.add("Thread Id", text.lane.tid);
    text.arguments.add("Mode", texts(kind.type));
    text.arguments.add("level", cann::level_text(kind.level));
    text.arguments.add("id", kind.level == call_level::kAcl ? name : "0");
  }
  void write_arguments(TraceWriter& out, cann::Texts& texts, const ExportScope&,
                       const ApiCallRow& call, std::int64_t) const override {
    out.arguments({{"item_id", call.item_name_id == kNull ? TraceText("0")
                                                          : TraceText(texts(call.item_name_id))},
                   {"connection_id", call.id}});
  }
};

class CallTexts {
 public:
  CallTexts(const Database& db, const cann::TraceProcesses& processes, const cann::CallForm& form,
            const cann::EventCalls& events)
      : processes_(processes),
        form_(form),
        has_item_(form.has_item()),
        texts_(db),
        events_(events) {}

  // Valid until the next call.
  cann::CallText& operator()(const ApiCallRow& call) {
    const std::int64_t item = has_item_ ? call.item_name_id : kNull;
    const cann::CallKind kind{call.thread_id, call.type_name_id, call.name_id, call.level, item};
    return known_.get(kind, [this](const cann::CallKind& missing) { return make_text(missing); });
  }
  void write_arguments(TraceWriter& out, const ExportScope& scope, const ApiCallRow& call,
                       std::int64_t duration_ns) {
    form_.write_arguments(out, texts_, scope, call, duration_ns);
  }

  // Call when a call with this text is drawn.
  void add_thread(cann::CallText& text) {
    if (!std::exchange(text.is_drawn, true)) threads_[text.level].insert(text.lane.tid);
  }
  const cann::CallThreads& threads() const { return threads_; }

 private:
  static constexpr std::size_t kMaxKinds = 1 << 15;
  struct CallKindHash {
    std::size_t operator()(const cann::CallKind& kind) const {
      return cann::hash_of({kind.thread, kind.type, kind.name, kind.level, kind.item});
    }
  };

  cann::CallText make_text(const cann::CallKind& kind) {
    cann::CallText text;
    text.level = kind.level;
    // Thread ids have 32 bits; the vendor's tool prints them as signed.
    const std::int64_t thread = static_cast<std::int32_t>(static_cast<std::uint32_t>(kind.thread));
    text.lane = {processes_.pid(cann::TraceProcess::calls, cann::kHostDevice), thread};
    text.begins_arrow = kind.level == call_level::kNode ||
                        (kind.level == call_level::kAcl && events_.has(kind.name));
    form_.describe(processes_, texts_, kind, text);
    return text;
  }

  const cann::TraceProcesses& processes_;
  const cann::CallForm& form_;
  bool has_item_;
  cann::Texts texts_;
  const cann::EventCalls& events_;
  RecentMap<cann::CallKind, cann::CallText, kMaxKinds, CallKindHash> known_;
  cann::CallThreads threads_;
};

// Data that the chunks of the layer share.
class CallPieces {
 public:
  CallPieces(const Database& db, const OutputFile& output_file, const cann::CallForm& form)
      : output_file_(output_file), form_(form), processes_(db), window_(db), events_(db) {}

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
      if (!form_.draws(calls->level)) continue;
      cann::CallText& text = texts(*calls);
      if (!out.begin_slice(text.name, text.lane, calls->start_ns, calls.duration_ns())) continue;
      out.arguments(text.arguments);
      texts.add_thread(text);
      texts.write_arguments(out, output_file_.scope, *calls, calls.duration_ns());
      out.end_event();
      if (output_file_.has_arrows && (text.begins_arrow || copies_->has(calls->id))) {
        cann::write_arrow(out, 's', text.lane, calls->id, calls->start_ns);
      }
    }
  }

  void write_metadata(TraceWriter& out) const {
    cann::CallThreads drawn;
    all_texts_.for_each([&](const CallTexts& texts) {
      for (const auto& [level, threads] : texts.threads())
        drawn[level].insert(threads.begin(), threads.end());
    });
    form_.write_metadata(out, processes_, drawn);
  }

 private:
  CallTexts& cached_texts(const Database& db) {
    return all_texts_.find(
        db, [&] { return std::make_unique<CallTexts>(db, processes_, form_, events_); });
  }

  OutputFile output_file_;
  const cann::CallForm& form_;
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
  explicit CannCalls(const cann::CallForm& form)
      : CannLayer({.name = "cann",
                   .help = "calls on the host, by thread",
                   .exists = "SELECT 1 FROM api_call",
                   .needs = {"api_event", true}}),
        form_(form) {}

  std::vector<TimelinePiece> pieces(const Database& db,
                                    const OutputFile& output_file) const override {
    using When = TimelinePiece::When;
    const auto shared = std::make_shared<CallPieces>(db, output_file, form_);
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
    for (const auto& [first, last] :
         cann::chunk_ranges({std::max(ids.first, saturating_add(early, 1)), ids.last}, kPieceRows))
      add(first, last);
    pieces.push_back({[shared](const Database&, TraceWriter& out) { shared->write_metadata(out); },
                      When::after_others});
    return pieces;
  }

 private:
  const cann::CallForm& form_;
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_calls() {
  static const CurrentCalls form;
  return cann::make_calls(form);
}

void cann::CallForm::write_metadata(TraceWriter& out, const TraceProcesses& processes,
                                    const CallThreads& drawn) const {
  std::set<std::int64_t> all;
  for (const auto& [level, threads] : drawn) all.insert(threads.begin(), threads.end());
  processes.write(out, TraceProcess::calls, kHostDevice, "CANN", "Thread", all);
}

std::unique_ptr<TimelineLayer> cann::make_calls(const CallForm& form) {
  return std::make_unique<CannCalls>(form);
}

}  // namespace msprof
