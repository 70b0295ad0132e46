#include "cluster/part.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "store/new_database.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;

namespace {

constexpr int kPartApplicationId = 0x4d535050;  // "MSPP" in the file header
// Fixed, so that the bytes of a part depend only on its rows.
constexpr int kPartPageBytes = 4096;
// A small cache is enough to read a part: rows are read once and in order.
constexpr const char* kSmallCache = "PRAGMA cache_size=-128;";

// Offsets in the header of a SQLite file. Source: sqlite.org/fileformat2.html 1.3.
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;
constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

constexpr std::array kOpTotalColumns = {"id INTEGER PRIMARY KEY",
                                        "name_id INTEGER",
                                        "type_name_id INTEGER",
                                        "unit_name_id INTEGER",
                                        "count INTEGER",
                                        "duration_ns INTEGER",
                                        "square_high INTEGER",
                                        "square_low INTEGER",
                                        "shortest_ns INTEGER",
                                        "shortest_member INTEGER",
                                        "longest_ns INTEGER",
                                        "longest_member INTEGER",
                                        "bins BLOB"};

const std::vector<StoreTable>& part_tables() {
  static const std::vector<StoreTable> tables = [] {
    auto all = make_tables(static_cast<PartRows*>(nullptr));
    all.push_back({"op_total", {kOpTotalColumns.begin(), kOpTotalColumns.end()}});
    all.push_back({"name", {"id INTEGER PRIMARY KEY", "text TEXT NOT NULL"}});
    all.push_back({"meta", {"key TEXT PRIMARY KEY", "value TEXT NOT NULL"}});
    return all;
  }();
  return tables;
}

// Returns the CRC-32 of the file with user_version set to zero.
std::uint32_t file_checksum(FileReader& file) {
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  uLong checksum = crc32(0, nullptr, 0);
  bool is_first = true;
  while (const std::size_t count = file.read(buffer)) {
    if (is_first && count >= kHeaderBytes)
      std::fill_n(buffer.begin() + kUserVersionAt, 4, std::byte{0});
    is_first = false;
    checksum =
        crc32(checksum, reinterpret_cast<const Bytef*>(buffer.data()), static_cast<uInt>(count));
  }
  return static_cast<std::uint32_t>(checksum);
}

std::uint32_t big_endian_at(std::string_view header, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<std::uint8_t>(header[at + i]);
  return value;
}

// Returns the header of a SQLite file; empty if it is not a SQLite file. Throws Error(partial_data)
// if it cannot be read.
std::string read_header(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return "";
  FileReader file(path);
  std::string header(kHeaderBytes, '\0');
  const std::size_t count = file.read(std::as_writable_bytes(std::span(header)));
  return count == kHeaderBytes && header.starts_with(kSqliteMagic) ? header : "";
}

void seal(const fs::path& path) {
  FileReader file(path);
  const std::uint32_t checksum = file_checksum(file);
  unsigned char bytes[4];
  for (std::size_t i = 0; i < 4; ++i)
    bytes[i] = static_cast<unsigned char>(checksum >> (24 - 8 * i));
  const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd || ::pwrite(fd.get(), bytes, sizeof bytes, kUserVersionAt) != sizeof bytes)
    throw_cannot_write(path, errno);
}

Error not_taken(const fs::path& path, std::string_view why) {
  return Error(Exit::partial_data, fmt::format("{} {}", path.string(), why));
}

}  // namespace

PartWriter::PartWriter(const fs::path& target, const PartTexts& names)
    : temporary_(new_database_file(target)),
      db_(Database::create(temporary_.path(), kPartPageBytes)) {
  db_.execute(fmt::format("PRAGMA application_id={};", kPartApplicationId));
  const auto& tables = part_tables();
  for (std::size_t i = kTables; i < tables.size(); ++i) db_.execute(create_statement(tables[i]));
  tables_ = std::make_unique<BulkTables>(db_, "name");
  for (std::size_t i = 0; i < kTables; ++i) tables_->create(tables[i].name, tables[i].columns);
  for (std::size_t i = 0; i < names.size(); ++i)
    tables_->add_text(static_cast<std::int64_t>(i) + 1, names[i]);
}

PartWriter::~PartWriter() {
  tables_.reset();
  op_total_.reset();
  db_.close();
}

void PartWriter::add(const OpTotal& total) {
  if (!op_total_) {
    tables_->drain();
    db_.execute("BEGIN");
    op_total_.emplace(db_.prepare("INSERT INTO op_total VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?)"));
  }
  int place = 0;
  const auto bind = [&](std::int64_t value) {
    ++place;
    value == kNull ? op_total_->bind_null(place) : op_total_->bind(place, value);
  };
  for (const std::int64_t value :
       {total.name_id, total.type_name_id, total.unit_name_id, total.count, total.duration_ns}) {
    bind(value);
  }
  const SquareHalves squares = to_halves(total.square_sum);
  op_total_->bind(++place, squares.high);
  op_total_->bind(++place, squares.low);
  for (const std::int64_t value :
       {total.shortest_ns, total.shortest_member, total.longest_ns, total.longest_member}) {
    bind(value);
  }
  op_total_->bind_blob(++place, total.histogram.encoded()).run();
}

