// TraceDb: the finished store of one capture, which exports read through SQL. TraceDbWriter creates
// it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/database.hpp"
#include "store/raw_file_state.hpp"
#include "store/schema.hpp"

namespace msprof {

class TraceDb {
 public:
  // Opens the store at `path`; empty if it is missing, of another version, or incomplete. Throws if
  // the file cannot be read.
  static std::optional<TraceDb> open(const std::filesystem::path& path);

  Statement prepare(std::string_view sql) const { return db_.prepare(sql); }
  std::string meta(std::string_view key) const;
  std::vector<RawFileState> raw_files() const;
  const Database& database() const { return db_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  TraceDb(Database db, std::filesystem::path path) : db_(std::move(db)), path_(std::move(path)) {}
  Database db_;
  std::filesystem::path path_;
};

}  // namespace msprof
