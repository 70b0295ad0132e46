// Models of the svp_acl C interface: load, describe, execute. On a Linux host a model is the JSON
// file described in MODEL_FORMAT.md; tensors are float32 NCHW. Sizes are bytes for the largest
// batch of the model; the first dimension is the default batch. A buffer's stride is the distance
// between rows in bytes; 0 means dense rows. As on a board, two more inputs follow those of the
// model: the task buffer, named SVP_ACL_DYNAMIC_TENSOR_NAME, and the work buffer. A host uses
// neither, so a dataset may omit both.
#pragma once

#include "svp_acl_base.h"
#include "svp_acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVP_ACL_MAX_DIM_CNT 128
#define SVP_ACL_MAX_TENSOR_NAME_LEN 128
#define SVP_ACL_MAX_BATCH_NUM 1
#define SVP_ACL_MAX_HW_NUM 100
#define SVP_ACL_MAX_SHAPE_COUNT 1
#define SVP_ACL_INVALID_NODE_INDEX 0xFFFFFFFF

#define SVP_ACL_MDL_LOAD_FROM_FILE 1
#define SVP_ACL_MDL_LOAD_FROM_FILE_WITH_MEM 2
#define SVP_ACL_MDL_LOAD_FROM_MEM 3
#define SVP_ACL_MDL_LOAD_FROM_MEM_WITH_MEM 4
#define SVP_ACL_MDL_LOAD_FROM_FILE_WITH_Q 5
#define SVP_ACL_MDL_LOAD_FROM_MEM_WITH_Q 6

#define SVP_ACL_NET_TYPE_CNN 0x1
#define SVP_ACL_NET_TYPE_RECURRENT 0x2

#define SVP_ACL_DYNAMIC_TENSOR_NAME "svp_acl_mbatch_shape_data"
#define SVP_ACL_DYNAMIC_AIPP_NAME "svp_acl_dynamic_aipp_data"

typedef struct svp_acl_mdl_desc svp_acl_mdl_desc;
typedef struct svp_acl_mdl_dataset svp_acl_mdl_dataset;
typedef struct svp_acl_mdl_aipp svp_acl_mdl_aipp;
typedef struct svp_acl_mdl_config_handle svp_acl_mdl_config_handle;
typedef struct svp_acl_aipp_extend_info svp_acl_aipp_extend_info;

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

typedef enum svp_acl_buffer_reuse_type {
  SVP_ACL_BUFFER_REUSE_UNDEFINED = -1,
  SVP_ACL_BUFFER_REUSE_NONE = 0,
  SVP_ACL_BUFFER_REUSE_DISCONT = 1,
  SVP_ACL_BUFFER_REUSE_IN_CONT = 2,
  SVP_ACL_BUFFER_REUSE_OUT_CONT = 3,
  SVP_ACL_BUFFER_REUSE_IN_OUT_CONT = 4,
  SVP_ACL_BUFFER_REUSE_INOUT_CONT = 5
} svp_acl_buffer_reuse_type;

typedef enum svp_acl_inout_reuse_type {
  SVP_ACL_INOUT_REUSE_UNDEFINED = -1,
  SVP_ACL_INOUT_REUSE_NONE = 0,
  SVP_ACL_INOUT_REUSE_DISCONT = 1,
  SVP_ACL_INOUT_REUSE_CONT = 2
} svp_acl_inout_reuse_type;

