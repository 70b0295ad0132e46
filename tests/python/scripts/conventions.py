"""What functions give back: an integer for a pointer, (value, …, code) where there are values beside the code."""
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
# Functions without parameters do not look at their arguments.
assert expect(acl.rt.get_device_count(0)) == 8 and acl.get_soc_name("x") == acl.get_soc_name()

model = load()
desc = acl.mdl.create_desc()
assert acl.mdl.get_desc(desc, model) == 0
# The second input is the batch.
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

# A host has no decoders.
assert acl.media.dvpp_malloc(100)[1] == 200001

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
