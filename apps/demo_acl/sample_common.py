"""Code shared by both samples: device, model, datasets."""
import acl

ACL_MEM_MALLOC_HUGE_FIRST = 0


def expect(ret, what):
    """Ends the sample if a call failed."""
    if ret != 0:
        raise SystemExit(f"{what}: error {ret}")


def allocate(device):
    """Initializes ACL and sets up device, context and stream."""
    expect(acl.init(), "acl.init")
    expect(acl.rt.set_device(device), "acl.rt.set_device")
    context, ret = acl.rt.create_context(device)
    expect(ret, "acl.rt.create_context")
    stream, ret = acl.rt.create_stream()
    expect(ret, "acl.rt.create_stream")
    return context, stream


def release(device, context, stream):
    expect(acl.rt.destroy_stream(stream), "acl.rt.destroy_stream")
    expect(acl.rt.destroy_context(context), "acl.rt.destroy_context")
    expect(acl.rt.reset_device(device), "acl.rt.reset_device")
    expect(acl.finalize(), "acl.finalize")


def dataset_of(sizes):
    """Creates a dataset with one zeroed buffer per size."""
    dataset = acl.mdl.create_dataset()
    for size in sizes:
        memory, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST)
        expect(ret, "acl.rt.malloc")
        expect(acl.rt.memset(memory, size, 0, size), "acl.rt.memset")
        _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(memory, size))
        expect(ret, "acl.mdl.add_dataset_buffer")
    return dataset


def datasets_of(model_id):
    """Returns description, input dataset and output dataset of a model."""
    desc = acl.mdl.create_desc()
    expect(acl.mdl.get_desc(desc, model_id), "acl.mdl.get_desc")
    inputs = [acl.mdl.get_input_size_by_index(desc, i) for i in range(acl.mdl.get_num_inputs(desc))]
    outputs = [acl.mdl.get_output_size_by_index(desc, i) for i in range(acl.mdl.get_num_outputs(desc))]
    return desc, dataset_of(inputs), dataset_of(outputs)


def destroy_dataset(dataset):
    for i in range(acl.mdl.get_dataset_num_buffers(dataset)):
        buffer = acl.mdl.get_dataset_buffer(dataset, i)
        memory = acl.get_data_buffer_addr(buffer)
        expect(acl.destroy_data_buffer(buffer), "acl.destroy_data_buffer")
        expect(acl.rt.free(memory), "acl.rt.free")
    expect(acl.mdl.destroy_dataset(dataset), "acl.mdl.destroy_dataset")


def scores_of(dataset):
    """Returns the first output of a model as numbers."""
    import numpy as np
    buffer = acl.mdl.get_dataset_buffer(dataset, 0)
    raw = acl.util.ptr_to_bytes(acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer))
    return np.frombuffer(raw, np.float32)
