// Callbacks, events, secure memory and CPU task queues, which a Linux host does not have.
#include "runtime/api/unsupported.hpp"
#include "runtime/include/svp_acl_ext.h"
#include "runtime/include/svp_acl_rt.h"

extern "C" {

svp_acl_error svp_acl_rt_subscribe_report(uint64_t, svp_acl_rt_stream) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_launch_callback(svp_acl_rt_callback, void*, svp_acl_rt_callback_block_type,
                                         svp_acl_rt_stream) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_process_report(int32_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_unsubscribe_report(uint64_t, svp_acl_rt_stream) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_create_event(svp_acl_rt_event*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_create_event_with_flag(svp_acl_rt_event*, uint32_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_destroy_event(svp_acl_rt_event) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_record_event(svp_acl_rt_event, svp_acl_rt_stream) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_stream_wait_event(svp_acl_rt_stream, svp_acl_rt_event) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_reset_event(svp_acl_rt_event, svp_acl_rt_stream) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_query_event(svp_acl_rt_event, svp_acl_rt_event_status*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_query_event_wait_status(svp_acl_rt_event, svp_acl_rt_event_wait_status*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_synchronize_event(svp_acl_rt_event) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_event_elapsed_time(float*, svp_acl_rt_event, svp_acl_rt_event) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_malloc_sec(void**, size_t, size_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_free_sec(const void*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_rt_set_op_wait_timeout(uint32_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_ext_process_aicpu_task(int32_t) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_ext_get_mdl_aicpu_task_num(uint32_t, uint32_t*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

svp_acl_error svp_acl_ext_get_mdl_net_type(uint32_t, uint32_t*) {
  MSPROF_UNSUPPORTED(SVP_ACL_ERROR_API_NOT_SUPPORT);
}

}  // extern "C"
