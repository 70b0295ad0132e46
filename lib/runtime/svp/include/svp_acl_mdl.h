// Models of the svp_acl C interface: load, describe, execute.
// On a Linux host a model is the JSON file that MODEL_FORMAT.md describes; tensors are float32
// NCHW. Sizes are bytes for the largest batch of the model; dims name the default batch first. A
// buffer's stride is the bytes from one row to the next; 0 means the default stride (dense rows).
#pragma once

#include "svp_acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVP_ACL_MAX_DIM_CNT 128
#define SVP_ACL_MAX_TENSOR_NAME_LEN 128
#define SVP_ACL_MAX_BATCH_NUM 128
#define SVP_ACL_MAX_HW_NUM 128

typedef struct svp_acl_mdl_desc svp_acl_mdl_desc;
typedef struct svp_acl_mdl_dataset svp_acl_mdl_dataset;
typedef struct svp_acl_mdl_aipp svp_acl_mdl_aipp;
typedef struct svp_acl_mdl_config_handle svp_acl_mdl_config_handle;

typedef struct svp_acl_mdl_io_dims {
  char name[SVP_ACL_MAX_TENSOR_NAME_LEN];
  size_t dim_count;
  int64_t dims[SVP_ACL_MAX_DIM_CNT];
} svp_acl_mdl_io_dims;

typedef struct svp_acl_mdl_batch {
  size_t batch_count;
  uint64_t batch[SVP_ACL_MAX_BATCH_NUM];
} svp_acl_mdl_batch;

typedef struct svp_acl_mdl_hw {
  size_t hw_count;
  uint64_t hw[SVP_ACL_MAX_HW_NUM][2];
} svp_acl_mdl_hw;

typedef struct svp_acl_aipp_info {
  int32_t input_format;
  int32_t src_image_width;
  int32_t src_image_height;
  size_t shape_count;
} svp_acl_aipp_info;

typedef enum svp_acl_buffer_reuse_type {
  SVP_ACL_BUFFER_REUSE_NONE = 0,
  SVP_ACL_BUFFER_REUSE_WORK = 1
} svp_acl_buffer_reuse_type;

typedef enum svp_acl_inout_reuse_type {
  SVP_ACL_INOUT_REUSE_NONE = 0,
  SVP_ACL_INOUT_REUSE_WORK = 1
} svp_acl_inout_reuse_type;

typedef enum svp_acl_mdl_config_attr {
  SVP_ACL_MDL_PRIORITY_INT32 = 0,
  SVP_ACL_MDL_LOAD_TYPE_SIZET = 1,
  SVP_ACL_MDL_MEM_ADDR_PTR = 2,
  SVP_ACL_MDL_MEM_SIZET = 3
} svp_acl_mdl_config_attr;

typedef enum svp_acl_aipp_input_format {
  SVP_ACL_YUV420SP_U8 = 1,
  SVP_ACL_XRGB8888_U8 = 2,
  SVP_ACL_RGB888_U8 = 3,
  SVP_ACL_YUV400_U8 = 4
} svp_acl_aipp_input_format;

typedef enum svp_acl_mdl_aipp_type {
  SVP_ACL_DATA_WITHOUT_AIPP = 0,
  SVP_ACL_DATA_WITH_STATIC_AIPP = 1,
  SVP_ACL_DATA_WITH_DYNAMIC_AIPP = 2,
  SVP_ACL_DYNAMIC_AIPP_NODE = 3
} svp_acl_mdl_aipp_type;

SVP_ACL_API svp_acl_mdl_desc* svp_acl_mdl_create_desc(void);
SVP_ACL_API svp_acl_error svp_acl_mdl_destroy_desc(svp_acl_mdl_desc* model_desc);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_desc(svp_acl_mdl_desc* model_desc, uint32_t model_id);
SVP_ACL_API size_t svp_acl_mdl_get_num_inputs(const svp_acl_mdl_desc* model_desc);
SVP_ACL_API size_t svp_acl_mdl_get_num_outputs(const svp_acl_mdl_desc* model_desc);
SVP_ACL_API size_t svp_acl_mdl_get_input_size_by_index(const svp_acl_mdl_desc* model_desc,
                                                       size_t index);
SVP_ACL_API size_t svp_acl_mdl_get_output_size_by_index(const svp_acl_mdl_desc* model_desc,
                                                        size_t index);
