#include "cli/cli_fixture.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace msprof::test {

void set_age(const JobBuilder& job, int seconds) {
  constexpr time_t kStartOf2020 = 1'577'836'800;
  const timespec time = {kStartOf2020 + seconds, 0};
  const timespec both[2] = {time, time};
  const auto path = job.folder() / "info.json.0";
  if (::utimensat(AT_FDCWD, path.c_str(), both, 0) != 0) {
    throw std::system_error(errno, std::generic_category(), path.string());
  }
}

void add_many_records(JobBuilder& job, std::size_t records) {
  std::vector<AicoreRecord> all(records);
  for (std::size_t i = 0; i < records; ++i) {
    all[i].layer_id = static_cast<std::uint32_t>(i % 50);
    all[i].start_ns = 1000 * i;
    all[i].total = 100 + i % 7;
    all[i].execution = i / 50;
  }
  job.info_json("1000").net_info("net", 1).data(DataName{}, aicore_file(all));
}

}  // namespace msprof::test
