// Compresses timelines with gzip. Blocks are compressed independently, so any thread can do it: the
// one that wrote the block, ahead of its turn, or the sink's own.
#include <isa-l/crc.h>
#include <zlib.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "export/trace/deflate.hpp"
#include "export/trace/trace_json_writer.hpp"

namespace msprof {

namespace {

// RFC 1952: magic, deflate, no flags, no time, no extra flags, Unix.
constexpr std::string_view kGzipHeader("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10);
// RFC 1951: a final block with fixed codes and no symbols.
constexpr std::string_view kGzipEnd("\x03\x00", 2);

std::string little_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes;
}

class GzipSink : public TraceSink {
 public:
  // Writes before the thread starts: nothing would end it if the constructor failed.
  explicit GzipSink(AtomicFile& file) : file_(file) {
    file_.write_block(kGzipHeader);
    thread_ = std::thread([this] { work(); });
  }
  ~GzipSink() override { end(); }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  // Waits while too many texts are queued. Rethrows the error of an earlier compression.
  void write(std::string_view text) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < kMaxWaiting || error_; });
    if (error_) std::rethrow_exception(error_);
    waiting_.emplace_back(text);
    changed_.notify_all();
  }

  bool packs() const override { return true; }
  PackedText pack(std::string_view text) const override {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    return {deflate(text, DeflateForm::part), text.size(), crc32_gzip_refl(0, bytes, text.size())};
  }
  void write_packed(const PackedText& text) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return (waiting_.empty() && !is_busy_) || error_; });
    if (error_) std::rethrow_exception(error_);
    // No race with the thread: it sleeps while the queue is empty.
    append(text);
  }

  void finish() override {
    end();
    if (error_) std::rethrow_exception(error_);
    file_.write_block(kGzipEnd);
    file_.write_block(little_endian(crc_) + little_endian(static_cast<std::uint32_t>(text_bytes_)));
  }
  std::uint64_t text_bytes() const override { return text_bytes_; }

 private:
  static constexpr std::size_t kMaxWaiting = 4;

  void append(const PackedText& text) {
    file_.write_block(text.bytes);
    crc_ = static_cast<std::uint32_t>(
        crc32_combine(crc_, text.checksum, static_cast<z_off_t>(text.text_bytes)));
    text_bytes_ += text.text_bytes;
  }

  // Waits until the queue is compressed and stops the thread.
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
      is_busy_ = true;
      lock.unlock();
      std::exception_ptr error;
      try {
        append(pack(text));
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      is_busy_ = false;
      if (error) {
        error_ = error;
        waiting_.clear();
      }
      changed_.notify_all();
      if (error) return;
    }
  }

  AtomicFile& file_;
  std::uint64_t text_bytes_ = 0;
  std::uint32_t crc_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> waiting_;
  bool is_busy_ = false;  // the thread is compressing and appending
  bool is_ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last member: it uses all others
};

}  // namespace

std::unique_ptr<TraceSink> make_gzip_sink(AtomicFile& file) {
  return std::make_unique<GzipSink>(file);
}

}  // namespace msprof