SVP_ACL_API svp_acl_buffer_reuse_type
svp_acl_mdl_get_reuse_buffer_type(const svp_acl_mdl_desc* model_desc);
SVP_ACL_API svp_acl_inout_reuse_type
svp_acl_mdl_get_input_reuse_type(const svp_acl_mdl_desc* model_desc, size_t index);
SVP_ACL_API svp_acl_inout_reuse_type
svp_acl_mdl_get_output_reuse_type(const svp_acl_mdl_desc* model_desc, size_t index);
SVP_ACL_API svp_acl_mdl_dataset* svp_acl_mdl_create_dataset(void);
SVP_ACL_API svp_acl_error svp_acl_mdl_destroy_dataset(const svp_acl_mdl_dataset* dataset);
SVP_ACL_API svp_acl_error svp_acl_mdl_add_dataset_buffer(svp_acl_mdl_dataset* dataset,
                                                         svp_acl_data_buffer* data_buffer);
SVP_ACL_API size_t svp_acl_mdl_get_dataset_num_buffers(const svp_acl_mdl_dataset* dataset);
SVP_ACL_API svp_acl_data_buffer* svp_acl_mdl_get_dataset_buffer(const svp_acl_mdl_dataset* dataset,
                                                                size_t index);
SVP_ACL_API svp_acl_error svp_acl_mdl_load_from_mem(const void* model, size_t model_size,
                                                    uint32_t* model_id);
SVP_ACL_API svp_acl_error svp_acl_mdl_execute(uint32_t model_id, const svp_acl_mdl_dataset* input,
                                              const svp_acl_mdl_dataset* output);
SVP_ACL_API svp_acl_error svp_acl_mdl_execute_async(uint32_t model_id,
                                                    const svp_acl_mdl_dataset* input,
                                                    const svp_acl_mdl_dataset* output,
                                                    svp_acl_rt_stream stream);
SVP_ACL_API svp_acl_error svp_acl_mdl_unload(uint32_t model_id);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_dynamic_batch_size(uint32_t model_id,
                                                             svp_acl_mdl_dataset* dataset,
                                                             size_t index, uint64_t batch_size);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_total_t(uint32_t model_id, svp_acl_mdl_dataset* dataset,
                                                  uint64_t total_t);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_dynamic_hw_size(uint32_t model_id,
                                                          svp_acl_mdl_dataset* dataset,
                                                          size_t index, uint64_t height,
                                                          uint64_t width);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_dynamic_hw(const svp_acl_mdl_desc* model_desc,
                                                     size_t index, svp_acl_mdl_hw* hw);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_input_class_id_by_index(
    const svp_acl_mdl_desc* model_desc, size_t index, size_t* class_id);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_output_class_id_by_index(
    const svp_acl_mdl_desc* model_desc, size_t index, size_t* class_id);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_input_dims(const svp_acl_mdl_desc* model_desc,
                                                     size_t index, svp_acl_mdl_io_dims* dims);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_output_dims(const svp_acl_mdl_desc* model_desc,
                                                      size_t index, svp_acl_mdl_io_dims* dims);
SVP_ACL_API const char* svp_acl_mdl_get_input_name_by_index(const svp_acl_mdl_desc* model_desc,
                                                            size_t index);
SVP_ACL_API const char* svp_acl_mdl_get_output_name_by_index(const svp_acl_mdl_desc* model_desc,
                                                             size_t index);
SVP_ACL_API svp_acl_format svp_acl_mdl_get_input_format(const svp_acl_mdl_desc* model_desc,
                                                        size_t index);
SVP_ACL_API svp_acl_format svp_acl_mdl_get_output_format(const svp_acl_mdl_desc* model_desc,
                                                         size_t index);
SVP_ACL_API svp_acl_data_type svp_acl_mdl_get_input_data_type(const svp_acl_mdl_desc* model_desc,
                                                              size_t index);
SVP_ACL_API svp_acl_data_type svp_acl_mdl_get_output_data_type(const svp_acl_mdl_desc* model_desc,
                                                               size_t index);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_input_index_by_name(const svp_acl_mdl_desc* model_desc,
                                                              const char* name, size_t* index);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_output_index_by_name(const svp_acl_mdl_desc* model_desc,
                                                               const char* name, size_t* index);
SVP_ACL_API size_t svp_acl_mdl_get_input_default_stride(const svp_acl_mdl_desc* model_desc,
                                                        size_t index);
SVP_ACL_API size_t svp_acl_mdl_get_output_default_stride(const svp_acl_mdl_desc* model_desc,
                                                         size_t index);
SVP_ACL_API svp_acl_error svp_acl_mdl_init_dump(void);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_dump(const char* dump_cfg_path);
SVP_ACL_API svp_acl_error svp_acl_mdl_finalize_dump(void);
SVP_ACL_API svp_acl_error svp_acl_mdl_load_with_config(const svp_acl_mdl_config_handle* handle,
                                                       uint32_t* model_id);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_model_config(uint32_t model_id,
                                                       const svp_acl_mdl_config_handle* handle);
