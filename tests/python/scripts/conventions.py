"""Return values: an integer for a pointer, or (value, …, code) if there are values besides the
code."""
import acl
from support import dataset, destroy, end, expect, load, start

context, stream = start()
assert context != 0 and stream != 0
assert expect(acl.rt.get_context()) == context
assert expect(acl.rt.get_run_mode()) in (0, 1)
assert expect(acl.rt.get_device()) == 0
assert expect(acl.rt.get_device_count()) == 8
free, total = expect(acl.rt.get_mem_info(1))
assert 0 < free <= total
assert isinstance(acl.get_soc_name(), str)
assert acl.data_type_size(0) == 4
assert acl.rt.set_device(99) != 0
# Functions without parameters ignore their arguments.
assert expect(acl.rt.get_device_count(0)) == 8 and acl.get_soc_name("x") == acl.get_soc_name()

model = load()
desc = acl.mdl.create_desc()
assert acl.mdl.get_desc(desc, model) == 0
# The second input is the batch size.
assert acl.mdl.get_num_inputs(desc) == 2 and acl.mdl.get_num_outputs(desc) == 1
size = acl.mdl.get_input_size_by_index(desc, 0)
assert size >= 24 * 4
dims = expect(acl.mdl.get_output_dims(desc, 0))
assert dims["dims"][-3:] == [2, 3, 4] and dims["dimCount"] == len(dims["dims"]), dims
assert dims["name"]
assert expect(acl.mdl.get_input_index_by_name(desc, "in")) == 0
assert acl.mdl.get_input_index_by_name(desc, "nothing")[1] != 0
assert acl.mdl.get_output_data_type(desc, 0) == 0
batch = expect(acl.mdl.get_dynamic_batch(desc))
assert batch["batchCount"] == len(batch["batch"]), batch
assert acl.mdl.load_from_file("/nowhere/model.om")[1] != 0

