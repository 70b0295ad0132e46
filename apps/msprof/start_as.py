#!/usr/bin/env python3
"""Starts msprof under the name of this script. Installed as msprof.py and get_msprof_info.py, where callers of CANN's
tools look for these scripts."""
import os
import sys

script = os.path.realpath(__file__)
tools = os.path.join(os.path.dirname(script), os.pardir, os.pardir, os.pardir)
os.execv(os.path.join(tools, "bin", "msprof"), [os.path.basename(script)] + sys.argv[1:])
