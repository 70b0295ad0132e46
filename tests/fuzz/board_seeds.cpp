#include <string>
#include <vector>

#include "../board/tar_bytes.hpp"
#include "seeds.hpp"

namespace msprof::fuzz {

namespace {

using namespace msprof::test;

std::string pax(const std::string& record) {
  return tar_header('x', "pax", record.size()) + tar_padded(record);
}

// Big-endian, as in SFTP.
std::string u32(unsigned value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

// The first byte selects the chunk size of an unpacked stream.
std::string tar_seed(const std::string& stream) {
  return "t\x20" + stream + tar_end();
}

}  // namespace

std::vector<std::string> board_answers() {
  const std::string long_name(300, 'n');
  return {
      "ls 81a4 12 1600000000 1600000000 7 ./a b\ns 41ed 4096 1 2 3 ./folder\n@refused\n"
      "s a1ff 3 1 2 3 ./link\ns 81a4 1 2 3 4 ../x\n@end\n",
      "ll -rwxr-xr-x 12 ./a b\nl drwxr-xr-x 40 .\nl crw------- 1, ./device\n@end\n",
      "fsystem Linux\nmachine aarch64\nhome /root\nfolder /root/msprof\ntool tar\ntool stat\n"
      "program 7f 45 4c 46 02 01 01 00 00 00 00 00 00 00 00 00 03 00 b7 00\nfree 123456\n",
      "f\x7f"
      "ELF\x02\x01\x01system Linux\nmachine x86_64\nfolder /a\nfree 1\n",
      "cfirst file\n@ 0\nsecond\n@ 0\nthird\n@ 1\n",
      "s" + u32(3) + "abc" + u32(0xd) + u32(0) + u32(9) + u32(0x81a4) + u32(1) + u32(2),
      "s" + u32(4) + u32(7) + "Failure",
      tar_seed(tar_folder("./") + tar_folder("./folder/") + tar_file("./folder/file", "content")),
      tar_seed(tar_file("../evil", "x") + tar_link('2', "out", "..") + tar_file("out/evil", "x")),
      tar_seed(tar_link('1', "hard", "/etc/passwd") + tar_link('3', "device", "")),
      tar_seed(tar_header('L', "././@LongLink", 241) + tar_padded(long_name.substr(0, 240)) +
               tar_file("short", "content")),
      tar_seed(pax("19 path=a/../../b\n\n") + tar_file("a", "1") + pax("21 mtime=160000.25\n") +
               tar_file("b", "2") + pax("22 GNU.sparse.major=1\n") + tar_file("c", "3")),
      tar_seed(tar_header('S', "sparse", 512) + std::string(512, 's')),
  };
}

}  // namespace msprof::fuzz
