// Timelines through gzip: a thread of its own compresses while the events are written.
#include <isa-l/igzip_lib.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "export/trace_json_writer.hpp"

namespace msprof {

namespace {

// One stream of gzip into a file.
class Deflater {
 public:
  Deflater(AtomicFile& file, std::size_t buffer_bytes)
      : file_(file), buffer_bytes_(buffer_bytes), level_(ISAL_DEF_LVL1_DEFAULT) {
    isal_deflate_init(&stream_);
    // Events are so alike that more effort saves little.
    stream_.level = 1;
    stream_.level_buf = level_.data();
    stream_.level_buf_size = static_cast<std::uint32_t>(level_.size());
    stream_.gzip_flag = IGZIP_GZIP;
  }

  void write(std::string_view text, bool is_end) {
    std::string& out = file_.buffer();
    // The library's interface takes input that it does not change as non-const.
    stream_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<std::uint32_t>(text.size());
    stream_.end_of_stream = is_end ? 1 : 0;
    do {
      const std::size_t before = out.size();
      out.resize(before + kChunk);
      stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data() + before);
      stream_.avail_out = static_cast<std::uint32_t>(kChunk);
      if (isal_deflate(&stream_) != COMP_OK)
        throw Error(Exit::internal_error, "the timeline cannot be compressed");
      out.resize(before + kChunk - stream_.avail_out);
      file_.drain(buffer_bytes_);
    } while (stream_.avail_out == 0);
  }

 private:
  static constexpr std::size_t kChunk = 64 << 10;
  AtomicFile& file_;
  std::size_t buffer_bytes_;
  std::vector<std::uint8_t> level_;
  isal_zstream stream_{};
};

class GzipSink : public TraceSink {
 public:
  GzipSink(AtomicFile& file, std::size_t buffer_bytes)
      : deflater_(file, buffer_bytes), thread_([this] { work(); }) {}
  ~GzipSink() override { end(); }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  // Waits while too many blocks wait. Throws what compressing an earlier one threw.
  void write(std::string_view text) override {
    text_bytes_ += text.size();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < kMaxWaiting || error_; });
    if (error_) std::rethrow_exception(error_);
    waiting_.emplace_back(text);
    changed_.notify_all();
  }
  void finish() override {
    end();
    if (error_) std::rethrow_exception(error_);
    deflater_.write({}, true);
  }
  std::uint64_t text_bytes() const override { return text_bytes_; }

 private:
  static constexpr std::size_t kMaxWaiting = 4;

  // Until all that waits is compressed.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const std::string text = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      std::exception_ptr error;
      try {
        deflater_.write(text, false);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      changed_.notify_all();
      if (!error) continue;
      error_ = error;
      waiting_.clear();
      return;
    }
  }

  Deflater deflater_;
  std::uint64_t text_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> waiting_;
  std::exception_ptr error_;
  bool is_ending_ = false;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace

std::unique_ptr<TraceSink> make_gzip_sink(AtomicFile& file, std::size_t buffer_bytes) {
  return std::make_unique<GzipSink>(file, buffer_bytes);
}

}  // namespace msprof