void PartWriter::publish(const PartFacts& facts, bool is_to_stay) {
  tables_->drain();
  if (!op_total_) db_.execute("BEGIN");
  {
    Statement meta = db_.prepare("INSERT INTO meta VALUES(?,?)");
    meta.bind(1, "version").bind(2, std::to_string(kPartVersion)).run();
    meta.bind(1, "has_detail").bind(2, facts.has_detail ? "1" : "0").run();
    meta.bind(1, "expected_ranks").bind(2, facts.expected_ranks).run();
  }
  db_.execute("COMMIT;");
  tables_.reset();
  op_total_.reset();
  db_.close();
  seal(temporary_.path());
  is_to_stay ? temporary_.publish() : temporary_.rename();
}

bool is_part(const fs::path& path) {
  const std::string header = read_header(path);
  return !header.empty() && big_endian_at(header, kApplicationIdAt) == kPartApplicationId;
}

Part Part::open(const fs::path& path, bool is_known) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw not_taken(path, "does not exist");
  const std::string header = read_header(path);
  if (header.empty() || big_endian_at(header, kApplicationIdAt) != kPartApplicationId)
    throw not_taken(path, "is not a rank summary of msprof");
  const auto has_its_checksum = [&] {
    FileReader file(path);
    return file_checksum(file) == big_endian_at(header, kUserVersionAt);
  };
  if (!is_known && !has_its_checksum()) throw not_taken(path, "is damaged: checksum mismatch");
  Part part(Database::open_read_only(path), path);
  part.db_.execute(kSmallCache);
  const std::string version = [&] {
    try {
      return read_meta(part.db_, "version");
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      return std::string();
    }
  }();
  if (version != std::to_string(kPartVersion)) {
    throw not_taken(path,
                    fmt::format("is a rank summary of version {}, but this msprof reads version "
                                "{}: create it again with `msprof rank`",
                                version.empty() ? "unknown" : printable(version), kPartVersion));
  }
  if (!has_tables(part.db_, part_tables()))
    throw not_taken(path, "does not have the tables of a rank summary");
  part.facts_.has_detail = read_meta(part.db_, "has_detail") == "1";
  part.facts_.expected_ranks = read_meta(part.db_, "expected_ranks");
  return part;
}

Error Part::damaged(std::string_view what) const {
  return not_taken(path_, fmt::format("is damaged ({})", what));
}

PartTexts Part::names() const {
  PartTexts names;
  Statement read = db_.prepare("SELECT id, text FROM name ORDER BY id");
  while (read.step()) {
    const std::size_t at = names.size();
    names.add(read.text(1));
    const bool is_in_order = at == 0 || names[at - 1] < names[at];
    if (read.integer(0) != static_cast<std::int64_t>(names.size()) || !is_in_order)
      throw damaged("its texts are not in order");
  }
  return names;
}

std::vector<MemberRow> Part::members() const {
  std::vector<MemberRow> members;
  RowCursor<MemberRow> rows(db_);
  while (rows.next()) {
    members.push_back(*rows);
    if (rows->id != static_cast<std::int64_t>(members.size()))
      throw damaged("its ranks are not in order");
  }
  return members;
}

OpTotals::OpTotals(const Part& part)
    : part_(part),
      read_(part.db().prepare(
          "SELECT name_id, type_name_id, unit_name_id, count, duration_ns, square_high,"
          " square_low, shortest_ns, shortest_member, longest_ns, longest_member, bins"
          " FROM op_total ORDER BY id")) {}

bool OpTotals::next() {
  if (!read_.step()) return false;
  const auto cell = [this](int column) { return read_.maybe_integer(column).value_or(kNull); };
  total_ = {};
  total_.name_id = cell(0);
  total_.type_name_id = cell(1);
  total_.unit_name_id = cell(2);
  total_.count = read_.integer(3);
  total_.duration_ns = read_.integer(4);
  total_.square_sum = joined({read_.integer(5), read_.integer(6)});
  total_.shortest_ns = cell(7);
  total_.shortest_member = cell(8);
  total_.longest_ns = cell(9);
  total_.longest_member = cell(10);
  if (!total_.histogram.add_encoded(read_.blob(11)))
    throw part_.damaged("the durations of an operator are invalid");
  return true;
}

}  // namespace msprof::cluster
