#include "store/sql_guard.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "store/database.hpp"

namespace msprof {

namespace {

// clang-format off
// Functions of SQLite 3.40 and later; sorted.
constexpr std::array kFunctions = std::to_array<std::string_view>({
    "->", "->>", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "avg", "ceil",
    "ceiling", "char", "coalesce", "concat", "concat_ws", "cos", "cosh", "count", "cume_dist",
    "current_date", "current_time", "current_timestamp", "date", "datetime", "degrees",
    "dense_rank", "exp", "first_value", "floor", "format", "glob", "group_concat", "hex", "if",
    "ifnull", "iif", "instr", "json", "json_array", "json_array_length", "json_extract",
    "json_group_array", "json_group_object", "json_insert", "json_object", "json_patch",
    "json_quote", "json_remove", "json_replace", "json_set", "json_type", "json_valid",
    "julianday", "lag", "last_value", "lead", "length", "like", "likelihood", "likely", "ln",
    "log", "log10", "log2", "lower", "ltrim", "max", "median", "min", "mod", "nth_value", "ntile",
    "nullif", "octet_length", "percent_rank", "percentile", "pi", "pow", "power", "printf",
    "quote", "radians", "random", "randomblob", "rank", "replace", "round", "row_number", "rtrim",
    "sign", "sin", "sinh", "sqlite_version", "sqrt", "strftime", "string_agg", "substr",
    "substring", "subtype", "sum", "tan", "tanh", "time", "timediff", "total", "trim", "trunc",
    "typeof", "unhex", "unicode", "unistr", "unixepoch", "unlikely", "upper", "zeroblob"});
static_assert(std::is_sorted(kFunctions.begin(), kFunctions.end()));
// clang-format on

bool is_harmless_function(std::string_view name) {
  return std::binary_search(kFunctions.begin(), kFunctions.end(), lower_ascii(name));
}

constexpr int kShownSql = 40;  // terminal columns

// Limits the length: names in an untrusted store may be anything.
constexpr const char* kTables =
    "SELECT name FROM sqlite_temp_schema WHERE type IN ('table', 'view') AND length(name) < 200"
    " UNION ALL SELECT name FROM sqlite_schema WHERE type = 'table' AND length(name) < 200";

std::vector<std::string> table_names(sqlite3* db) {
  std::vector<std::string> names;
  for (Statement read(db, kTables); read.step();) names.emplace_back(read.text(0));
  return names;
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool holds_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end == text.size() || !is_word_character(text[end]))) {
      return true;
    }
  }
  return false;
}

// Returns the columns of all tables and views named in `sql`.
std::vector<std::string> column_names(sqlite3* db, std::string_view sql) {
  std::vector<std::string> columns;
  const std::string text = lower_ascii(sql);
  for (const std::string& table : table_names(db)) {
    if (!holds_word(text, lower_ascii(table))) continue;
    const Statement all(db, fmt::format("SELECT * FROM \"{}\"", table));
    for (int i = 0; i < all.column_count(); ++i) columns.push_back(all.column_name(i));
  }
  return columns;
}

// Returns the text after `prefix` in `message`, without the table qualifier of a column.
std::string_view name_behind(std::string_view prefix, std::string_view message) {
  if (!message.starts_with(prefix)) return {};
  message.remove_prefix(prefix.size());
  const std::size_t point = message.rfind('.');
  return point == std::string_view::npos ? message : message.substr(point + 1);
}

std::string way_out(sqlite3* db, std::string_view message, std::string_view sql) {
  try {
    if (const auto table = name_behind("no such table: ", message); !table.empty()) {
      return did_you_mean(table, table_names(db)) + " (`msprof query --schema` lists all)";
    }
    const auto column = name_behind("no such column: ", message);
    if (column.empty()) {
      return message == "integer overflow" ? "; use total(), which adds floating-point numbers"
                                           : "";
    }
    std::string nearest = did_you_mean(column, column_names(db, sql));
    if (!nearest.empty()) return nearest;
    if (sql.find(fmt::format("\"{}\"", column)) != std::string_view::npos)
      return "; strings need single quotes";
    return " (`msprof query --schema` lists all)";
  } catch (const Error&) {
    return "";  // the message is usable without the suggestion
  }
}

