// The model functions that a Linux host does not have.
#include "runtime/api/unsupported.hpp"
#include "runtime/include/svp_acl_mdl.h"

extern "C" {

svp_acl_buffer_reuse_type svp_acl_mdl_get_reuse_buffer_type(const svp_acl_mdl_desc*) {
  MSPROF_UNSUPPORTED(static_cast<svp_acl_buffer_reuse_type>(0));
}

svp_acl_error svp_acl_mdl_execute_async(uint32_t, const svp_acl_mdl_dataset*,
                                        const svp_acl_mdl_dataset*, svp_acl_rt_stream) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_total_t(uint32_t, svp_acl_mdl_dataset*, uint64_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_dynamic_hw_size(uint32_t, svp_acl_mdl_dataset*, size_t, uint64_t,
                                              uint64_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_get_dynamic_hw(const svp_acl_mdl_desc*, size_t, svp_acl_mdl_hw*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_init_dump() {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_dump(const char*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_finalize_dump() {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_load_with_config(const svp_acl_mdl_config_handle*, uint32_t*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_model_config(uint32_t, const svp_acl_mdl_config_handle*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_mdl_config_handle* svp_acl_mdl_create_config_handle() {
  MSPROF_UNSUPPORTED(nullptr);
}

svp_acl_error svp_acl_mdl_destroy_config_handle(svp_acl_mdl_config_handle*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_config_opt(svp_acl_mdl_config_handle*, svp_acl_mdl_config_attr,
                                         const void*, size_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_get_config_opt(svp_acl_mdl_config_handle*, svp_acl_mdl_config_attr, void*,
                                         size_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_get_dynamic_batch(const svp_acl_mdl_desc*, svp_acl_mdl_batch*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_mdl_aipp* svp_acl_mdl_create_aipp(uint64_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

svp_acl_error svp_acl_mdl_destroy_aipp(svp_acl_mdl_aipp*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_input_format(svp_acl_mdl_aipp*, svp_acl_aipp_input_format) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_csc_params(svp_acl_mdl_aipp*, int8_t, int16_t, int16_t, int16_t,
                                              int16_t, int16_t, int16_t, int16_t, int16_t, int16_t,
                                              uint8_t, uint8_t, uint8_t, uint8_t, uint8_t,
                                              uint8_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_rbuv_swap_switch(svp_acl_mdl_aipp*, int8_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_ax_swap_switch(svp_acl_mdl_aipp*, int8_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_src_image_size(svp_acl_mdl_aipp*, int32_t, int32_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_scf_params(svp_acl_mdl_aipp*, int8_t, int32_t, int32_t, int32_t,
                                              int32_t, uint64_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_crop_params(svp_acl_mdl_aipp*, int8_t, int32_t, int32_t, int32_t,
                                               int32_t, uint64_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_padding_params(svp_acl_mdl_aipp*, int8_t, int32_t, int32_t,
                                                  int32_t, int32_t, uint64_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_dtc_pixel_mean(svp_acl_mdl_aipp*, float, float, float, float,
                                                  uint64_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_dtc_pixel_min(svp_acl_mdl_aipp*, float, float, float, float,
                                                 uint64_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_pixel_var_reci(svp_acl_mdl_aipp*, float, float, float, float,
                                                  uint64_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_input_aipp(uint32_t, svp_acl_mdl_dataset*, size_t,
                                         const svp_acl_mdl_aipp*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_output_aipp(uint32_t, svp_acl_mdl_dataset*, size_t,
                                          const svp_acl_mdl_aipp*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_set_aipp_by_input_index(uint32_t, svp_acl_mdl_dataset*, size_t,
                                                  const svp_acl_mdl_aipp*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_get_first_aipp_info(uint32_t, size_t, svp_acl_aipp_info*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_mdl_get_last_aipp_info(uint32_t, size_t, svp_acl_aipp_info*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

}  // extern "C"
