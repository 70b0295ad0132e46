# Sourced by bash: programs that are built for CANN find this host runtime, its headers and its Python module.
# Nothing of a real CANN is changed; what it set before comes after.
ASCEND_HOME_PATH="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
export ASCEND_HOME_PATH
# What build scripts of older samples ask for.
export DDK_PATH="$ASCEND_HOME_PATH"
export NPU_HOST_LIB="$ASCEND_HOME_PATH/lib64"
export LD_LIBRARY_PATH="$ASCEND_HOME_PATH/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PYTHONPATH="$ASCEND_HOME_PATH/python${PYTHONPATH:+:$PYTHONPATH}"
