// svp_acl_prof.h: profiling through calls. Rules: README.md of lib/runtime, "Profiling through
// calls".
#include "runtime/svp/include/svp_acl_prof.h"

#include <cstring>

#include "runtime/prof/handles.hpp"
#include "runtime/prof/op_record.hpp"
#include "runtime/svp/api/profiling.hpp"
#include "runtime/svp/api/runtime_state.hpp"

using namespace msprof::runtime;

struct svp_acl_prof_config {
  ProfConfig config;
};

struct svp_acl_prof_subscribe_config {
  SubscribeOrder order;
};

namespace {

constexpr uint32_t kHostDevices = 1;

using AllHandles = ProfHandles<svp_acl_prof_config, svp_acl_prof_subscribe_config>;
[[maybe_unused]] const bool kHasHandles = (AllHandles::instance(), true);

// While acl.json's profiler records, calls that would succeed fail. `result`: the code without it.
svp_acl_error check_recording(int result) {
  return result == kProfSuccess ? Profiling::instance().refused_by_configuration() : result;
}

}  // namespace

extern "C" {

svp_acl_error svp_acl_prof_init(const char* result_path, size_t length) {
  return guarded(__func__,
                 [&] { return Profiling::instance().init(checked_path(result_path, length)); });
}

svp_acl_error svp_acl_prof_finalize() {
  return guarded(__func__, [] { return Profiling::instance().finalize(); });
}

svp_acl_prof_config* svp_acl_prof_create_config(const uint32_t* device_id_list,
                                                uint32_t device_nums,
                                                svp_acl_prof_aicore_metrics aicore_metrics,
                                                const svp_acl_prof_aicore_events* aicore_events,
                                                uint64_t data_type_config) {
  svp_acl_prof_config* made = nullptr;
  guarded(__func__, [&] {
    // The host alone cannot be profiled: at least one device is required.
    if (aicore_events != nullptr || device_nums == 0) return SVP_ACL_ERROR_INVALID_PARAM;
    const auto config =
        make_config(device_id_list, device_nums, kHostDevices, aicore_metrics, data_type_config);
    if (!config) return SVP_ACL_ERROR_INVALID_PARAM;
    made = AllHandles::instance().configs.add({*config});
    return SVP_ACL_SUCCESS;
  });
  return made;
}

svp_acl_error svp_acl_prof_destroy_config(const svp_acl_prof_config* profiler_config) {
  return guarded(__func__, [&]() -> svp_acl_error {
    const bool is_known = AllHandles::instance().configs.remove(profiler_config);
    return check_recording(is_known ? kProfSuccess : kProfInvalidParam);
  });
}

svp_acl_error svp_acl_prof_start(const svp_acl_prof_config* profiler_config) {
  return guarded(__func__, [&] {
    const auto known = AllHandles::instance().configs.find(profiler_config);
    return known ? Profiling::instance().start(known->config) : kProfInvalidParam;
  });
}

svp_acl_error svp_acl_prof_stop(const svp_acl_prof_config* profiler_config) {
  return guarded(__func__, [&] {
    const auto known = AllHandles::instance().configs.find(profiler_config);
    return known ? Profiling::instance().stop(known->config) : kProfInvalidParam;
  });
}

svp_acl_prof_subscribe_config* svp_acl_prof_create_subscribe_config(
    int8_t time_info_switch, svp_acl_prof_aicore_metrics aicore_metrics, const void* fd) {
  svp_acl_prof_subscribe_config* made = nullptr;
  guarded(__func__, [&] {
    if (fd == nullptr || aicore_metrics != SVP_ACL_AICORE_NONE) return SVP_ACL_ERROR_INVALID_PARAM;
    int number = -1;
    std::memcpy(&number, fd, sizeof number);
    if (number < 0) return SVP_ACL_ERROR_INVALID_PARAM;
    made = AllHandles::instance().subscribe_configs.add(
        {{time_info_switch != 0, aicore_metrics, number}});
    return SVP_ACL_SUCCESS;
  });
  return made;
}

svp_acl_error svp_acl_prof_destroy_subscribe_config(
    const svp_acl_prof_subscribe_config* subscribe_config) {
  return guarded(__func__, [&]() -> svp_acl_error {
    const bool is_known = AllHandles::instance().subscribe_configs.remove(subscribe_config);
    return check_recording(is_known ? kProfSuccess : kProfInvalidParam);
  });
}

svp_acl_error svp_acl_prof_model_subscribe(uint32_t model_id,
                                           const svp_acl_prof_subscribe_config* subscribe_config) {
  return guarded(__func__, [&] {
    const auto known = AllHandles::instance().subscribe_configs.find(subscribe_config);
    return known ? Profiling::instance().subscribe_model(model_id, known->order)
                 : kProfInvalidParam;
  });
}

svp_acl_error svp_acl_prof_model_unsubscribe(uint32_t model_id) {
  return guarded(__func__, [&] { return Profiling::instance().unsubscribe_model(model_id); });
}

svp_acl_error svp_acl_prof_get_op_desc_size(size_t* op_desc_size) {
  if (op_desc_size == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *op_desc_size = sizeof(OpRecord);
  return check_recording(kProfSuccess);
}

svp_acl_error svp_acl_prof_get_op_num(const void* op_info, size_t op_info_len,
                                      uint32_t* op_number) {
  return check_recording(count_records(op_info, op_info_len, op_number));
}

svp_acl_error svp_acl_prof_get_op_type_len(const void* op_info, size_t op_info_len, uint32_t index,
                                           size_t* op_type_len) {
  return check_recording(
      text_size(&OpNameIds::NameAndType::type, op_info, op_info_len, index, op_type_len));
}

svp_acl_error svp_acl_prof_get_op_type(const void* op_info, size_t op_info_len, uint32_t index,
                                       char* op_type, size_t op_type_len) {
  return check_recording(
      copy_text(&OpNameIds::NameAndType::type, op_info, op_info_len, index, op_type, op_type_len));
}

svp_acl_error svp_acl_prof_get_op_name_len(const void* op_info, size_t op_info_len, uint32_t index,
                                           size_t* op_name_len) {
  return check_recording(
      text_size(&OpNameIds::NameAndType::name, op_info, op_info_len, index, op_name_len));
}

svp_acl_error svp_acl_prof_get_op_name(const void* op_info, size_t op_info_len, uint32_t index,
                                       char* op_name, size_t op_name_len) {
  return check_recording(
      copy_text(&OpNameIds::NameAndType::name, op_info, op_info_len, index, op_name, op_name_len));
}

uint64_t svp_acl_prof_get_op_start(const void* op_info, size_t op_info_len, uint32_t index) {
  return find_record(op_info, op_info_len, index).value_or(OpRecord{}).start;
}

uint64_t svp_acl_prof_get_op_end(const void* op_info, size_t op_info_len, uint32_t index) {
  return find_record(op_info, op_info_len, index).value_or(OpRecord{}).end;
}

uint64_t svp_acl_prof_get_op_duration(const void* op_info, size_t op_info_len, uint32_t index) {
  return find_record(op_info, op_info_len, index).value_or(OpRecord{}).duration;
}

size_t svp_acl_prof_get_model_id(const void* op_info, size_t op_info_len, uint32_t index) {
  return find_record(op_info, op_info_len, index).value_or(OpRecord{}).model;
}

}  // extern "C"
