"""A small model, and the helpers to execute it."""
import acl

MODEL = b"""{"format": "msprof-model", "version": 1, "name": "small", "max_batch": 4,
  "inputs": [{"name": "in", "shape": [2, 3, 4]}],
  "layers": [{"name": "relu", "type": "Relu", "inputs": ["in"]},
             {"name": "twice", "type": "Add", "inputs": ["relu", "relu"]}]}"""


def expect(result):
    """Checks the return code, the last value of `result`, and returns the other values."""
    assert isinstance(result, tuple) and result[-1] == 0, result
    return result[0] if len(result) == 2 else result[:-1]


def start(device=0):
    assert acl.init() == 0
    assert acl.rt.set_device(device) == 0
    return expect(acl.rt.create_context(device)), expect(acl.rt.create_stream())


def end(context, stream, device=0):
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.reset_device(device) == 0
    assert acl.finalize() == 0


def load():
    return expect(acl.mdl.load_from_mem(acl.util.bytes_to_ptr(MODEL), len(MODEL)))


def dataset(size):
    """Returns a dataset of one buffer, and the buffer's memory."""
    memory = expect(acl.rt.malloc(size, 0))
    made = acl.mdl.create_dataset()
    assert expect(acl.mdl.add_dataset_buffer(made, acl.create_data_buffer(memory, size))) == made
    return made, memory


def destroy(made, memory):
    assert acl.destroy_data_buffer(acl.mdl.get_dataset_buffer(made, 0)) == 0
    assert acl.mdl.destroy_dataset(made) == 0
    assert acl.rt.free(memory) == 0