in_set, in_memory = dataset(size)
out_set, out_memory = dataset(acl.mdl.get_output_size_by_index(desc, 0))
assert acl.mdl.get_dataset_num_buffers(in_set) == 1
buffer = acl.mdl.get_dataset_buffer(in_set, 0)
assert acl.get_data_buffer_addr(buffer) == in_memory
assert acl.get_data_buffer_size_v2(buffer) == acl.get_data_buffer_size(buffer) == size
assert acl.mdl.execute(model, in_set, out_set) == 0
assert acl.mdl.execute_async(model, in_set, out_set, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
config = acl.mdl.create_exec_config_handle()
assert acl.mdl.set_exec_config_opt(config, 0, 60000) == acl.mdl.set_exec_config_opt(config, 3, 64) == 0
assert acl.mdl.execute_v2(model, in_set, out_set, stream, config) == 0
assert acl.mdl.destroy_exec_config_handle(config) == 0
assert acl.mdl.execute(model + 100, in_set, out_set) != 0
destroy(in_set, in_memory)
destroy(out_set, out_memory)
assert acl.mdl.destroy_desc(desc) == 0
assert acl.mdl.unload(model) == 0

first, second = expect(acl.rt.create_event()), expect(acl.rt.create_event())
assert acl.rt.record_event(first, stream) == 0 and acl.rt.record_event(second, stream) == 0
assert acl.rt.synchronize_event(second) == 0
assert expect(acl.rt.event_elapsed_time(first, second)) >= 0
assert acl.rt.destroy_event(first) == 0 and acl.rt.destroy_event(second) == 0

# Units that a host does not have: a handle is 0, a code 200001.
assert acl.media.dvpp_malloc(100)[1] == 200001
assert acl.media.vdec_create_channel_desc() == 0 and acl.media.venc_create_frame_config() == 0
assert acl.media.vdec_create_channel(0) == acl.media.venc_set_channel_desc_pic_width(0, 640) == 200001
assert acl.media.vdec_send_frame(0, 0, 0, 0, None) == 200001
assert acl.himpi.sys_init() == acl.himpi.vpc_get_process_result(0, 0, 1) == 200001
assert acl.blas.create_handle_for_gemm_ex(0, 0, 0, 1, 1, 1, 0, 0, 0, 0) == (0, 200001)
assert acl.fv.create_init_para(1) == 0 and acl.fv.release() == 200001
assert not hasattr(acl.media, "no_unit_of_a_card") and not hasattr(acl.himpi, "__path__")

# Versions, properties, half floats.
major, minor, patch = expect(acl.get_version())
assert (major, minor, patch) == expect(acl.rt.get_version()) and major == 1
text = expect(acl.get_version_str("runtime"))
parts = expect(acl.get_cann_version(0))
assert parts["version"] == text and text.startswith(parts["major_version"] + "." + parts["minor_version"])
assert acl.get_cann_version(99)[1] != 0 and acl.get_version_str("")[1] != 0
assert acl.get_cann_attribute_list() == ([0], 1, 0)
assert acl.get_cann_attribute(0) == (1, 0) and acl.get_cann_attribute(-1)[1] != 0
assert acl.get_device_capability(0, 1) == (1, 0)
assert acl.float16_to_float(acl.float_to_float16(1.5)) == 1.5

tensor = acl.create_tensor_desc(0, [2, 3, 4, 5], 0)
assert acl.get_tensor_desc_dim(tensor, 1) == 3
assert acl.set_tensor_shape(tensor, [6, 4, 5]) == acl.set_tensor_format(tensor, 2) == 0
assert acl.set_tensor_storage_shape(tensor, [120]) == acl.set_tensor_storage_format(tensor, 2) == 0
assert acl.set_tensor_origin_shape(tensor, [120]) == acl.set_tensor_origin_format(tensor, 2) == 0
assert acl.set_tensor_shape_range(tensor, [[1, 6], [4, 4], [5, 5]]) == 0
assert acl.set_tensor_value_range(tensor, [[1, 6]]) == acl.set_tensor_dynamic_input(tensor, "x") == 0
assert acl.set_tensor_place_ment(tensor, 1) == 0 and acl.set_tensor_shape(0, [1]) != 0
other = expect(acl.trans_tensor_desc_format(tensor, 1))
assert acl.get_tensor_desc_dim(other, 3) == 3
assert acl.destroy_tensor_desc(other) == acl.destroy_tensor_desc(tensor) == 0

# Notifies, values, limits, registered memory.
notify = expect(acl.rt.create_notify(0))
assert acl.rt.record_notify(notify, stream) == acl.rt.wait_and_reset_notify(notify, stream, 1) == 0
assert acl.rt.get_notify_id(notify)[1] == 0
memory = expect(acl.rt.malloc(8, 0))
assert acl.rt.value_write(memory, 7, 0, stream) == acl.rt.value_wait(memory, 7, 1, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0 and acl.util.ptr_to_bytes(memory, 8)[0] == 7
assert acl.rt.free(memory) == acl.rt.destroy_notify(notify) == 0
assert acl.rt.device_get_stream_priority_range() == (7, 0, 0)
assert acl.rt.set_device_res_limit(0, 0, 4) == 0 and acl.rt.get_device_res_limit(0, 0) == (4, 0)
assert acl.rt.reset_device_res_limit(0) == 0
assert acl.rt.synchronize_stream(expect(acl.rt.ctx_get_current_default_stream())) == 0
assert acl.rt.set_stream_failure_mode(stream, 1) == acl.rt.set_stream_failure_mode(stream, 0) == 0
assert acl.rt.stream_abort(stream) == 0

for wrong in ("0", [0.5], 7, None):
    try:
        acl.prof.create_config(wrong, 0, 0, 1)
    except TypeError:
        continue
    assert wrong == "0", wrong
assert acl.prof.create_config([0, 0], 0, 0, 1) == 0
assert acl.prof.create_config([99], 0, 0, 1) == 0
assert acl.prof.create_stamp() == 0
end(context, stream)
