// A dictionary of a recording, hash_dic or type_info_dic: one line of text per name, written when
// the name first occurs. For Recording. Source: cann_host.md 1.5.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/acl/prof/text_file.hpp"

namespace msprof::acl {

// Hash of a text as in hash_dic: two sums, with powers of 29 and of 131.
std::uint64_t text_hash(std::string_view text);

class Dictionary {
 public:
  explicit Dictionary(std::string path);

  // Whether the key is already in the dictionary. Lock-free.
  bool has(std::uint64_t key) const;
  // Adds "<prefix>:<text>" if the key is new. If there is no space, the text is counted as lost and
  // not retried.
  void add(std::uint64_t key, std::string_view prefix, std::string_view text);
  // Appends many lines unchanged, without adding their keys to the table.
  void add_lines(const std::string& lines);
  // Writes `.done`.
  void finish(bool at_exit);
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  // Open addressing; 0 is a free slot. A full table is replaced by one twice as large but kept for
  // threads that are still reading it.
  struct Table {
    explicit Table(std::size_t size) : places(size) {}
    std::vector<std::atomic<std::uint64_t>> places;
    std::size_t used = 0;
  };
  static void insert(Table& table, std::uint64_t key);
  void remember(std::uint64_t key);

  std::atomic<const Table*> table_;
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<Table>> tables_;
  TextFile file_;
};

}  // namespace msprof::acl
