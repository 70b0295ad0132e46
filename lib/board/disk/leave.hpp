// BoardLeave: keeps recordings on a server. Moves them to their final place there, runs the
// server's msprof on them and downloads the products, which are small. Used by SshHost.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "board/session/link.hpp"
#include "board/transfer/transfer.hpp"
#include "collect/host.hpp"

namespace msprof {

struct LeaveOptions {
  bool on = false;
  std::string folder;            // on the server, absolute or below the home folder; empty:
                                 // kept/<run>
  bool export_products = false;  // products are exported after the import
};

class BoardLeave {
 public:
  BoardLeave(BoardLink& link, LeaveOptions options);

  // With a folder in the options: replaces the run's output folder by a link to a new folder in it,
  // so that the recording is on that disk from the start. Throws Error(cannot_write).
  void open();
  // Path of this project's msprof on the server; empty: not installed.
  void set_tool(std::string tool) { tool_ = std::move(tool); }
  // A folder on the disk that the recording fills; empty: the run folder.
  const std::string& disk() const { return options_.folder; }

  // Moves the captures to their final place, imports them there and downloads the products into
  // `into`.
  std::vector<LeftCapture> all(const std::filesystem::path& into);
  // Describes the data left on the server; empty: none.
  std::string remains() const;

 private:
  std::vector<LeftCapture> move_captures();
  int run_tool(const std::vector<std::string>& words);
  void process(LeftCapture& capture, const std::filesystem::path& into);
  std::vector<std::string> list_products(const std::string& capture, const TreeListing& before,
                                         std::uint64_t& bytes);

  BoardLink& link_;
  LeaveOptions options_;
  std::string tool_;
  std::string place_;
  std::vector<LeftCapture> left_;
};

}  // namespace msprof
