#include "demo_board/session.hpp"

#include <algorithm>
#include <chrono>

namespace demo {
namespace {

// splitmix64 (public domain): maps image and pixel numbers to uniform noise in [0, 1).
float noise(uint64_t seed) {
  uint64_t mixed = seed * 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  return static_cast<float>((mixed ^ (mixed >> 31)) >> 40) / 16777216.0F;
}

// Draws a synthetic image: noise plus a brightness that differs per image.
void draw_image(uint64_t number, float* pixels, std::size_t count) {
  const float brightness = noise(number + 1) - 0.5F;
  for (std::size_t i = 0; i < count; ++i) pixels[i] = noise((number << 24) + i) - 0.5F + brightness;
}

std::size_t per_image(std::size_t floats, const svp_acl_mdl_desc* desc, bool input) {
  svp_acl_mdl_io_dims dims = {};
  check("svp_acl_mdl_get_dims", input ? svp_acl_mdl_get_input_dims(desc, 0, &dims)
                                      : svp_acl_mdl_get_output_dims(desc, 0, &dims));
  std::size_t image = 1;
  for (std::size_t i = 1; i < dims.dim_count; ++i) image *= static_cast<std::size_t>(dims.dims[i]);
  return std::min(image, floats);
}

}  // namespace

void check(const char* call, svp_acl_error code) {
  if (code != SVP_ACL_SUCCESS) throw CallFailed(call, code);
}

DemoDevice::DemoDevice(const char* acl_json) {
  check("svp_acl_init", svp_acl_init(acl_json));
  check("svp_acl_rt_set_device", svp_acl_rt_set_device(0));
}

DemoDevice::~DemoDevice() {
  svp_acl_rt_reset_device(0);
  svp_acl_finalize();
}

DemoModel::DemoModel(const std::string& bytes) {
  check("svp_acl_mdl_load_from_mem", svp_acl_mdl_load_from_mem(bytes.data(), bytes.size(), &id_));
  desc_ = svp_acl_mdl_create_desc();
  const svp_acl_error code = svp_acl_mdl_get_desc(desc_, id_);
  if (code == SVP_ACL_SUCCESS) return;
  svp_acl_mdl_destroy_desc(desc_);
  svp_acl_mdl_unload(id_);
  throw CallFailed("svp_acl_mdl_get_desc", code);
}

DemoModel::~DemoModel() {
  svp_acl_mdl_destroy_desc(desc_);
  svp_acl_mdl_unload(id_);
}

Dataset::Dataset(const DemoModel& model, Side side) : dataset_(svp_acl_mdl_create_dataset()) {
  const bool input = side == Side::kInput;
  const std::size_t ports =
      input ? svp_acl_mdl_get_num_inputs(model.desc()) : svp_acl_mdl_get_num_outputs(model.desc());
  try {
    for (std::size_t i = 0; i < ports; ++i) {
      const std::size_t bytes = input ? svp_acl_mdl_get_input_size_by_index(model.desc(), i)
                                      : svp_acl_mdl_get_output_size_by_index(model.desc(), i);
      const std::size_t stride = input ? svp_acl_mdl_get_input_default_stride(model.desc(), i)
                                       : svp_acl_mdl_get_output_default_stride(model.desc(), i);
      void* memory = nullptr;
      check("svp_acl_rt_malloc", svp_acl_rt_malloc(&memory, bytes, SVP_ACL_MEM_MALLOC_NORMAL_ONLY));
      buffers_.push_back(static_cast<float*>(memory));
      counts_.push_back(bytes / sizeof(float));
      check("svp_acl_mdl_add_dataset_buffer",
            svp_acl_mdl_add_dataset_buffer(dataset_,
                                           svp_acl_create_data_buffer(memory, bytes, stride)));
    }
  } catch (...) {
    release();
    throw;
  }
}

Dataset::~Dataset() {
  release();
}

void Dataset::release() {
  for (std::size_t i = 0; i < svp_acl_mdl_get_dataset_num_buffers(dataset_); ++i) {
    svp_acl_destroy_data_buffer(svp_acl_mdl_get_dataset_buffer(dataset_, i));
  }
  for (float* buffer : buffers_) svp_acl_rt_free(buffer);
  svp_acl_mdl_destroy_dataset(dataset_);
}

ThreadOutcome run_images(const DemoModel& model, std::atomic<uint64_t>& next, uint64_t images,
                         uint64_t batch) {
  // The current device is per thread, so every thread sets it.
  check("svp_acl_rt_set_device", svp_acl_rt_set_device(0));
  const Dataset input(model, Dataset::Side::kInput), output(model, Dataset::Side::kOutput);
  const std::size_t in_floats = per_image(input.count(0), model.desc(), true);
  const std::size_t out_floats = per_image(output.count(0), model.desc(), false);
  ThreadOutcome outcome;
  outcome.class_counts.resize(out_floats);
  for (;;) {
    const uint64_t first = next.fetch_add(batch);
    if (first >= images) break;
    const uint64_t count = std::min(batch, images - first);
    check("svp_acl_mdl_set_dynamic_batch_size",
          svp_acl_mdl_set_dynamic_batch_size(model.id(), input.get(), 0, count));
    for (uint64_t i = 0; i < count; ++i)
      draw_image(first + i, input.floats(0) + i * in_floats, in_floats);

    const auto start = std::chrono::steady_clock::now();
    check("svp_acl_mdl_execute", svp_acl_mdl_execute(model.id(), input.get(), output.get()));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    outcome.milliseconds.push_back(took.count());

    for (uint64_t i = 0; i < count; ++i) {
      const float* values = output.floats(0) + i * out_floats;
      ++outcome.class_counts[static_cast<std::size_t>(
          std::max_element(values, values + out_floats) - values)];
      for (std::size_t j = 0; j < out_floats; ++j) {
        outcome.checksum += static_cast<double>(values[j]) * static_cast<double>(j + 1);
      }
    }
  }
  return outcome;
}

}  // namespace demo
