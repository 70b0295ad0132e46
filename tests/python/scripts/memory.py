"""numpy arrays, bytes and device memory share the same memory."""
import numpy as np

import acl
from support import dataset, destroy, end, expect, load, start

context, stream = start()

array = np.arange(6, dtype=np.float32).reshape(2, 3)
pointer = acl.util.numpy_to_ptr(array)
assert pointer == array.ctypes.data
view = acl.util.ptr_to_numpy(pointer, (3, 2), 11)
assert view.dtype == np.float32 and view.shape == (3, 2)
view[0, 0] = 42
assert array[0, 0] == 42
for kind, dtype in {0: np.bool_, 1: np.int8, 2: np.uint8, 3: np.int16, 4: np.uint16, 5: np.int32, 6: np.uint32,
                    7: np.int64, 8: np.uint64, 9: np.int64, 10: np.uint64}.items():
    assert acl.util.ptr_to_numpy(pointer, (1,), kind).dtype == dtype
for bad in ((pointer, (1,), 99), (0, (1,), 11), (pointer, (-1,), 11), (pointer, (2**40, 2**40), 11)):
    try:
        acl.util.ptr_to_numpy(*bad)
    except ValueError:
        continue
    raise AssertionError(bad)

turned, contiguous = acl.util.numpy_contiguous_to_ptr(array.T)
assert turned == contiguous.ctypes.data and contiguous.flags["C_CONTIGUOUS"]
assert acl.util.ptr_to_bytes(turned, contiguous.nbytes) == contiguous.tobytes()

text = b"bytes\0and more"
assert acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(text), len(text)) == text
# As in the manual's reader: an array made of bytes.
assert acl.util.ptr_to_bytes(acl.util.numpy_to_ptr(np.array(text)), len(text)) == text

model = load()
values = np.linspace(-1, 1, 24, dtype=np.float32)
desc = acl.mdl.create_desc()
assert acl.mdl.get_desc(desc, model) == 0
batch_index = expect(acl.mdl.get_input_index_by_name(desc, "ascend_mbatch_shape_data"))
batch_size = acl.mdl.get_input_size_by_index(desc, batch_index)
assert acl.mdl.destroy_desc(desc) == 0
batch_memory = expect(acl.rt.malloc(batch_size, 0))
in_set, in_memory = dataset(values.nbytes * 4)
expect(acl.mdl.add_dataset_buffer(in_set, acl.create_data_buffer(batch_memory, batch_size)))
out_set, out_memory = dataset(values.nbytes * 4)
assert acl.rt.memcpy(in_memory, values.nbytes, acl.util.numpy_to_ptr(values), values.nbytes, 1) == 0
assert acl.mdl.set_dynamic_batch_size(model, in_set, batch_index, 1) == 0
assert acl.mdl.execute(model, in_set, out_set) == 0
result = np.zeros(24, np.float32)
assert acl.rt.memcpy(acl.util.numpy_to_ptr(result), result.nbytes, out_memory, result.nbytes, 2) == 0
assert np.array_equal(result, 2 * np.maximum(values, 0)), result
assert acl.rt.memset(out_memory, 96, 0, 96) == 0
assert acl.rt.memcpy(in_memory, 4, acl.util.numpy_to_ptr(values), values.nbytes, 1) != 0
assert acl.destroy_data_buffer(acl.mdl.get_dataset_buffer(in_set, batch_index)) == 0
assert acl.rt.free(batch_memory) == 0
destroy(in_set, in_memory)
destroy(out_set, out_memory)
assert acl.mdl.unload(model) == 0
end(context, stream)
