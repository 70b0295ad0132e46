#!/usr/bin/python3
"""A face-mask recogniser for CANN, in Python: the same pipeline as main.c, and the same checksum."""
import argparse
import os
import sys
import time

import numpy as np

import acl

PICTURE_WIDTH, PICTURE_HEIGHT, INPUT_SIZE, CLASSES = 520, 390, 260, 2

# Values of CANN's headers; pyACL does not define names for them.
ACL_PROF_ACL_API, ACL_PROF_TASK_TIME, ACL_PROF_AICORE_METRICS = 0x1, 0x2, 0x4
ACL_PROF_MSPROFTX, ACL_PROF_RUNTIME_API = 0x80, 0x100
ACL_AICORE_PIPE_UTILIZATION = 1
ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST = 1, 2


class CallFailed(Exception):
    pass


def check(call, code):
    if code != 0:
        raise CallFailed(f"{call}: error {code}")


class Stage:
    """A range of the profile. If nothing is recorded there is no stamp, and the program works the same."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.stamp = acl.prof.create_stamp()
        if self.stamp != 0:
            acl.prof.set_stamp_trace_message(self.stamp, self.name, len(self.name))
            acl.prof.push(self.stamp)

    def __exit__(self, *_):
        if self.stamp != 0:
            acl.prof.pop()
            acl.prof.destroy_stamp(self.stamp)


class Pipeline:
    """Device, stream, model and its memory."""

    def __init__(self):
        self.context = self.stream = self.model = self.desc = None
        self.memory, self.datasets = [], []

    def create_multiple_streams_from_file(self, path, slow_start_s):
        with Stage("CreateMultipleStreamsFromFile"):
            time.sleep(slow_start_s)
            check("acl.rt.set_device", acl.rt.set_device(0))
            self.context, code = acl.rt.create_context(0)
            check("acl.rt.create_context", code)
            self.stream, code = acl.rt.create_stream()
            check("acl.rt.create_stream", code)
            self.model, code = acl.mdl.load_from_file(path)
            if code != 0:
                self.model = None
            check("acl.mdl.load_from_file", code)
            self.desc = acl.mdl.create_desc()
            check("acl.mdl.get_desc", acl.mdl.get_desc(self.desc, self.model))
            self.input = self.make_dataset(acl.mdl.get_input_size_by_index(self.desc, 0))
            self.output = self.make_dataset(acl.mdl.get_output_size_by_index(self.desc, 0))

    def make_dataset(self, size):
        memory, code = acl.rt.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST)
        check("acl.rt.malloc", code)
        self.memory.append(memory)
        dataset = acl.mdl.create_dataset()
        self.datasets.append(dataset)
        _, code = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(memory, size))
        check("acl.mdl.add_dataset_buffer", code)
        return dataset, memory, size

    def destroy_streams(self):
        for dataset in self.datasets:
            for index in range(acl.mdl.get_dataset_num_buffers(dataset)):
                acl.destroy_data_buffer(acl.mdl.get_dataset_buffer(dataset, index))
            acl.mdl.destroy_dataset(dataset)
        for memory in self.memory:
            acl.rt.free(memory)
        if self.desc is not None:
            acl.mdl.destroy_desc(self.desc)
        if self.model is not None:
            acl.mdl.unload(self.model)
        if self.stream is not None:
            acl.rt.destroy_stream(self.stream)
        if self.context is not None:
            acl.rt.destroy_context(self.context)
        acl.rt.reset_device(0)


def take_picture(number):
    """Generates a camera image as binary PPM: a head in front of a wall, every second one with a mask."""
    n = number % 1000
    y, x = np.mgrid[0:PICTURE_HEIGHT, 0:PICTURE_WIDTH]
    wall = np.stack((x * 3 + y * 2 + n * 17, x + y * 5 + n * 29, x * y // 64 + n * 11), axis=2)
    dx, dy = x - PICTURE_WIDTH // 2 - n % 40, y - PICTURE_HEIGHT // 2
    head = dx * dx + dy * dy <= 130 * 130
    wall[head] = (220, 180, 150)
    if n % 2 == 1:
        wall[head & (dy > 0)] = (90, 150, 200)
    header = f"P6\n{PICTURE_WIDTH} {PICTURE_HEIGHT}\n255\n"
    return header.encode() + wall.astype(np.uint8).tobytes()


def decode(file):
    """Returns the pixels of a binary PPM."""
    with Stage("decode"):
        magic, size, most, pixels = file.split(b"\n", 3)
        width, height = map(int, size.split())
        if magic != b"P6" or most != b"255" or len(pixels) != width * height * 3:
            raise CallFailed("the picture is no binary PPM")
        return np.frombuffer(pixels, np.uint8).reshape(height, width, 3)


def preprocess(pixels):
    """Converts the image to the size and layout of the model's input: nearest pixel, planes of -1 to 1."""
    with Stage("preprocess"):
        rows = np.arange(INPUT_SIZE) * pixels.shape[0] // INPUT_SIZE
        columns = np.arange(INPUT_SIZE) * pixels.shape[1] // INPUT_SIZE
        near = pixels[rows][:, columns].astype(np.float32)
        return np.ascontiguousarray(((near - 128) / 128).transpose(2, 0, 1))