std::string words_about_sql(sqlite3* db, std::string_view sql) {
  // Copies the message before `db` is used again.
  const std::string message = printable(sqlite3_errmsg(db));
  const int offset = sqlite3_error_offset(db);
  std::string place;
  if (offset >= 0 && static_cast<std::size_t>(offset) < sql.size()) {
    const auto at = sql.substr(static_cast<std::size_t>(offset));
    place = fmt::format(", at '{}' (character {})",
                        shorten(printable(at.substr(0, 200)), kShownSql), offset + 1);
  }
  return fmt::format("SQL: {}{}{}", message, place, way_out(db, message, sql));
}

// SqlWatchdog: exits the program if user SQL hangs within a single function, where SQLite checks
// neither the clock nor for an interrupt: instr() and trim() of long texts can take hours. For
// SqlGuard.

class SqlWatchdog {
 public:
  // `message` is printed before the exit with Exit::usage. Callers write only to stdout, so that no
  // incomplete file is left.
  explicit SqlWatchdog(std::string message);
  ~SqlWatchdog();
  SqlWatchdog(const SqlWatchdog&) = delete;
  SqlWatchdog& operator=(const SqlWatchdog&) = delete;

  // Starts the time limit: calm() must be called within `seconds`, and soon after an interrupt. 0:
  // no time limit, only the interrupt.
  void expect_within(double seconds);
  void calm() { deadline_ns_ = 0; }

 private:
  void watch();

  std::string message_;
  std::atomic<std::int64_t> deadline_ns_{0};  // of the steady clock; 0: idle
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_over_ = false;
  std::thread thread_;  // last member: it uses the others
};

constexpr std::chrono::milliseconds kBetweenLooks{200};

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

SqlWatchdog::SqlWatchdog(std::string message)
    : message_(std::move(message)), thread_([this] { watch(); }) {}

SqlWatchdog::~SqlWatchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void SqlWatchdog::expect_within(double seconds) {
  deadline_ns_ = seconds > 0 ? now_ns() + static_cast<std::int64_t>(seconds * 1e9) : INT64_MAX;
}

void SqlWatchdog::watch() {
  // By then SQLite has stopped any statement that checks for interrupts.
  constexpr int kLooksAfterInterrupt = 3;
  int looks = 0;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kBetweenLooks, [this] { return is_over_; })) {
    const std::int64_t deadline = deadline_ns_;
    looks = deadline != 0 && interrupt::received() != 0 ? looks + 1 : 0;
    if (looks > kLooksAfterInterrupt) {
      log::error("interrupted");
      ::_exit(static_cast<int>(Exit::interrupted));
    }
    if (deadline == 0 || now_ns() < deadline) continue;
    log::error("{}", message_);
    ::_exit(static_cast<int>(Exit::usage));
  }
}

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSqlBytes = 100'000;
constexpr int kValueBytes = 16 << 20;
constexpr sqlite3_int64 kHeapBytes = 512 << 20;
// SQLite instructions between two checks of the clock: about a microsecond.
constexpr int kInstructionsBetweenLooks = 100;
// Larger values mean no limit, so that times stay within the clock's range.
constexpr double kMaxSeconds = 1e7;

std::string text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

// Records the columns that a statement reads, while it is being prepared.
struct ColumnRecorder {
  bool is_on = false;
  std::set<ReadColumn> columns;
};

class RecorderSwitch {
 public:
  explicit RecorderSwitch(ColumnRecorder& recorder) : recorder_(recorder) {
    recorder_.is_on = true;
  }
  ~RecorderSwitch() { recorder_.is_on = false; }
  RecorderSwitch(const RecorderSwitch&) = delete;
  RecorderSwitch& operator=(const RecorderSwitch&) = delete;

 private:
  ColumnRecorder& recorder_;
};

