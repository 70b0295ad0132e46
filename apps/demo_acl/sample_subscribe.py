#!/usr/bin/python3
"""Reads the operators of a model through a pipe while it runs: acl.prof.model_subscribe, in the order of the manual.

usage: sample_subscribe.py MODEL [EXECUTIONS]
"""
import os
import sys

import numpy as np

import acl
import sample_common as common

ACL_AICORE_NONE = 0xFF
RECORDS_AT_ONCE = 10
DEVICE = 0


def print_operators(data, data_len):
    """Prints one line per record in this memory."""
    count, ret = acl.prof.get_op_num(data, data_len)
    common.expect(ret, "acl.prof.get_op_num")
    for i in range(count):
        model_id = acl.prof.get_model_id(data, data_len, i)
        op_type, ret = acl.prof.get_op_type(data, data_len, i, 65)
        common.expect(ret, "acl.prof.get_op_type")
        op_name, ret = acl.prof.get_op_name(data, data_len, i, 275)
        common.expect(ret, "acl.prof.get_op_name")
        start = acl.prof.get_op_start(data, data_len, i)
        end = acl.prof.get_op_end(data, data_len, i)
        duration = acl.prof.get_op_duration(data, data_len, i)
        print("operator", model_id, op_type, op_name, start, end, duration)


def read_records(args):
    """Reads until the other end of the pipe is closed."""
    fd, context = args
    common.expect(acl.rt.set_context(context), "acl.rt.set_context")
    record_size, ret = acl.prof.get_op_desc_size()
    common.expect(ret, "acl.prof.get_op_desc_size")
    while True:
        data = os.read(fd, record_size * RECORDS_AT_ONCE)
        if len(data) == 0:
            break
        array = np.array(data)
        print_operators(acl.util.numpy_to_ptr(array), array.itemsize * array.size)


def main(model_path, executions="1"):
    context, stream = common.allocate(DEVICE)
    model_id, ret = acl.mdl.load_from_file(model_path)
    common.expect(ret, "acl.mdl.load_from_file")
    desc, input_data, output_data = common.datasets_of(model_id)

    read_end, write_end = os.pipe()
    config = acl.prof.create_subscribe_config(1, ACL_AICORE_NONE, write_end)
    if config == 0:
        raise SystemExit("acl.prof.create_subscribe_config failed")
    common.expect(acl.prof.model_subscribe(model_id, config), "acl.prof.model_subscribe")
    thread_id, ret = acl.util.start_thread(read_records, [read_end, context])
    common.expect(ret, "acl.util.start_thread")

    for _ in range(int(executions)):
        common.expect(acl.mdl.execute(model_id, input_data, output_data), "acl.mdl.execute")
    scores = common.scores_of(output_data)

    common.destroy_dataset(input_data)
    common.destroy_dataset(output_data)
    common.expect(acl.mdl.destroy_desc(desc), "acl.mdl.destroy_desc")
    common.expect(acl.mdl.unload(model_id), "acl.mdl.unload")

    # Un-subscribing closes the write end, so the reader reaches the end of the pipe.
    common.expect(acl.prof.model_un_subscribe(model_id), "acl.prof.model_un_subscribe")
    common.expect(acl.util.stop_thread(thread_id), "acl.util.stop_thread")
    # The reader thread has stopped printing, so the lines do not mix.
    print("scores:", *scores)
    os.close(read_end)
    common.expect(acl.prof.destroy_subscribe_config(config), "acl.prof.destroy_subscribe_config")
    common.release(DEVICE, context, stream)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
