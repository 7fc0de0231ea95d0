# SPDX-License-Identifier: LGPL-2.1-or-later
"""python3 -m cuvision.train: the program cuvision-train, with its options."""

import os
import sys

from ._errors import error
from ._train import program, train

if __name__ == "__main__":
    try:
        os.execv(program(), ["cuvision-train", *sys.argv[1:]])
    except error as problem:
        sys.exit(f"cuvision.train: {problem}")
sys.modules[__name__] = train  # cuvision.train remains the function