def infer(pipeline, planes):
    with Stage("infer"):
        _, input_memory, input_size = pipeline.input
        _, output_memory, _ = pipeline.output
        check("acl.rt.memcpy",
              acl.rt.memcpy(input_memory, input_size, acl.util.numpy_to_ptr(planes), planes.nbytes,
                            ACL_MEMCPY_HOST_TO_DEVICE))
        check("acl.mdl.execute", acl.mdl.execute(pipeline.model, pipeline.input[0], pipeline.output[0]))
        scores = np.zeros(CLASSES, np.float32)
        check("acl.rt.memcpy",
              acl.rt.memcpy(acl.util.numpy_to_ptr(scores), scores.nbytes, output_memory, scores.nbytes,
                            ACL_MEMCPY_DEVICE_TO_HOST))
        return scores


def postprocess(scores):
    """Returns the class with the highest score and the value to add to the checksum."""
    with Stage("postprocess"):
        return int(np.argmax(scores)), sum(float(score) * (i + 1) for i, score in enumerate(scores))


def recognise(pipeline, options):
    counts, checksum, took_ms = [0] * CLASSES, 0.0, []
    for number in range(options.images):
        planes = preprocess(decode(take_picture(number)))
        begin = time.monotonic()
        scores = infer(pipeline, planes)
        took_ms.append((time.monotonic() - begin) * 1000)
        best, part = postprocess(scores)
        counts[best] += 1
        checksum += part
    median = sorted(took_ms)[options.images // 2]
    print(f"{options.model}: {options.images} pictures, class 0 in {counts[0]}, class 1 in {counts[1]}, "
          f"checksum {checksum:.3f}, median {median:.3f} ms")


def start_recording(output):
    check("acl.prof.init", acl.prof.init(output))
    config = acl.prof.create_config([0], ACL_AICORE_PIPE_UTILIZATION, 0,
                                    ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS |
                                    ACL_PROF_MSPROFTX | ACL_PROF_RUNTIME_API)
    if config == 0:
        raise CallFailed("acl.prof.create_config failed")
    check("acl.prof.start", acl.prof.start(config))
    return config


def stop_recording(config):
    check("acl.prof.stop", acl.prof.stop(config))
    check("acl.prof.destroy_config", acl.prof.destroy_config(config))
    check("acl.prof.finalize", acl.prof.finalize())


def run(options):
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "models", options.model + ".json")
    check("acl.init", acl.init())
    pipeline = Pipeline()
    try:
        recording = start_recording(options.output) if options.output else None
        pipeline.create_multiple_streams_from_file(path, options.slow_start)
        recognise(pipeline, options)
        if recording:
            stop_recording(recording)
    finally:
        pipeline.destroy_streams()
        check("acl.finalize", acl.finalize())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=("face_mask", "face_mask_fused"), default="face_mask",
                        help="models/NAME.json next to this program (default face_mask)")
    parser.add_argument("--images", type=int, default=20, help="images to classify (default 20)")
    parser.add_argument("--slow-start", type=float, nargs="?", const=5.0, default=0.0, metavar="SECONDS",
                        help="sleep in the first stage (default 5), visible in the profile")
    parser.add_argument("--output", metavar="FOLDER",
                        help="record into FOLDER with acl.prof.init and acl.prof.start; without it, the "
                             "environment or acl.json decides what is recorded")
    options = parser.parse_args()
    if options.images < 1 or options.slow_start < 0:
        parser.error("expected --images >= 1 and --slow-start >= 0")
    try:
        run(options)
    except CallFailed as error:
        print(f"main.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
