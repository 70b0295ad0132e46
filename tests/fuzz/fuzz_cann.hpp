// Code shared by the fuzz targets of PROF folders: makes a small valid capture, replaces files in
// it, imports and exports it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cann_seeds.hpp"

namespace msprof::fuzz {

// Reads chunks from the front of an input; the last one may be shorter.
class Pieces {
 public:
  explicit Pieces(std::string_view bytes) : bytes_(bytes) {}
  Pieces(const std::uint8_t* data, std::size_t size)
      : bytes_(reinterpret_cast<const char*>(data), size) {}
  bool empty() const { return bytes_.empty(); }
  std::string_view take(std::size_t count);
  std::size_t number(std::size_t width);

 private:
  std::string_view bytes_;
};

// Writes the files of an input into `folder` until it ends: u8 (ignored), u8 name length, name, u16
// length, content. Skips names that leave the folder or are invalid.
void unpack_files(Pieces& input, const std::filesystem::path& folder);

// A folder in memory if possible.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A small capture; files are replaced for one input and restored afterwards.
class CannCapture {
 public:
  explicit CannCapture(CannChip chip);
  // Replaces or adds a file; the name is relative to the capture.
  void put(const std::string& name, std::string_view bytes);
  // Imports and exports, then restores the capture. Any error is a finding, except
  // Error(nothing_to_do) if `may_be_nothing`.
  void run(bool may_be_nothing);

 private:
  ScratchFolder scratch_;
  std::filesystem::path folder_;
  std::vector<std::pair<std::string, std::string>> originals_;
  std::set<std::string> changed_;
};

// Imports and exports `folder` with its products in `products`; see CannCapture::run().
void import_and_export(const std::filesystem::path& folder, const std::filesystem::path& products,
                       bool may_be_nothing);

}  // namespace msprof::fuzz
