#include "runtime/include/svp_acl_base.h"

#include <new>

#include "runtime/api/data_buffer.hpp"

extern "C" {

svp_acl_data_buffer* svp_acl_create_data_buffer(void* data, size_t size, size_t stride) {
  return new (std::nothrow) svp_acl_data_buffer{data, size, stride};
}

svp_acl_error svp_acl_destroy_data_buffer(const svp_acl_data_buffer* data_buffer) {
  if (data_buffer == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  delete data_buffer;
  return SVP_ACL_SUCCESS;
}

void* svp_acl_get_data_buffer_addr(const svp_acl_data_buffer* data_buffer) {
  return data_buffer == nullptr ? nullptr : data_buffer->data;
}

size_t svp_acl_get_data_buffer_size(const svp_acl_data_buffer* data_buffer) {
  return data_buffer == nullptr ? 0 : data_buffer->size;
}

size_t svp_acl_get_data_buffer_stride(const svp_acl_data_buffer* data_buffer) {
  return data_buffer == nullptr ? 0 : data_buffer->stride;
}

svp_acl_error svp_acl_update_data_buffer(svp_acl_data_buffer* data_buffer, void* data, size_t size,
                                         size_t stride) {
  if (data_buffer == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *data_buffer = {data, size, stride};
  return SVP_ACL_SUCCESS;
}

size_t svp_acl_data_type_size(svp_acl_data_type data_type) {
  switch (data_type) {
    case SVP_ACL_INT8:
    case SVP_ACL_UINT8:
    case SVP_ACL_BOOL:
      return 1;
    case SVP_ACL_FLOAT16:
    case SVP_ACL_INT16:
    case SVP_ACL_UINT16:
      return 2;
    case SVP_ACL_FLOAT:
    case SVP_ACL_INT32:
    case SVP_ACL_UINT32:
      return 4;
    case SVP_ACL_INT64:
    case SVP_ACL_UINT64:
    case SVP_ACL_DOUBLE:
      return 8;
    case SVP_ACL_DT_UNDEFINED:
      break;
  }
  return 0;
}

}  // extern "C"
