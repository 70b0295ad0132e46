# Sourced by bash: lets programs built for CANN find this host runtime, its headers and its Python
# module. A real CANN is not changed; its existing paths follow the new ones.
ASCEND_HOME_PATH="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
export ASCEND_HOME_PATH
# Used by build scripts of older samples.
export DDK_PATH="$ASCEND_HOME_PATH"
export NPU_HOST_LIB="$ASCEND_HOME_PATH/lib64"
export LD_LIBRARY_PATH="$ASCEND_HOME_PATH/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PYTHONPATH="$ASCEND_HOME_PATH/python${PYTHONPATH:+:$PYTHONPATH}"
