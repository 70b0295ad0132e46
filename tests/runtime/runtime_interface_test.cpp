#include <catch2/catch.hpp>
#include <thread>

#include "runtime/runtime_fixture.hpp"
#include "runtime/svp/include/svp_acl_ext.h"
#include "runtime/svp/include/svp_acl_prof.h"

using namespace msprof::runtime::test;

TEST_CASE("the interface must be initialised once before models are loaded") {
  const std::string model = tiny_model();
  uint32_t id = 0;
  CHECK(svp_acl_mdl_load_from_mem(model.data(), model.size(), &id) == SVP_ACL_ERROR_UNINITIALIZE);
  CHECK(svp_acl_finalize() == SVP_ACL_ERROR_UNINITIALIZE);
  REQUIRE(svp_acl_init(nullptr) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_init(nullptr) == SVP_ACL_ERROR_REPEAT_INITIALIZE);
  CHECK(svp_acl_finalize() == SVP_ACL_SUCCESS);
  REQUIRE(svp_acl_init(nullptr) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_finalize() == SVP_ACL_SUCCESS);
}

TEST_CASE("invalid arguments return error codes") {
  const Initialised runtime;
  const std::string model = tiny_model();
  uint32_t id = 0;
  CHECK(svp_acl_mdl_load_from_mem(nullptr, 5, &id) == SVP_ACL_ERROR_INVALID_PARAM);
  CHECK(svp_acl_mdl_load_from_mem(model.data(), 0, &id) == SVP_ACL_ERROR_INVALID_PARAM);
  CHECK(svp_acl_mdl_load_from_mem(model.data(), model.size(), nullptr) ==
        SVP_ACL_ERROR_INVALID_PARAM);
  CHECK(svp_acl_mdl_unload(77) == SVP_ACL_ERROR_INVALID_MODEL_ID);
  CHECK(svp_acl_mdl_execute(77, nullptr, nullptr) == SVP_ACL_ERROR_INVALID_MODEL_ID);
  CHECK(svp_acl_mdl_get_num_inputs(nullptr) == 0);
  CHECK(svp_acl_mdl_get_input_name_by_index(nullptr, 0) == nullptr);
  CHECK(svp_acl_mdl_destroy_dataset(nullptr) == SVP_ACL_ERROR_INVALID_PARAM);
  CHECK(svp_acl_rt_set_device(1) == SVP_ACL_ERROR_INVALID_PARAM);
  CHECK(svp_acl_rt_malloc(nullptr, 5, SVP_ACL_MEM_MALLOC_NORMAL_ONLY) ==
        SVP_ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("a description has names, dims, sizes for the largest batch, strides and types") {
  const Initialised runtime;
  Runner runner(tiny_model("tiny", 4));
  svp_acl_mdl_desc* desc = svp_acl_mdl_create_desc();
  REQUIRE(svp_acl_mdl_get_desc(desc, runner.id()) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_mdl_get_num_inputs(desc) == 3);  // including the task and the work buffer
  CHECK(svp_acl_mdl_get_num_outputs(desc) == 1);
  CHECK(std::string(svp_acl_mdl_get_input_name_by_index(desc, 0)) == "image");
  CHECK(std::string(svp_acl_mdl_get_output_name_by_index(desc, 0)) == "probabilities");
  CHECK(svp_acl_mdl_get_input_size_by_index(desc, 0) == 4 * 2 * 4 * 4 * sizeof(float));
  CHECK(svp_acl_mdl_get_output_size_by_index(desc, 0) == 4 * 3 * sizeof(float));
  CHECK(svp_acl_mdl_get_input_size_by_index(desc, 3) == 0);
  CHECK(svp_acl_mdl_get_input_default_stride(desc, 0) == 16);
  svp_acl_mdl_io_dims dims = {};
  REQUIRE(svp_acl_mdl_get_input_dims(desc, 0, &dims) == SVP_ACL_SUCCESS);
  CHECK(std::vector<int64_t>(dims.dims, dims.dims + dims.dim_count) ==
        std::vector<int64_t>{1, 2, 4, 4});
  CHECK(svp_acl_mdl_get_input_dims(desc, 3, &dims) == SVP_ACL_ERROR_INVALID_PARAM);
  CHECK(svp_acl_mdl_get_input_data_type(desc, 0) == SVP_ACL_FLOAT);
  CHECK(svp_acl_mdl_get_output_format(desc, 0) == SVP_ACL_FORMAT_NCHW);
  size_t index = 9;
  CHECK(svp_acl_mdl_get_output_index_by_name(desc, "probabilities", &index) == SVP_ACL_SUCCESS);
  CHECK(index == 0);
  CHECK(svp_acl_mdl_get_input_index_by_name(desc, "nothing", &index) ==
        SVP_ACL_ERROR_INVALID_PARAM);
  svp_acl_mdl_destroy_desc(desc);
}

// Follows the board's official sample: it needs the two inputs after the model's, creates every
// input by its size and stride, and sets the batch by the name of the dynamic tensor.
TEST_CASE("a program of a board finds the task buffer and the work buffer") {
  const Initialised runtime;
  Runner runner(tiny_model("tiny", 4));
  svp_acl_mdl_desc* desc = svp_acl_mdl_create_desc();
  REQUIRE(svp_acl_mdl_get_desc(desc, runner.id()) == SVP_ACL_SUCCESS);
  const size_t inputs = svp_acl_mdl_get_num_inputs(desc);
  REQUIRE(inputs == 3);
  size_t dynamic = 99;
  REQUIRE(svp_acl_mdl_get_input_index_by_name(desc, SVP_ACL_DYNAMIC_TENSOR_NAME, &dynamic) ==
          SVP_ACL_SUCCESS);
  CHECK(dynamic == inputs - 2);
  svp_acl_mdl_dataset *in = svp_acl_mdl_create_dataset(), *out = svp_acl_mdl_create_dataset();
  std::vector<std::vector<char>> memory;
  for (size_t i = 0; i < inputs; ++i) {
    const size_t size = svp_acl_mdl_get_input_size_by_index(desc, i);
    const size_t stride = svp_acl_mdl_get_input_default_stride(desc, i);
    CHECK(size > 0);
    CHECK(stride > 0);
    CHECK(svp_acl_mdl_get_input_name_by_index(desc, i) != nullptr);
    svp_acl_mdl_io_dims dims = {};
    CHECK(svp_acl_mdl_get_input_dims(desc, i, &dims) == SVP_ACL_SUCCESS);
    svp_acl_mdl_aipp_type type = SVP_ACL_DYNAMIC_AIPP_NODE;
    size_t attached = 0;
    CHECK(svp_acl_mdl_get_input_aipp_type(runner.id(), i, &type, &attached) == SVP_ACL_SUCCESS);
    CHECK(type == SVP_ACL_DATA_WITHOUT_AIPP);
    CHECK(attached == SVP_ACL_INVALID_NODE_INDEX);
    memory.emplace_back(size);
    svp_acl_mdl_add_dataset_buffer(in,
                                   svp_acl_create_data_buffer(memory.back().data(), size, stride));
  }
  CHECK(svp_acl_mdl_get_input_data_type(desc, dynamic) == SVP_ACL_UINT8);
  CHECK(svp_acl_mdl_get_input_format(desc, dynamic) == SVP_ACL_FORMAT_ND);
  memory.emplace_back(svp_acl_mdl_get_output_size_by_index(desc, 0));
  svp_acl_mdl_add_dataset_buffer(
      out, svp_acl_create_data_buffer(memory.back().data(), memory.back().size(), 0));
  CHECK(svp_acl_mdl_set_dynamic_batch_size(runner.id(), in, dynamic, 3) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_mdl_execute(runner.id(), in, out) == SVP_ACL_SUCCESS);

  // One extra buffer: neither only the model's inputs nor all inputs of the board.
  const CapturedStderr captured;
  svp_acl_mdl_dataset* half = svp_acl_mdl_create_dataset();
  for (size_t i = 0; i < 2; ++i)
    svp_acl_mdl_add_dataset_buffer(half, svp_acl_mdl_get_dataset_buffer(in, i));
  CHECK(svp_acl_mdl_execute(runner.id(), half, out) == SVP_ACL_ERROR_INVALID_PARAM);

  CHECK(svp_acl_mdl_get_reuse_buffer_type(desc) == SVP_ACL_BUFFER_REUSE_NONE);
  CHECK(svp_acl_mdl_get_reuse_buffer_type(nullptr) == SVP_ACL_BUFFER_REUSE_UNDEFINED);
  svp_acl_status load = {};
  CHECK(svp_acl_query_status(&load) == SVP_ACL_ERROR_API_NOT_SUPPORT);
  uint32_t tasks = 9, type = 0;
  CHECK(svp_acl_ext_get_mdl_aicpu_task_num(runner.id(), &tasks) == SVP_ACL_SUCCESS);
  CHECK(tasks == 0);
  CHECK(svp_acl_ext_get_mdl_net_type(runner.id(), &type) == SVP_ACL_SUCCESS);
  CHECK(type == SVP_ACL_NET_TYPE_CNN);
  CHECK(svp_acl_ext_get_mdl_net_type(77, &type) == SVP_ACL_ERROR_INVALID_MODEL_ID);
  CHECK(svp_acl_ext_get_mdl_net_type(runner.id(), nullptr) == SVP_ACL_ERROR_INVALID_PARAM);
  for (svp_acl_mdl_dataset* dataset : {in, out}) {
    for (size_t i = 0; i < svp_acl_mdl_get_dataset_num_buffers(dataset); ++i)
      svp_acl_destroy_data_buffer(svp_acl_mdl_get_dataset_buffer(dataset, i));
  }
  for (svp_acl_mdl_dataset* dataset : {in, out, half}) svp_acl_mdl_destroy_dataset(dataset);
  svp_acl_mdl_destroy_desc(desc);
}

TEST_CASE("rows of a buffer can have padding") {
  const Initialised runtime;
  Runner runner(one_layer("[1,2,3]", R"("type":"Relu")"));
  std::vector<float> in = {1, 2, 3, -9, 4, 5, 6}, out(8, 99.0F);
  svp_acl_mdl_dataset *from = svp_acl_mdl_create_dataset(), *to = svp_acl_mdl_create_dataset();
  svp_acl_data_buffer* source = svp_acl_create_data_buffer(in.data(), 28, 16);
  svp_acl_data_buffer* target = svp_acl_create_data_buffer(out.data(), 32, 20);
  svp_acl_mdl_add_dataset_buffer(from, source);
  svp_acl_mdl_add_dataset_buffer(to, target);
  CHECK(svp_acl_mdl_execute(runner.id(), from, to) == SVP_ACL_SUCCESS);
  CHECK(out == std::vector<float>{1, 2, 3, 99, 99, 4, 5, 6});

  const CapturedStderr captured;
  svp_acl_update_data_buffer(source, in.data(), 27, 16);
  CHECK(svp_acl_mdl_execute(runner.id(), from, to) == SVP_ACL_ERROR_INVALID_PARAM);
  svp_acl_update_data_buffer(source, in.data(), 28, 11);
  CHECK(svp_acl_mdl_execute(runner.id(), from, to) == SVP_ACL_ERROR_INVALID_PARAM);
  svp_acl_update_data_buffer(source, nullptr, 28, 16);
  CHECK(svp_acl_mdl_execute(runner.id(), from, to) == SVP_ACL_ERROR_INVALID_PARAM);
  CHECK(captured.text().find("input 0 needs 2 rows of 12 bytes, the buffer has 27") !=
        std::string::npos);
  svp_acl_mdl_dataset* empty = svp_acl_mdl_create_dataset();
  CHECK(svp_acl_mdl_execute(runner.id(), to, empty) == SVP_ACL_ERROR_INVALID_PARAM);
  for (svp_acl_data_buffer* buffer : {source, target}) svp_acl_destroy_data_buffer(buffer);
  for (svp_acl_mdl_dataset* dataset : {from, to, empty}) svp_acl_mdl_destroy_dataset(dataset);
}

TEST_CASE("only batches allowed by the model are accepted") {
  const Initialised runtime;
  Runner runner(tiny_model("tiny", 2));
  svp_acl_mdl_dataset* dataset = svp_acl_mdl_create_dataset();
  const CapturedStderr captured;
  CHECK(svp_acl_mdl_set_dynamic_batch_size(runner.id(), dataset, 0, 2) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_mdl_set_dynamic_batch_size(runner.id(), dataset, 0, 3) ==
        SVP_ACL_ERROR_INVALID_PARAM);
  CHECK(svp_acl_mdl_set_dynamic_batch_size(runner.id(), dataset, 0, 0) ==
        SVP_ACL_ERROR_INVALID_PARAM);
  CHECK(svp_acl_mdl_set_dynamic_batch_size(runner.id(), dataset, 2, 1) ==
        SVP_ACL_ERROR_INVALID_PARAM);
  CHECK(captured.text().find("must be 1 to 2") != std::string::npos);
  svp_acl_mdl_destroy_dataset(dataset);
}

TEST_CASE("devices, contexts, streams and memory work as on a board with one device") {
  const Initialised runtime;
  uint32_t count = 0;
  CHECK(svp_acl_rt_get_device_count(&count) == SVP_ACL_SUCCESS);
  CHECK(count == 1);
  int32_t device = 7;
  CHECK(svp_acl_rt_get_device(&device) == SVP_ACL_ERROR_UNINITIALIZE);
  CHECK(svp_acl_rt_set_device(0) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_rt_get_device(&device) == SVP_ACL_SUCCESS);
  CHECK(device == 0);
  svp_acl_rt_context context = nullptr, current = nullptr;
  CHECK(svp_acl_rt_create_context(&context, 0) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_rt_get_current_context(&current) == SVP_ACL_SUCCESS);
  CHECK(current == context);
  std::thread([&] {
    svp_acl_rt_context none = context;
    CHECK(svp_acl_rt_get_current_context(&none) == SVP_ACL_ERROR_UNINITIALIZE);
  }).join();
  CHECK(svp_acl_rt_destroy_context(context) == SVP_ACL_SUCCESS);
  svp_acl_rt_stream stream = nullptr;
  CHECK(svp_acl_rt_create_stream(&stream) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_rt_synchronize_stream(stream) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_rt_destroy_stream(stream) == SVP_ACL_SUCCESS);
  void* memory = nullptr;
  CHECK(svp_acl_rt_malloc(&memory, 100, SVP_ACL_MEM_MALLOC_NORMAL_ONLY) == SVP_ACL_SUCCESS);
  CHECK(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
  CHECK(svp_acl_rt_mem_flush(memory, 100) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_rt_free(memory) == SVP_ACL_SUCCESS);
  CHECK(svp_acl_rt_reset_device(0) == SVP_ACL_SUCCESS);
}

TEST_CASE("data types have their sizes") {
  CHECK(svp_acl_data_type_size(SVP_ACL_FLOAT) == 4);
  CHECK(svp_acl_data_type_size(SVP_ACL_FLOAT16) == 2);
  CHECK(svp_acl_data_type_size(SVP_ACL_BOOL) == 1);
  CHECK(svp_acl_data_type_size(SVP_ACL_DOUBLE) == 8);
  CHECK(svp_acl_data_type_size(SVP_ACL_UINT24) == 3);
  CHECK(svp_acl_data_type_size(SVP_ACL_UINT10) == 0);
  CHECK(svp_acl_data_type_size(SVP_ACL_DT_UNDEFINED) == 0);
}

TEST_CASE("unsupported functions print one message and return their code") {
  const CapturedStderr captured;
  for (int i = 0; i < 3; ++i) {
    CHECK(svp_acl_mdl_execute_async(1, nullptr, nullptr, nullptr) == 200001);
    CHECK(svp_acl_ext_process_aicpu_task(1) == SVP_ACL_ERROR_API_NOT_SUPPORT);
  }
  const std::string said = captured.text();
  for (const char* name : {"svp_acl_mdl_execute_async ", "svp_acl_ext_process_aicpu_task "}) {
    INFO(name);
    CHECK(said.find(name) != std::string::npos);
  }
  CHECK(std::count(said.begin(), said.end(), '\n') == 2);
}
