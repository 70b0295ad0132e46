// An SFTP server with a weakness, on stdin and stdout, for tests. It supports what the tests use:
// open, fstat, read, write, close, opendir, readdir. Written by hand from the protocol's draft
// without product code, so that both cannot share an error.
//
//   weak_sftp_server MODE [FILE]
//     short     returns at most 1,000 bytes
//     reversed  answers requests that arrive together in reverse order
//     batch     answers once no more requests arrive; FILE gets the largest number of reads or
//               writes that arrived together
//     forgets   drops all reads but two, until the file is opened again; then accepts one at a time
//     dies      exits at the third read, unless FILE exists; creates FILE
//     fails     refuses the third read, unless FILE exists; creates FILE
//     greedy    returns more than requested
//     full      refuses to write
//     names     claims more names than it sends
//     again     lists a folder again after its end
//     old       has neither fstat nor attributes in its listings
//     greets    prints a greeting first
//     foreign   answers requests that were not made
//     floods    same, without end
//     endless   lists a folder without end
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

enum : std::uint8_t {
  kInit = 1,
  kOpen = 3,
  kClose = 4,
  kRead = 5,
  kWrite = 6,
  kLstat = 7,
  kFstat = 8,
  kFsetstat = 10,
  kOpendir = 11,
  kReaddir = 12,
  kStatus = 101,
  kHandle = 102,
  kData = 103,
  kName = 104,
  kAttrs = 105,
};

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string text_field(const std::string& text) {
  return number(text.size(), 4) + text;
}

