"""mstx without acl: the environment decides whether a recorder is loaded."""
import mstx

outer = mstx.range_start("outer")
mstx.mark("mark", None)
mstx.range_end(outer)
mstx.mark()
mstx.range_end(mstx.range_start())
print(outer, mstx.get_tool_id())
