#!/usr/bin/python3
"""Records a model's execution into files: acl.prof.init, start, stop, finalize, in the order of the manual.

usage: sample_files.py MODEL FOLDER
"""
import sys

import acl
import sample_common as common

ACL_PROF_ACL_API = 0x0001
ACL_PROF_TASK_TIME = 0x0002
ACL_PROF_AICORE_METRICS = 0x0004
ACL_PROF_AICPU_TRACE = 0x0008
ACL_PROF_L2CACHE = 0x0010
ACL_PROF_HCCL = 0x0020
DEVICE = 0


def main(model_path, folder):
    context, stream = common.allocate(DEVICE)
    model_id, ret = acl.mdl.load_from_file(model_path)
    common.expect(ret, "acl.mdl.load_from_file")
    desc, input_data, output_data = common.datasets_of(model_id)

    common.expect(acl.prof.init(folder), "acl.prof.init")
    config = acl.prof.create_config([DEVICE], 0, 0,
                                    ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICPU_TRACE |
                                    ACL_PROF_AICORE_METRICS | ACL_PROF_L2CACHE | ACL_PROF_HCCL)
    if config == 0:
        raise SystemExit("acl.prof.create_config failed")
    common.expect(acl.prof.start(config), "acl.prof.start")

    common.expect(acl.mdl.execute(model_id, input_data, output_data), "acl.mdl.execute")
    print("scores:", *common.scores_of(output_data))

    common.destroy_dataset(input_data)
    common.destroy_dataset(output_data)
    common.expect(acl.mdl.destroy_desc(desc), "acl.mdl.destroy_desc")
    common.expect(acl.mdl.unload(model_id), "acl.mdl.unload")

    common.expect(acl.prof.stop(config), "acl.prof.stop")
    common.expect(acl.prof.destroy_config(config), "acl.prof.destroy_config")
    common.expect(acl.prof.finalize(), "acl.prof.finalize")
    common.release(DEVICE, context, stream)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
