// OutputPeek: observes the output of a run in progress: the files of its output folder and their
// new data. Provided by a host, used by views of a run. Never blocks: a board answers later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace msprof {

struct PeekedFile {
  std::string path;  // relative to the output folder
  std::uint64_t bytes = 0;
};

// A part of a file to read.
struct PeekWish {
  std::string path;  // path as in a listing
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
};

struct PeekedPart {
  std::string path;
  std::uint64_t from = 0;
  std::string bytes;  // the available bytes, at most those requested
};

struct Peeked {
  std::vector<PeekedFile> files;            // regular files, at most kMaxPeekedFiles
  std::vector<PeekedPart> parts;            // in request order
  std::optional<std::uint64_t> free_bytes;  // on its disk; empty: not requested or unknown
};

inline constexpr std::size_t kMaxPeekedFiles = 20'000;

class OutputPeek {
 public:
  virtual ~OutputPeek() = default;
  // False while an answer is pending, and if no more answers can come.
  virtual bool is_ready() = 0;
  // Requests a listing, these parts, and optionally the free space. Call only if is_ready().
  virtual void ask(const std::vector<PeekWish>& wishes, bool with_free_bytes) = 0;
  // Returns the answer once; nullopt if it has not arrived.
  virtual std::optional<Peeked> take() = 0;
  // Reason why no more answers can come; empty: no problem.
  virtual std::string trouble() const { return ""; }
};

// Returns the available bytes of this range of a local file, which may be of any type, or missing.
std::string read_peeked_part(const std::filesystem::path& file, std::uint64_t from,
                             std::uint64_t bytes);

// Observes a local folder.
class LocalPeek : public OutputPeek {
 public:
  explicit LocalPeek(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool is_ready() override { return !answer_; }
  void ask(const std::vector<PeekWish>& wishes, bool with_free_bytes) override;
  std::optional<Peeked> take() override;

 private:
  std::filesystem::path folder_;
  std::optional<Peeked> answer_;
};

}  // namespace msprof
