#include "export/trace_sink.hpp"

#include <zlib.h>

#include "base/error.hpp"

namespace msprof {

namespace {

// As fast as gzip goes: events are so alike that more effort saves little (measured: level 6 takes
// twice the time for a sixth less).
constexpr int kLevel = 1;
constexpr int kGzipWindow = 15 + 16;  // the largest window, with a gzip header
constexpr int kMemoryLevel = 9;

class GzipSink : public TraceSink {
 public:
  GzipSink(AtomicFile& file, std::size_t buffer_bytes) : file_(file), buffer_bytes_(buffer_bytes) {
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw Error(Exit::internal_error, "zlib does not start");
    }
  }
  ~GzipSink() override { deflateEnd(&stream_); }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  std::string& buffer() override { return text_; }
  void drain() override {
    if (text_.size() >= buffer_bytes_) compress(Z_NO_FLUSH);
  }
  void finish() override { compress(Z_FINISH); }
  std::uint64_t text_bytes() const override { return compressed_from_ + text_.size(); }

 private:
  void compress(int flush) {
    compressed_from_ += text_.size();
    std::string& out = file_.buffer();
    // zlib's interface takes input that it does not change as non-const.
    stream_.next_in = reinterpret_cast<Bytef*>(text_.data());
    stream_.avail_in = static_cast<uInt>(text_.size());
    do {
      const std::size_t before = out.size();
      out.resize(before + kChunk);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream_.avail_out = static_cast<uInt>(kChunk);
      deflate(&stream_, flush);
      out.resize(before + kChunk - stream_.avail_out);
      file_.drain(buffer_bytes_);
    } while (stream_.avail_out == 0);
    text_.clear();
  }

  static constexpr std::size_t kChunk = 64 << 10;
  AtomicFile& file_;
  std::size_t buffer_bytes_;
  std::string text_;
  std::uint64_t compressed_from_ = 0;
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<TraceSink> make_gzip_sink(AtomicFile& file, std::size_t buffer_bytes) {
  return std::make_unique<GzipSink>(file, buffer_bytes);
}

}  // namespace msprof
