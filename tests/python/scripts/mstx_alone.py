"""mstx without acl: whether a recorder is there is the environment's."""
import mstx

outer = mstx.range_start("outer")
mstx.mark("mark", None)
mstx.range_end(outer)
mstx.mark()
mstx.range_end(mstx.range_start())
print(outer, mstx.get_tool_id())
