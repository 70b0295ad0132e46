// Calls mstx marks and ranges before, between and after the work of a device, under any recorder:
//   acl_program_ranges [ACL_JSON]
#include "example.hpp"
#include "mstx/ms_tools_ext.h"

using namespace example;

int main(int argc, char** argv) {
  mstxMarkA("before", nullptr);
  check(aclInit(argc > 1 ? argv[1] : nullptr), "aclInit");
  {
    const Device device(0);
    const mstxRangeId range = mstxRangeStartA("add", device.stream());
    add_tensors(device.stream());
    mstxRangeEnd(range);
    mstxMarkA("between", nullptr);
  }
  check(aclFinalize(), "aclFinalize");
  mstxMarkA("after", nullptr);
  return 0;
}
