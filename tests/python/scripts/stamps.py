"""Stamps, steps and mstx in one recording. Prints what was recorded."""
import sys
import threading

import acl
import mstx
from support import dataset, destroy, end, expect, load, start

context, stream = start()
assert mstx.get_tool_id() == 0x1000, mstx.get_tool_id()
assert mstx.range_start("before the recording") == 0
assert acl.prof.init(sys.argv[1]) == 0
assert acl.prof.set_config(1, "1024MB") == 0
config = acl.prof.create_config([0], 1, 0, 0x1 | 0x2 | 0x4 | 0x80)
assert config != 0
assert acl.prof.start(config) == 0
assert acl.prof.start(config) == 100042
model = load()
in_set, in_memory = dataset(96)
out_set, out_memory = dataset(96)


def named(message):
    stamp = acl.prof.create_stamp()
    assert stamp != 0
    assert acl.prof.set_stamp_trace_message(stamp, message, len(message)) == 0
    return stamp


outer = named("外层 outer")
assert acl.prof.push(outer) == 0
assert acl.prof.mark(named("a mark")) == 0
for _ in range(3):
    assert acl.mdl.execute(model, in_set, out_set) == 0
# As in the vendor's samples: functions without parameters ignore their arguments.
assert acl.prof.pop(outer) == 0
assert acl.prof.pop() != 0
acl.prof.destroy_stamp(outer)
assert acl.prof.set_stamp_trace_message(named("x"), "y" * 128, 128) != 0

crossing = expect(acl.prof.range_start(named("crossing")))
thread = threading.Thread(target=lambda: acl.prof.range_stop(crossing))
thread.start()
thread.join()
assert acl.prof.range_stop(crossing) != 0
assert acl.prof.mark_ex("on the stream", stream) == 0

step = acl.prof.create_step_info()
assert acl.prof.get_step_timestamp(step, 0, stream) == 0
assert acl.prof.get_step_timestamp(step, 0, stream) == 100000
assert acl.prof.get_step_timestamp(step, 1, stream) == 0
acl.prof.destroy_step_info(step)

mstx.mark("mstx mark")
with_stream = mstx.range_start("mstx range", stream)
assert with_stream != 0
mstx.range_end(with_stream)
mstx.range_end(rangeId=mstx.range_start(message="mstx by keyword", stream=None))
assert mstx.range_start("=refused") == 0
# Without arguments nothing is recorded.
assert mstx.mark() is None
assert mstx.range_start() == 0 and mstx.range_start(None) == 0
assert mstx.range_end() is None
mstx.mark("in a domain", domain="python")
in_domain = mstx.range_start("range in a domain", domain="python")
assert in_domain != 0
mstx.range_end(in_domain, domain="python")
mstx.range_end(mstx.range_start("by its name", domain="default"))
assert acl.rt.synchronize_stream(stream) == 0

assert acl.prof.stop(config) == 0
assert acl.prof.destroy_config(config) == 0
assert acl.prof.finalize("ignored", 1) == 0
assert mstx.range_start("after the recording") == 0
destroy(in_set, in_memory)
destroy(out_set, out_memory)
assert acl.mdl.unload(model) == 0
end(context, stream)