class Packet {
 public:
  explicit Packet(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value = value << 8 | static_cast<std::uint8_t>(bytes_.at(at_++));
    return value;
  }
  std::string text() {
    const auto size = static_cast<std::size_t>(number(4));
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::uint8_t type() const { return static_cast<std::uint8_t>(bytes_.at(0)); }
  void skip_type() { at_ = 1; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

class Server {
 public:
  Server(std::string mode, std::string file) : mode_(std::move(mode)), file_(std::move(file)) {}

  void run() {
    if (mode_ == "greets") write_all("Welcome to the board!\nHave a nice day.\n");
    while (fill()) {
      std::vector<Packet> packets = take_packets();
      if (mode_ == "batch") note_batch(packets);
      if (mode_ == "reversed") std::reverse(packets.begin(), packets.end());
      for (auto& packet : packets) answer(packet);
    }
  }

 private:
  bool waits() const { return mode_ == "batch" || mode_ == "reversed"; }

  // Reads the available input; in two modes, until no more has arrived for a while.
  bool fill() {
    char bytes[65536];
    pollfd entry = {STDIN_FILENO, POLLIN, 0};
    do {
      const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
      if (count <= 0) return false;
      input_.append(bytes, static_cast<std::size_t>(count));
    } while (waits() && ::poll(&entry, 1, 40) > 0);
    return true;
  }

  std::vector<Packet> take_packets() {
    std::vector<Packet> packets;
    while (input_.size() >= 4) {
      const std::uint64_t size = Packet(input_).number(4);
      if (input_.size() - 4 < size) break;
      packets.emplace_back(input_.substr(4, static_cast<std::size_t>(size)));
      input_.erase(0, static_cast<std::size_t>(4 + size));
    }
    return packets;
  }

  void note_batch(const std::vector<Packet>& packets) {
    const auto count = std::count_if(packets.begin(), packets.end(), [](const Packet& packet) {
      return packet.type() == kRead || packet.type() == kWrite;
    });
    largest_ = std::max(largest_, count);
    std::ofstream(file_) << largest_;
  }

  static void write_all(std::string bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (count <= 0) std::exit(1);
      bytes.erase(0, static_cast<std::size_t>(count));
    }
  }

  static void send(std::uint8_t type, std::uint64_t id, const std::string& body) {
    const std::string payload = static_cast<char>(type) + number(id, 4) + body;
    write_all(number(payload.size(), 4) + payload);
  }

  static void status(std::uint64_t id, std::uint32_t code, const std::string& message) {
    send(kStatus, id, number(code, 4) + text_field(message) + text_field("en"));
  }

  // Returns true the first time over all runs of this server.
  bool first_time() const {
    if (::access(file_.c_str(), F_OK) == 0) return false;
    std::ofstream(file_) << "x";
    return true;
  }

  void answer(Packet& packet) {
    const auto type = packet.type();
    packet.skip_type();
    const std::uint64_t id = packet.number(4);  // for init: the version
    if (mode_ == "foreign" && type != kInit) {
      send(kHandle, id + 1000, text_field("?"));
      send(kAttrs, id, number(0, 4));
      return;
    }
    while (mode_ == "floods" && type != kInit) send(kAttrs, id + 1000, number(0, 4));
    switch (type) {
      case kInit:
        send(2, 3, "");
        return;
      case kOpen:
        open(id, packet);
        return;
      case kClose:
        status(id, 0, "");
        return;
      case kRead:
        read(id, packet);
        return;
      case kWrite:
        write(id, packet);
        return;
      case kFsetstat:
        status(id, 0, "");
        return;
      case kFstat:
        fstat(id);
        return;
      case kOpendir:
        send(kHandle, id, text_field("folder"));
        return;
      case kReaddir:
        readdir(id);
        return;
      case kLstat:
        send(kAttrs, id, number(4, 4) + number(S_IFREG | 0644, 4));
        return;
      default:
        status(id, 8, "not here");
        return;
    }
  }

  void open(std::uint64_t id, Packet& packet) {
    const std::string path = packet.text();
    if (fd_ >= 0) ::close(fd_);
    fd_ = ::open(path.c_str(), O_RDONLY);
    if (fd_ < 0 && mode_ != "full" && mode_ != "batch") {
      status(id, 2, "");
      return;
    }
    ++opens_;
    reads_ = 0;
    send(kHandle, id, text_field("h"));
  }

  void fstat(std::uint64_t id) {
    struct stat found = {};
    if (mode_ == "old" || ::fstat(fd_, &found) != 0) return status(id, 8, "");
    send(kAttrs, id, number(1, 4) + number(static_cast<std::uint64_t>(found.st_size), 8));
  }

  void read(std::uint64_t id, Packet& packet) {
    packet.text();
    const std::uint64_t offset = packet.number(8);
    std::uint64_t size = packet.number(4);
    ++reads_;
    if (mode_ == "forgets" && opens_ == 1 && reads_ > 2) return;
    // A client that still sends several requests at once from now on has not adapted.
    pollfd entry = {STDIN_FILENO, POLLIN, 0};
    if (mode_ == "forgets" && opens_ > 1 && (!input_.empty() || ::poll(&entry, 1, 0) > 0)) {
      std::exit(3);
    }
    if (mode_ == "dies" && reads_ == 3 && first_time()) std::exit(1);
    if (mode_ == "fails" && reads_ == 3 && first_time()) return status(id, 4, "too much");
    if (mode_ == "short") size = std::min<std::uint64_t>(size, 1000);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    const ssize_t count = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count <= 0) return status(id, count == 0 ? 1 : 4, "");
    bytes.resize(static_cast<std::size_t>(count));
    if (mode_ == "greedy") bytes += std::string(size, '!');
    send(kData, id, text_field(bytes));
  }

  void write(std::uint64_t id, Packet&) {
    if (mode_ == "full") return status(id, 4, "No space left on device");
    status(id, 0, "");
  }

  void readdir(std::uint64_t id) {
    if (mode_ == "endless") {
      constexpr int kNames = 1000;
      std::string names;
      for (int i = 0; i < kNames; ++i) {
        names += text_field("name" + std::to_string(listed_++)) + text_field("") + number(4, 4) +
                 number(S_IFREG | 0644, 4);
      }
      return send(kName, id, number(kNames, 4) + names);
    }
    if (++listings_ > 1 && mode_ != "names" && mode_ != "again") return status(id, 1, "");
    const std::string name = text_field("one") + text_field("-rw one") + number(0, 4);
    send(kName, id, number(mode_ == "names" ? 1'000'000 : 1, 4) + name);
  }

  std::string mode_;
  std::string file_;
  std::string input_;
  std::ptrdiff_t largest_ = 0;
  int fd_ = -1;
  int opens_ = 0;
  int reads_ = 0;
  int listings_ = 0;
  std::uint64_t listed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  Server(argv[1], argc > 2 ? argv[2] : "").run();
  return 0;
}
