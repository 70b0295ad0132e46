"""The command msprof: replaces this process by the program."""

import os
import sys

from ._program import Error, program


def main() -> None:
    try:
        path = program()
        os.execv(path, ["msprof"] + sys.argv[1:])
    except (Error, OSError) as error:
        sys.exit("error: cannot start msprof: {}".format(error))


if __name__ == "__main__":
    main()