SVP_ACL_API svp_acl_mdl_config_handle* svp_acl_mdl_create_config_handle(void);
SVP_ACL_API svp_acl_error svp_acl_mdl_destroy_config_handle(svp_acl_mdl_config_handle* handle);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_config_opt(svp_acl_mdl_config_handle* handle,
                                                     svp_acl_mdl_config_attr attr,
                                                     const void* attr_value, size_t value_size);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_config_opt(svp_acl_mdl_config_handle* handle,
                                                     svp_acl_mdl_config_attr attr, void* attr_value,
                                                     size_t value_size);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_dynamic_batch(const svp_acl_mdl_desc* model_desc,
                                                        svp_acl_mdl_batch* batch);
SVP_ACL_API svp_acl_mdl_aipp* svp_acl_mdl_create_aipp(uint64_t batch_size);
SVP_ACL_API svp_acl_error svp_acl_mdl_destroy_aipp(svp_acl_mdl_aipp* aipp_set);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_input_format(svp_acl_mdl_aipp* aipp_set,
                                                            svp_acl_aipp_input_format input_format);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_csc_params(
    svp_acl_mdl_aipp* aipp_set, int8_t csc_switch, int16_t matrix_r0c0, int16_t matrix_r0c1,
    int16_t matrix_r0c2, int16_t matrix_r1c0, int16_t matrix_r1c1, int16_t matrix_r1c2,
    int16_t matrix_r2c0, int16_t matrix_r2c1, int16_t matrix_r2c2, uint8_t output_bias_r0,
    uint8_t output_bias_r1, uint8_t output_bias_r2, uint8_t input_bias_r0, uint8_t input_bias_r1,
    uint8_t input_bias_r2);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_rbuv_swap_switch(svp_acl_mdl_aipp* aipp_set,
                                                                int8_t rbuv_swap_switch);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_ax_swap_switch(svp_acl_mdl_aipp* aipp_set,
                                                              int8_t ax_swap_switch);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_src_image_size(svp_acl_mdl_aipp* aipp_set,
                                                              int32_t image_width,
                                                              int32_t image_height);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_scf_params(
    svp_acl_mdl_aipp* aipp_set, int8_t scf_switch, int32_t input_width, int32_t input_height,
    int32_t output_width, int32_t output_height, uint64_t batch_index);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_crop_params(svp_acl_mdl_aipp* aipp_set,
                                                           int8_t crop_switch,
                                                           int32_t width_start_pos,
                                                           int32_t height_start_pos, int32_t width,
                                                           int32_t height, uint64_t batch_index);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_padding_params(svp_acl_mdl_aipp* aipp_set,
                                                              int8_t padding_switch, int32_t top,
                                                              int32_t bottom, int32_t left,
                                                              int32_t right, uint64_t batch_index);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_dtc_pixel_mean(svp_acl_mdl_aipp* aipp_set,
                                                              float mean_chn0, float mean_chn1,
                                                              float mean_chn2, float mean_chn3,
                                                              uint64_t batch_index);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_dtc_pixel_min(svp_acl_mdl_aipp* aipp_set,
                                                             float min_chn0, float min_chn1,
                                                             float min_chn2, float min_chn3,
                                                             uint64_t batch_index);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_pixel_var_reci(svp_acl_mdl_aipp* aipp_set,
                                                              float reci_chn0, float reci_chn1,
                                                              float reci_chn2, float reci_chn3,
                                                              uint64_t batch_index);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_input_aipp(uint32_t model_id,
                                                     svp_acl_mdl_dataset* dataset, size_t index,
                                                     const svp_acl_mdl_aipp* aipp_set);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_output_aipp(uint32_t model_id,
                                                      svp_acl_mdl_dataset* dataset, size_t index,
                                                      const svp_acl_mdl_aipp* aipp_set);
SVP_ACL_API svp_acl_error svp_acl_mdl_set_aipp_by_input_index(uint32_t model_id,
                                                              svp_acl_mdl_dataset* dataset,
                                                              size_t index,
                                                              const svp_acl_mdl_aipp* aipp_set);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_input_aipp_type(uint32_t model_id, size_t index,
                                                          svp_acl_mdl_aipp_type* type,
                                                          size_t* attached_index);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_output_aipp_type(uint32_t model_id, size_t index,
                                                           svp_acl_mdl_aipp_type* type,
                                                           size_t* attached_index);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_first_aipp_info(uint32_t model_id, size_t index,
                                                          svp_acl_aipp_info* aipp_info);
SVP_ACL_API svp_acl_error svp_acl_mdl_get_last_aipp_info(uint32_t model_id, size_t index,
                                                         svp_acl_aipp_info* aipp_info);

#ifdef __cplusplus
}
#endif
