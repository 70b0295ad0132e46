"""All names used by pyACL programs exist."""
import acl
import mstx

NAMES = {
    acl: """init finalize get_soc_name get_recent_err_msg app_log create_data_buffer destroy_data_buffer
        get_data_buffer_addr get_data_buffer_size get_data_buffer_size_v2 create_tensor_desc destroy_tensor_desc
        get_tensor_desc_size data_type_size set_tensor_const get_version finalize_reference get_version_str
        get_cann_version get_cann_attribute get_cann_attribute_list get_device_capability float16_to_float
        float_to_float16 get_tensor_desc_dim set_tensor_shape set_tensor_format set_tensor_origin_shape
        set_tensor_origin_format set_tensor_storage_shape set_tensor_storage_format set_tensor_shape_range
        set_tensor_value_range set_tensor_dynamic_input set_tensor_place_ment trans_tensor_desc_format""",
    acl.rt: """set_device reset_device get_device get_device_count create_context set_context get_context destroy_context
        create_stream destroy_stream synchronize_stream synchronize_device create_event destroy_event record_event
        synchronize_event stream_wait_event event_elapsed_time malloc free malloc_host free_host memcpy memcpy_async
        memset memset_async get_run_mode get_mem_info subscribe_report unsubscribe_report process_report
        launch_callback""",
    acl.mdl: """load_from_file load_from_mem unload create_desc get_desc destroy_desc get_num_inputs get_num_outputs
        get_input_size_by_index get_output_size_by_index get_input_index_by_name get_output_dims get_cur_output_dims
        get_output_data_type get_dynamic_batch get_dynamic_hw create_dataset add_dataset_buffer destroy_dataset
        get_dataset_num_buffers get_dataset_buffer set_dynamic_batch_size set_dynamic_hw_size execute
        execute_async""",
    acl.op: "set_model_dir create_attr set_attr_bool execute_v2 create_handle execute_with_handle cast",
    acl.prof: """init finalize start stop create_config destroy_config set_config model_subscribe model_unsubscribe
        model_un_subscribe create_subscribe_config destroy_subscribe_config get_op_desc_size get_op_num get_op_type
        get_op_name get_op_type_v2 get_op_name_v2 get_op_type_len get_op_name_len get_op_start get_op_end
        get_op_duration get_model_id create_step_info destroy_step_info get_step_timestamp create_stamp destroy_stamp
        set_stamp_trace_message mark mark_ex push pop range_start range_stop""",
    acl.util: """ptr_to_bytes bytes_to_ptr numpy_to_ptr ptr_to_numpy numpy_contiguous_to_ptr start_thread
        stop_thread""",
    acl.media: """dvpp_malloc dvpp_free vdec_create_channel_desc vdec_create_channel vdec_send_frame
        venc_create_channel_desc venc_create_channel venc_send_frame""",
    acl.blas: "gemv_ex hgemv s8gemv gemm_ex hgemm s8gemm create_handle_for_gemm_ex create_handle_for_hgemv",
    acl.fv: "create_init_para init release repo_add repo_del delete modify search create_search_result",
    acl.himpi: "sys_init vdec_create_chn venc_create_chn vpc_resize",
    mstx: "mark range_start range_end get_tool_id",
}

for module, names in NAMES.items():
    missing = [name for name in names.split() if not callable(getattr(module, name, None))]
    assert not missing, (module.__name__, missing)