// `recorder`: a ColumnRecorder or null.
int authorize(void* recorder, int action, const char* object, const char* detail, const char*,
              const char* within) {
  switch (action) {
    case SQLITE_READ: {
      auto* const reads = static_cast<ColumnRecorder*>(recorder);
      if (reads != nullptr && reads->is_on) {
        reads->columns.insert(
            {text_or_empty(object), text_or_empty(detail), text_or_empty(within)});
      }
      return SQLITE_OK;
    }
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION: {
      return is_harmless_function(detail == nullptr ? "" : detail) ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

void set_limits(sqlite3* db) {
  sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, static_cast<int>(kSqlBytes));
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kValueBytes);
  sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 200);
  sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 500);
  sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 100);
  sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 100'000);
  sqlite3_limit(db, SQLITE_LIMIT_FUNCTION_ARG, 100);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, 100);
  sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
  sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
  // One limit for all connections: compared stores share it.
  sqlite3_soft_heap_limit64(kHeapBytes / 2);
  sqlite3_hard_heap_limit64(kHeapBytes);
}

void switch_off(sqlite3* db, int what) {
  sqlite3_db_config(db, what, 0, nullptr);
}

std::string limit_sentence(sqlite3* db) {
  switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_NOMEM:
      return fmt::format("the SQL needs more than {} of memory; select less data",
                         human_bytes(kHeapBytes));
    case SQLITE_TOOBIG:
      return fmt::format("a value is larger than {}: shorten texts with substr(), or select less",
                         human_bytes(kValueBytes));
    case SQLITE_AUTH:
      return fmt::format(
          "only reading is allowed: SELECT from views and tables, with functions that have no side "
          "effects ({})",
          sqlite3_errmsg(db));
    default:
      return {};
  }
}

// Returns true for errors of the store or the disk, which do not depend on the SQL.
bool is_of_files(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return true;
    default:
      return false;
  }
}

struct Prepared {
  Statement statement;
  std::string_view rest;
  bool is_empty;
};

Prepared prepare(sqlite3* db, StatementWatch& watch, std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const char* tail = nullptr;
  watch.enter();
  const int code =
      sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &prepared, &tail);
  watch.leave();
  Statement statement(prepared, &watch);
  if (code != SQLITE_OK) watch.fail(sql);
  const bool is_empty = prepared == nullptr;
  if (!is_empty && sqlite3_stmt_readonly(prepared) == 0)
    throw Error(Exit::usage, "the SQL may only read: give one SELECT");
  return {std::move(statement), sql.substr(static_cast<std::size_t>(tail - sql.data())), is_empty};
}

}  // namespace

struct SqlGuard::State {
  // Error handling and timing, separate for our statements and the user's.
  struct Watch : StatementWatch {
    State* state = nullptr;
    bool is_theirs = false;
    void enter() override {
      state->working = this;
      state->entered = Clock::now();
      if (!is_theirs || !state->watchdog) return;
      const std::chrono::duration<double> time = used;
      state->watchdog->expect_within(
          state->limit_seconds > 0
              ? std::max(state->limit_seconds - time.count() + state->grace_seconds, 0.001)
              : 0);
    }
    void leave() override {
      if (is_theirs && state->watchdog) state->watchdog->calm();
      used += Clock::now() - state->entered;
      state->working = nullptr;
    }
    [[noreturn]] void fail(std::string_view sql) const override;

    Clock::duration used{};
  };

  explicit State(sqlite3* guarded) : db(guarded) {
    ours.state = theirs.state = this;
    theirs.is_theirs = true;
  }

  std::string time_out() const {
    return fmt::format("the SQL took longer than {} s{}", limit_seconds,
                       option.empty() ? "" : "; raise the limit with " + option);
  }
  // Limits only user SQL: our own SQL always ends.
  bool is_over() const {
    if (working != &theirs || limit_seconds <= 0) return false;
    const std::chrono::duration<double> time = theirs.used + (Clock::now() - entered);
    return time.count() > limit_seconds;
  }
  static int check(void* self) {
    return interrupt::received() != 0 || static_cast<State*>(self)->is_over() ? 1 : 0;
  }

