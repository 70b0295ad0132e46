// Fuzz target: answers of a board. The first byte selects the parser: a listing, a tar stream,
// files by cat, board detection, SFTP. No answer may create anything outside one folder, or
// anything but files and folders in it.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/log.hpp"
#include "board/session/info.hpp"
#include "board/transfer/cat_transfer.hpp"
#include "board/transfer/listing.hpp"
#include "board/transfer/tar_transfer.hpp"
#include "collect/elf_file.hpp"
#include "ssh/sftp_wire.hpp"

namespace fs = std::filesystem;

namespace {

using namespace msprof;

void require(bool good) {
  if (!good) std::abort();
}

template <typename Work>
void refuse_as(Exit code, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() == code) return;
    log::set_level(log::Level::normal);
    log::error("{}", error.what());
    std::abort();
  }
}

// A folder that must remain the only entry of its parent.
class Target {
 public:
  Target() {
    const bool has_memory = fs::is_directory("/dev/shm");
    std::string pattern =
        (has_memory ? "/dev/shm" : fs::temp_directory_path().string()) + "/msprof-XXXXXX";
    require(::mkdtemp(pattern.data()) != nullptr);
    outside_ = pattern;
    fs::create_directory(into());
  }
  ~Target() {
    std::error_code ignored;
    fs::remove_all(outside_, ignored);
  }
  fs::path into() const { return outside_ / "into"; }
  void check() const {
    require(std::distance(fs::directory_iterator(outside_), fs::directory_iterator()) == 1);
    for (const auto& entry : fs::recursive_directory_iterator(into())) {
      const auto kind = entry.symlink_status().type();
      require(kind == fs::file_type::regular || kind == fs::file_type::directory);
      const std::string path = entry.path().lexically_relative(into());
      require(is_acceptable_board_path(path));
    }
  }

 private:
  fs::path outside_;
};

void read_listing(std::string_view bytes) {
  refuse_as(Exit::partial_data, [&] {
    for (const auto& [path, file] : parse_board_listing(bytes).files) {
      require(is_acceptable_board_path(path));
    }
  });
}

// Unpacks in chunks of a size given by the input.
void unpack(std::string_view bytes) {
  const std::size_t piece = bytes.empty() ? 1 : static_cast<unsigned char>(bytes[0]) * 16U + 1;
  bytes.remove_prefix(bytes.empty() ? 0 : 1);
  const Target target;
  Incoming incoming(target.into(), {.bytes = 64 << 10, .entries = 100});
  refuse_as(Exit::partial_data, [&] {
    const auto give = [&] {
      const std::string_view part = bytes.substr(0, piece);
      bytes.remove_prefix(part.size());
      return part;
    };
    read_tar(give, incoming);
  });
  incoming.finish();
  target.check();
  incoming.examples();
}

void read_cat(std::string_view bytes) {
  const Target target;
  Incoming incoming(target.into(), {.bytes = 64 << 10, .entries = 100});
  CatReader reader({{.path = "a"}, {.path = "../b"}, {.path = "c/d"}}, "@", incoming);
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, static_cast<unsigned char>(bytes[0]) + 1U);
    bytes.remove_prefix(part.size());
    reader.take(part);
  }
  reader.finish();
  require(reader.is_done());
  target.check();
}

void read_facts(std::string_view bytes) {
  refuse_as(Exit::board_unreachable, [&] {
    const BoardInfo facts = parse_board_info(bytes);
    facts.in_one_line();
    why_not_for_board(bytes, facts.program_head, facts.machine);
  });
}

void read_sftp(std::string_view bytes) {
  sftp::Fields fields(bytes);
  while (!fields.is_at_end() && !fields.has_overrun()) {
    const std::string_view name = fields.text();
    sftp::make_entry(name, fields.attributes());
  }
  sftp::failure_reason({sftp::Type::status, 1, sftp::Fields(bytes)});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_level(log::Level::silent);
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'l':
      read_listing(bytes);
      break;
    case 't':
      unpack(bytes);
      break;
    case 'c':
      read_cat(bytes);
      break;
    case 'f':
      read_facts(bytes);
      break;
    case 's':
      read_sftp(bytes);
      break;
    default:
      break;
  }
  return 0;
}