typedef enum svp_acl_mdl_config_attr {
  SVP_ACL_MDL_PRIORITY_INT32 = 0,
  SVP_ACL_MDL_LOAD_TYPE_SIZET = 1,
  SVP_ACL_MDL_PATH_PTR = 2,
  SVP_ACL_MDL_MEM_ADDR_PTR = 3,
  SVP_ACL_MDL_MEM_SIZET = 4,
  SVP_ACL_MDL_WEIGHT_ADDR_PTR = 5,
  SVP_ACL_MDL_WEIGHT_SIZET = 6,
  SVP_ACL_MDL_WORKSPACE_ADDR_PTR = 7,
  SVP_ACL_MDL_WORKSPACE_SIZET = 8,
  SVP_ACL_MDL_INPUTQ_NUM_SIZET = 9,
  SVP_ACL_MDL_INPUTQ_ADDR_PTR = 10,
  SVP_ACL_MDL_OUTPUTQ_NUM_SIZET = 11,
  SVP_ACL_MDL_OUTPUTQ_ADDR_PTR = 12,
  SVP_ACL_MDL_PRIORITY_PREEMP_EN_BOOL = 13,
  SVP_ACL_MDL_PRIORITY_UP_STEP_TIMEOUT_UINT32 = 14,
  SVP_ACL_MDL_PRIORITY_UP_TOP_TIMEOUT_UINT32 = 15
} svp_acl_mdl_config_attr;

typedef enum svp_acl_aipp_format {
  SVP_ACL_YUV420SP_U8 = 1,
  SVP_ACL_XRGB8888_U8 = 2,
  SVP_ACL_RGB888_U8 = 3,
  SVP_ACL_YUV400_U8 = 4,
  SVP_ACL_NC1HWC0DI_FP16 = 5,
  SVP_ACL_NC1HWC0DI_S8 = 6,
  SVP_ACL_ARGB8888_U8 = 7,
  SVP_ACL_YUYV_U8 = 8,
  SVP_ACL_YUV422SP_U8 = 9,
  SVP_ACL_AYUV444_U8 = 0xA,
  SVP_ACL_RAW10 = 0xB,
  SVP_ACL_RAW12 = 0xC,
  SVP_ACL_RAW16 = 0xD,
  SVP_ACL_RAW24 = 0xE,
  SVP_ACL_FEATURE_MAP_U8 = 0x100,
  SVP_ACL_FEATURE_MAP_S8 = 0x101,
  SVP_ACL_FEATURE_MAP_U16 = 0x102,
  SVP_ACL_FEATURE_MAP_S16 = 0x103,
  SVP_ACL_FEATURE_MAP_FP16 = 0x104,
  SVP_ACL_FEATURE_MAP_FP32 = 0x105,
  SVP_ACL_YVU420SP_U8 = 0x106,
  SVP_ACL_YVU422SP_U8 = 0x107,
  SVP_ACL_BGR_PLANAR_U8 = 0x108,
  SVP_ACL_RGB_PLANAR_U8 = 0x109,
  SVP_ACL_BGR_PACKAGE_U8 = 0x10A,
  SVP_ACL_XRGB_PLANAR_U8 = 0x10B,
  SVP_ACL_XBGR_PLANAR_U8 = 0x10C,
  SVP_ACL_RGBX_PLANAR_U8 = 0x10D,
  SVP_ACL_BGRX_PLANAR_U8 = 0x10E,
  SVP_ACL_XBGR_PACKAGE_U8 = 0x10F,
  SVP_ACL_RGBX_PACKAGE_U8 = 0x110,
  SVP_ACL_BGRX_PACKAGE_U8 = 0x111,
  SVP_ACL_RGGB_RAW8 = 0x112,
  SVP_ACL_GRBG_RAW8 = 0x113,
  SVP_ACL_GBRG_RAW8 = 0x114,
  SVP_ACL_BGGR_RAW8 = 0x115,
  SVP_ACL_RGGB_RAW10 = 0x116,
  SVP_ACL_GRBG_RAW10 = 0x117,
  SVP_ACL_GBRG_RAW10 = 0x118,
  SVP_ACL_BGGR_RAW10 = 0x119,
  SVP_ACL_RGGB_RAW12 = 0x11A,
  SVP_ACL_GRBG_RAW12 = 0x11B,
  SVP_ACL_GBRG_RAW12 = 0x11C,
  SVP_ACL_BGGR_RAW12 = 0x11D,
  SVP_ACL_RGGB_RAW14 = 0x11E,
  SVP_ACL_GRBG_RAW14 = 0x11F,
  SVP_ACL_GBRG_RAW14 = 0x120,
  SVP_ACL_BGGR_RAW14 = 0x121,
  SVP_ACL_RGGB_RAW16 = 0x122,
  SVP_ACL_GRBG_RAW16 = 0x123,
  SVP_ACL_GBRG_RAW16 = 0x124,
  SVP_ACL_BGGR_RAW16 = 0x125,
  SVP_ACL_UV_PLANNAR_U8 = 0x126,
  SVP_ACL_VU_PLANNAR_U8 = 0x127,
  SVP_ACL_UV_PACKAGE_U8 = 0x128,
  SVP_ACL_VU_PACKAGE_U8 = 0x129,
  SVP_ACL_AIPP_RESERVED = 0xFFFF
} svp_acl_aipp_format;

