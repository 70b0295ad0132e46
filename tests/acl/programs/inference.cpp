// A CANN application without profiling calls: its starter decides what is recorded.
// acl_program_inference MODEL [ACL_JSON] Executes the model three times.
#include <cstddef>
#include <cstdint>

#include "model_run.hpp"

using namespace model_run;

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  check(aclInit(argc > 2 ? argv[2] : nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  std::uint32_t model = 0;
  check(aclmdlLoadFromFile(argv[1], &model), "aclmdlLoadFromFile");
  aclmdlDesc* const desc = aclmdlCreateDesc();
  check(aclmdlGetDesc(desc, model), "aclmdlGetDesc");
  aclmdlDataset* const input = aclmdlCreateDataset();
  // With a dynamic batch, the second input is the batch size.
  for (std::size_t i = 0; i < aclmdlGetNumInputs(desc); ++i)
    add_buffer(input, aclmdlGetInputSizeByIndex(desc, i));
  aclmdlDataset* const output = aclmdlCreateDataset();
  add_buffer(output, aclmdlGetOutputSizeByIndex(desc, 0));
  for (int i = 0; i < 3; ++i) check(aclmdlExecute(model, input, output), "aclmdlExecute");
  destroy(input);
  destroy(output);
  aclmdlDestroyDesc(desc);
  check(aclmdlUnload(model), "aclmdlUnload");
  check(aclrtResetDevice(0), "aclrtResetDevice");
  check(aclFinalize(), "aclFinalize");
  return 0;
}
