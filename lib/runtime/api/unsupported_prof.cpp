// Profiling through function calls, which a Linux host does not have.
#include "runtime/api/unsupported.hpp"
#include "runtime/include/svp_acl_prof.h"

extern "C" {

svp_acl_error svp_acl_prof_init(const char*, size_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_finalize() {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_start(const svp_acl_prof_config*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_prof_config* svp_acl_prof_create_config(const uint32_t*, uint32_t,
                                                svp_acl_prof_aicore_metrics,
                                                const svp_acl_prof_aicore_events*, uint64_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

svp_acl_error svp_acl_prof_destroy_config(const svp_acl_prof_config*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_stop(const svp_acl_prof_config*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_model_subscribe(uint32_t, const svp_acl_prof_subscribe_config*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_model_unsubscribe(uint32_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_prof_subscribe_config* svp_acl_prof_create_subscribe_config(int8_t,
                                                                    svp_acl_prof_aicore_metrics,
                                                                    const void*) {
  MSPROF_UNSUPPORTED(nullptr);
}

svp_acl_error svp_acl_prof_destroy_subscribe_config(const svp_acl_prof_subscribe_config*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_get_op_desc_size(size_t*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_get_op_num(const void*, size_t, uint32_t*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_get_op_type_len(const void*, size_t, uint32_t, size_t*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_get_op_type(const void*, size_t, uint32_t, char*, size_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_get_op_name_len(const void*, size_t, uint32_t, size_t*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_prof_get_op_name(const void*, size_t, uint32_t, char*, size_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

uint64_t svp_acl_prof_get_op_start(const void*, size_t, uint32_t) {
  MSPROF_UNSUPPORTED(0);
}

uint64_t svp_acl_prof_get_op_end(const void*, size_t, uint32_t) {
  MSPROF_UNSUPPORTED(0);
}

uint64_t svp_acl_prof_get_op_duration(const void*, size_t, uint32_t) {
  MSPROF_UNSUPPORTED(0);
}

size_t svp_acl_prof_get_model_id(const void*, size_t, uint32_t) {
  MSPROF_UNSUPPORTED(0);
}

}  // extern "C"
