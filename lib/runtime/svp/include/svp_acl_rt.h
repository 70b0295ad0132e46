// Device, context, stream, event and memory functions of the svp_acl C interface.
// A Linux host has one device, number 0; execution is synchronous, so streams are always idle.
// Callbacks, events, secure memory and the wait timeout are not supported and return
// SVP_ACL_ERROR_API_NOT_SUPPORT.
#pragma once

#include "svp_acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum svp_acl_rt_run_mode { SVP_ACL_DEVICE = 0, SVP_ACL_HOST = 1 } svp_acl_rt_run_mode;

typedef enum svp_acl_rt_mem_malloc_policy {
  SVP_ACL_MEM_MALLOC_HUGE_FIRST = 0,
  SVP_ACL_MEM_MALLOC_HUGE_ONLY = 1,
  SVP_ACL_MEM_MALLOC_NORMAL_ONLY = 2
} svp_acl_rt_mem_malloc_policy;

typedef enum svp_acl_rt_callback_block_type {
  SVP_ACL_CALLBACK_NO_BLOCK = 0,
  SVP_ACL_CALLBACK_BLOCK = 1
} svp_acl_rt_callback_block_type;

typedef enum svp_acl_rt_event_status {
  SVP_ACL_EVENT_STATUS_COMPLETE = 0,
  SVP_ACL_EVENT_STATUS_NOT_READY = 1,
  SVP_ACL_EVENT_STATUS_RESERVED = 2
} svp_acl_rt_event_status;

typedef enum svp_acl_rt_event_wait_status {
  SVP_ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
  SVP_ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
  SVP_ACL_EVENT_WAIT_STATUS_RESERVED = 0xffff
} svp_acl_rt_event_wait_status;

typedef void (*svp_acl_rt_callback)(void* user_data);

SVP_ACL_API svp_acl_error svp_acl_rt_subscribe_report(uint64_t thread_id, svp_acl_rt_stream stream);
SVP_ACL_API svp_acl_error svp_acl_rt_launch_callback(svp_acl_rt_callback fn, void* user_data,
                                                     svp_acl_rt_callback_block_type block_type,
                                                     svp_acl_rt_stream stream);
SVP_ACL_API svp_acl_error svp_acl_rt_process_report(int32_t timeout);
SVP_ACL_API svp_acl_error svp_acl_rt_unsubscribe_report(uint64_t thread_id,
                                                        svp_acl_rt_stream stream);
SVP_ACL_API svp_acl_error svp_acl_rt_create_context(svp_acl_rt_context* context, int32_t device_id);
SVP_ACL_API svp_acl_error svp_acl_rt_destroy_context(svp_acl_rt_context context);
SVP_ACL_API svp_acl_error svp_acl_rt_set_current_context(svp_acl_rt_context context);
SVP_ACL_API svp_acl_error svp_acl_rt_get_current_context(svp_acl_rt_context* context);
SVP_ACL_API svp_acl_error svp_acl_rt_set_device(int32_t device_id);
SVP_ACL_API svp_acl_error svp_acl_rt_reset_device(int32_t device_id);
SVP_ACL_API svp_acl_error svp_acl_rt_get_device(int32_t* device_id);
SVP_ACL_API svp_acl_error svp_acl_rt_get_run_mode(svp_acl_rt_run_mode* run_mode);
SVP_ACL_API svp_acl_error svp_acl_rt_synchronize_device(void);
SVP_ACL_API svp_acl_error svp_acl_rt_get_device_count(uint32_t* count);
SVP_ACL_API svp_acl_error svp_acl_rt_create_event(svp_acl_rt_event* event);
SVP_ACL_API svp_acl_error svp_acl_rt_create_event_with_flag(svp_acl_rt_event* event, uint32_t flag);
SVP_ACL_API svp_acl_error svp_acl_rt_destroy_event(svp_acl_rt_event event);
SVP_ACL_API svp_acl_error svp_acl_rt_record_event(svp_acl_rt_event event, svp_acl_rt_stream stream);
SVP_ACL_API svp_acl_error svp_acl_rt_stream_wait_event(svp_acl_rt_stream stream,
                                                       svp_acl_rt_event event);
SVP_ACL_API svp_acl_error svp_acl_rt_reset_event(svp_acl_rt_event event, svp_acl_rt_stream stream);
SVP_ACL_API svp_acl_error svp_acl_rt_query_event(svp_acl_rt_event event,
                                                 svp_acl_rt_event_status* status);
SVP_ACL_API svp_acl_error svp_acl_rt_query_event_wait_status(svp_acl_rt_event event,
                                                             svp_acl_rt_event_wait_status* status);
SVP_ACL_API svp_acl_error svp_acl_rt_synchronize_event(svp_acl_rt_event event);
SVP_ACL_API svp_acl_error svp_acl_rt_event_elapsed_time(float* ms, svp_acl_rt_event start_event,
                                                        svp_acl_rt_event end_event);
SVP_ACL_API svp_acl_error svp_acl_rt_malloc(void** dev_ptr, size_t size,
                                            svp_acl_rt_mem_malloc_policy policy);
SVP_ACL_API svp_acl_error svp_acl_rt_malloc_cached(void** dev_ptr, size_t size,
                                                   svp_acl_rt_mem_malloc_policy policy);
SVP_ACL_API svp_acl_error svp_acl_rt_malloc_sec(void** dev_ptr, size_t size, size_t class_id);
SVP_ACL_API svp_acl_error svp_acl_rt_mem_flush(const void* dev_ptr, size_t size);
SVP_ACL_API svp_acl_error svp_acl_rt_mem_invalidate(const void* dev_ptr, size_t size);
SVP_ACL_API svp_acl_error svp_acl_rt_free(const void* dev_ptr);
SVP_ACL_API svp_acl_error svp_acl_rt_free_sec(const void* dev_ptr);
SVP_ACL_API svp_acl_error svp_acl_rt_malloc_host(void** host_ptr, size_t size);
SVP_ACL_API svp_acl_error svp_acl_rt_free_host(const void* host_ptr);
SVP_ACL_API svp_acl_error svp_acl_rt_create_stream(svp_acl_rt_stream* stream);
SVP_ACL_API svp_acl_error svp_acl_rt_destroy_stream(svp_acl_rt_stream stream);
SVP_ACL_API svp_acl_error svp_acl_rt_synchronize_stream(svp_acl_rt_stream stream);
SVP_ACL_API svp_acl_error svp_acl_rt_set_op_wait_timeout(uint32_t timeout);

#ifdef __cplusplus
}
#endif