  sqlite3* db;
  double limit_seconds = 0;
  double grace_seconds = 0;  // extra time after the limit for a single instruction to finish
  std::string option;
  Watch ours;
  Watch theirs;
  std::unique_ptr<SqlWatchdog> watchdog;
  ColumnRecorder recorder;
  const Watch* working = nullptr;
  Clock::time_point entered{};
};

void SqlGuard::State::Watch::fail(std::string_view sql) const {
  sqlite3* db = state->db;
  const int code = sqlite3_errcode(db);
  interrupt::check();
  if ((code & 0xff) == SQLITE_INTERRUPT) throw Error(Exit::usage, state->time_out());
  if (!is_theirs || is_of_files(code)) fail_with(db, "cannot read");
  const std::string limit = limit_sentence(db);
  throw Error(Exit::usage, limit.empty() ? words_about_sql(db, sql) : limit);
}

SqlGuard::SqlGuard(const Database& guarded) : state_(std::make_unique<State>(guarded.handle())) {
  sqlite3* db = guarded.handle();
  for (const int what :
       {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
        SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        // Disables double-quoted strings: a misspelled name in double quotes would be read as text.
        SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL}) {
    switch_off(db, what);
  }
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  std::array<const char*, 3> modules = {"json_each", "json_tree", nullptr};
  sqlite3_drop_modules(db, modules.data());
  // The first use sets up these functions, which the authorizer would refuse later.
  for (const char* sql : {"SELECT 1 FROM json_each('[]')", "SELECT 1 FROM json_tree('[]')"})
    Statement(db, sql);
  if (sqlite3_memory_used() == 0)
    throw std::logic_error("SQLite was built without memory accounting");
  set_limits(db);
  sqlite3_set_authorizer(db, authorize, &state_->recorder);
  sqlite3_progress_handler(db, kInstructionsBetweenLooks, State::check, state_.get());
}

SqlGuard::~SqlGuard() {
  if (!state_) return;
  end_on_interrupt(state_->db);
  sqlite3_set_authorizer(state_->db, authorize, nullptr);
}
SqlGuard::SqlGuard(SqlGuard&&) noexcept = default;
SqlGuard& SqlGuard::operator=(SqlGuard&&) noexcept = default;

void SqlGuard::limit_time(double seconds, std::string_view option, double grace_seconds) {
  state_->grace_seconds = grace_seconds;
  state_->limit_seconds = seconds > kMaxSeconds ? 0 : seconds;
  state_->option = option;
  state_->watchdog.reset();
}

Statement SqlGuard::prepare_theirs(std::string_view sql) const {
  if (sql.size() > kSqlBytes)
    throw Error(Exit::usage, fmt::format("the SQL is longer than {} bytes", kSqlBytes));
  if (sql.find('\0') != std::string_view::npos)
    throw Error(Exit::usage, "the SQL contains a zero byte; it must be text");
  state_->theirs.used = {};
  if (!state_->watchdog) state_->watchdog = std::make_unique<SqlWatchdog>(state_->time_out());
  state_->recorder.columns.clear();
  Prepared first = [&] {
    const RecorderSwitch on(state_->recorder);
    return prepare(state_->db, state_->theirs, sql);
  }();
  if (first.is_empty)
    throw Error(Exit::usage, "no SQL given: give one SELECT, \"SELECT * FROM v_ops\"");
  // Only blanks, ';' and comments may follow.
  for (std::string_view rest = first.rest; !rest.empty();) {
    const Prepared next = prepare(state_->db, state_->theirs, rest);
    if (!next.is_empty) {
      throw Error(Exit::usage, fmt::format("only one statement is allowed; the second one is '{}'",
                                           shorten(printable(trim(rest.substr(0, 200))), 40)));
    }
    if (next.rest.size() == rest.size()) break;
    rest = next.rest;
  }
  return std::move(first.statement);
}

const std::set<ReadColumn>& SqlGuard::columns_read() const {
  return state_->recorder.columns;
}

Statement SqlGuard::prepare_ours(std::string_view sql) const {
  return prepare(state_->db, state_->ours, sql).statement;
}

}  // namespace msprof