typedef svp_acl_aipp_format svp_acl_aipp_input_format;

typedef enum svp_acl_mdl_aipp_type {
  SVP_ACL_DATA_WITHOUT_AIPP = 0,
  SVP_ACL_DATA_WITH_STATIC_AIPP = 1,
  SVP_ACL_DATA_WITH_DYNAMIC_AIPP = 2,
  SVP_ACL_DYNAMIC_AIPP_NODE = 3
} svp_acl_mdl_aipp_type;

typedef enum svp_acl_aipp_padding_switch {
  AIPP_PADDING_SWITCH_OFF = 0,
  AIPP_PADDING_SWITCH_CONSTANT = 1,
  AIPP_PADDING_SWITCH_REPLICATION = 2,
  AIPP_PADDING_SWITCH_REFLECTION = 3,
  AIPP_PADDING_SWITCH_SYMMETRIC = 4,
  AIPP_PADDING_SWITCH_BUTT = 5
} svp_acl_aipp_padding_switch;

typedef enum svp_acl_aipp_resize_switch {
  AIPP_RESIZE_SWITCH_OFF = 0,
  AIPP_RESIZE_SWITCH_NEAREST = 1,
  AIPP_RESIZE_SWITCH_BILINEAR = 2,
  AIPP_RESIZE_SWITCH_BUTT = 3
} svp_acl_aipp_resize_switch;

typedef struct svp_acl_aipp_dims {
  svp_acl_mdl_io_dims src_dims;
  size_t src_size;
  svp_acl_mdl_io_dims aipp_out_dims;
  size_t aipp_out_size;
} svp_acl_aipp_dims;

typedef struct svp_acl_aipp_info {
  svp_acl_aipp_format aipp_format;
  int32_t src_image_width, src_image_height;
  int8_t crop_switch;
  int32_t crop_start_width, crop_start_height, crop_width, crop_height;
  int8_t resize_switch;
  int32_t resize_output_width, resize_output_height;
  int8_t padding_switch;
  int32_t left_padding_size, right_padding_size, top_padding_size, bottom_padding_size;
  int8_t csc_switch, rbuv_swap_switch, ax_swap_switch, cmp_switch;
  int32_t matrix_r0c0, matrix_r0c1, matrix_r0c2;
  int32_t matrix_r1c0, matrix_r1c1, matrix_r1c2;
  int32_t matrix_r2c0, matrix_r2c1, matrix_r2c2;
  int32_t output_bias0, output_bias1, output_bias2;
  int32_t input_bias0, input_bias1, input_bias2;
  float mean_chn0, mean_chn1, mean_chn2, mean_chn3;
  float min_chn0, min_chn1, min_chn2, min_chn3;
  float var_reci_chn0, var_reci_chn1, var_reci_chn2, var_reci_chn3;
  svp_acl_format src_format;
  svp_acl_data_type src_data_type;
  size_t src_dim_num;
  size_t shape_count;
  svp_acl_aipp_dims out_dims[SVP_ACL_MAX_SHAPE_COUNT];
  svp_acl_aipp_extend_info* aipp_extend;
} svp_acl_aipp_info;

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
