// TraceSink: where the text of a timeline goes. For TraceJsonWriter: one file, plain or compressed;
// TraceParts: several, each a stretch of time, for --split.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"

namespace msprof {

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Text is appended here; drain() now and then, finish() at the end.
  virtual std::string& buffer() = 0;
  virtual void drain() = 0;
  virtual void finish() = 0;
  // Of text, before any compression, what is in the buffer included.
  virtual std::uint64_t text_bytes() const = 0;
};

// A sink that keeps nothing and counts.
class CountingSink : public TraceSink {
 public:
  std::string& buffer() override { return buffer_; }
  void drain() override {
    counted_ += buffer_.size();
    buffer_.clear();
  }
  void finish() override { drain(); }
  std::uint64_t text_bytes() const override { return counted_ + buffer_.size(); }

 private:
  std::string buffer_;
  std::uint64_t counted_ = 0;
};

class PlainSink : public TraceSink {
 public:
  // Keeps `buffer_bytes` of text at most between drains.
  PlainSink(AtomicFile& file, std::size_t buffer_bytes)
      : file_(&file), buffer_bytes_(buffer_bytes) {}
  std::string& buffer() override { return file_->buffer(); }
  void drain() override { file_->drain(buffer_bytes_); }
  void finish() override {}
  std::uint64_t text_bytes() const override { return file_->bytes_written(); }

 private:
  AtomicFile* file_;
  std::size_t buffer_bytes_;
};

// The same through gzip.
std::unique_ptr<TraceSink> make_gzip_sink(AtomicFile& file, std::size_t buffer_bytes);

}  // namespace msprof
