// OutputPeek: a look at what a run writes while it runs: the files of its output folder and what
// they grew by. For whoever shows that; a host has one. Nothing here waits: a board answers when it
// has done so.
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

// A part of a file that is to be read.
struct PeekWish {
  std::string path;  // of a listing
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
};

struct PeekedPart {
  std::string path;
  std::uint64_t from = 0;
  std::string bytes;  // as many as are there, at most those wished for
};

struct Peeked {
  std::vector<PeekedFile> files;            // regular files, at most kMaxPeekedFiles
  std::vector<PeekedPart> parts;            // in the order of the wishes
  std::optional<std::uint64_t> free_bytes;  // of the disk; empty: not asked for or unknown
};

inline constexpr std::size_t kMaxPeekedFiles = 20'000;

class OutputPeek {
 public:
  virtual ~OutputPeek() = default;
  // False while an answer is under way, and when there will be none any more.
  virtual bool is_ready() = 0;
  // Asks for a listing and these parts, and for the free space. Only when ready.
  virtual void ask(const std::vector<PeekWish>& wishes, bool with_free_bytes) = 0;
  // Gives the answer once; empty: it is not there yet.
  virtual std::optional<Peeked> take() = 0;
  // Why there will be no more answers; empty: there will.
  virtual std::string trouble() const { return ""; }
};

// As many of these bytes of a file on this machine as are there; it may be anything, or absent.
std::string read_peeked_part(const std::filesystem::path& file, std::uint64_t from,
                             std::uint64_t bytes);

// Of a folder on this machine.
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
