// A CANN application that runs a small model until a file exists, so that a collector can start and
// stop its recording: acl_program_service MODEL END [fork]
// It exits when the file END exists. END.<pid> grows by a byte with each execution. With `fork`, a
// child without the runtime's threads runs for the same time.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "model_run.hpp"

using namespace model_run;

namespace {

void pause_a_moment() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

bool is_there(const char* file) {
  return ::access(file, F_OK) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const end = argv[2];
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  std::uint32_t model = 0;
  check(aclmdlLoadFromFile(argv[1], &model), "aclmdlLoadFromFile");
  aclmdlDesc* const desc = aclmdlCreateDesc();
  check(aclmdlGetDesc(desc, model), "aclmdlGetDesc");
  aclmdlDataset* const input = aclmdlCreateDataset();
  aclmdlDataset* const output = aclmdlCreateDataset();
  add_buffer(input, aclmdlGetInputSizeByIndex(desc, 0));
  add_buffer(output, aclmdlGetOutputSizeByIndex(desc, 0));
  pid_t child = 0;
  if (argc > 3 && std::strcmp(argv[3], "fork") == 0) {
    child = ::fork();
    if (child == 0) {
      while (!is_there(end) && ::getppid() != 1) pause_a_moment();
      std::exit(0);
    }
  }
  const std::string counter = std::string(end) + "." + std::to_string(::getpid());
  const int count = ::open(counter.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  while (!is_there(end)) {
    check(aclmdlExecute(model, input, output), "aclmdlExecute");
    if (::write(count, ".", 1) != 1) check(-1, "write");
    pause_a_moment();
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
  destroy(input);
  destroy(output);
  aclmdlDestroyDesc(desc);
  check(aclmdlUnload(model), "aclmdlUnload");
  check(aclrtResetDevice(0), "aclrtResetDevice");
  check(aclFinalize(), "aclFinalize");
  return 0;
}
