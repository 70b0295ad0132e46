"""Blocking calls let other Python threads run; streams can call Python functions."""
import threading
import time

import acl
from support import end, expect, start

context, stream = start()

# Counts while the main thread waits for a stream; a Python function in that stream waits for the
# counter.
done = threading.Event()
counted = 0


def count(_):
    global counted
    while not done.is_set():
        counted += 1
        time.sleep(0.001)


arguments = []


def slow(argument):
    arguments.append(argument)
    start = counted
    while counted < start + 50:
        time.sleep(0.001)


def handle_reports(shared_context):
    assert acl.rt.set_context(shared_context) == 0
    while not done.is_set():
        acl.rt.process_report(100)


counter, ret = acl.util.start_thread(count, None)
assert ret == 0 and counter != 0
reporter = expect(acl.util.start_thread(handle_reports, context))
assert acl.rt.subscribe_report(reporter, stream) == 0
thing = {"any": "object"}
assert acl.rt.launch_callback(slow, thing, 1, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
assert arguments == [thing], arguments

assert acl.rt.launch_callback(lambda _: 1 / 0, None, 1, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.launch_callback("no function", None, 1, stream) == 100000
assert acl.rt.unsubscribe_report(reporter, stream) == 0
done.set()
assert acl.util.stop_thread(reporter) == 0
assert acl.util.stop_thread(counter) == 0
assert acl.util.stop_thread(counter) == 100000
end(context, stream)

# A thread that never ends does not keep the program from exiting.
acl.util.start_thread(lambda _: time.sleep(1000), None)
