#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cuvision.train(): its options, how the program is found, output and errors."""

import contextlib
import inspect
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import cuvision
import cuvision.train  # must not replace the function
from cuvision import _train

PRINT = """#!/bin/sh
printf '%s\\n' "$@"
echo note >&2
"""


class Train(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, path, text=PRINT):
        """Writes a program."""
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def printed(self, *arguments, **options):
        """Calls train() with a program that prints its arguments. Returns its output."""
        self.write("bin/cuvision-train")
        text = io.StringIO()
        with mock.patch.dict(os.environ, PATH=f"{self.folder}/bin:/bin:/usr/bin",
                             CUV_DETECT_LIBRARY=""), contextlib.redirect_stdout(text):
            cuvision.train(*arguments, **options)
        return text.getvalue().splitlines()

    def test_options(self):
        """The keyword arguments are the program's options."""
        text = subprocess.check_output([_train.program(), "--help"], text=True)
        options = set(re.findall(r"(?<![\w-])--([a-z-]+)", text.split("Application Options:")[1]
                                 .split("\n\n")[0]))
        arguments = {name.replace("_", "-") for name in inspect.signature(cuvision.train).parameters}
        self.assertEqual(arguments, options)
        self.assertIn("positives", options)
        for name in inspect.signature(cuvision.train).parameters:
            self.assertIn(f"\n    {name}: ", cuvision.train.__doc__)

    def test_command_line(self):
        self.assertEqual(
            self.printed("info.dat", pathlib.Path("a b.xml")),
            ["--positives=info.dat", "--output=a b.xml", "note"])
        self.assertEqual(
            self.printed(["a", pathlib.Path("b")], "c.xml", window=(24, 20), mirror=True, resume=False,
                         false_positives=0.5, loose_boxes=True, negative_samples=0,
                         ignore=("x", "y")),
            ["--positives=a", "--positives=b", "--output=c.xml", "--ignore=x", "--ignore=y",
             "--window=24x20", "--false-positives=0.5", "--loose-boxes", "--mirror",
             "--negative-samples=0", "note"])
        self.assertIn("--window=16x16", self.printed("a", "b", window="16x16"))
        self.assertEqual(self.printed((pathlib.Path(name) for name in "xy"), b"b")[:3],
                         ["--positives=x", "--positives=y", "--output=b"])
        for options in {"window": 24}, {"window": (1, 2, 3)}, {"label": "a\0"}:
            with self.assertRaisesRegex(cuvision.error, f"^{list(options)[0]} "):
                self.printed("a", "b", **options)

    def test_program(self):
        """In the build tree of the library, beside the module, in PATH."""
        tree = self.write("build/tools/train/cuvision-train")
        path = self.write("bin/cuvision-train")
        copy = self.folder / "site"
        shutil.copytree(os.path.dirname(cuvision.__file__), copy / "cuvision")
        code = "from cuvision import _train; print(_train.program())"

        def found(library):
            # the library itself is loaded from where it is
            (self.folder / "build/detect").mkdir(exist_ok=True)
            return os.path.realpath(subprocess.check_output(
                [sys.executable, "-c", f"import os, cuvision; "
                 f"os.environ['CUV_DETECT_LIBRARY'] = {library!r}; {code}"], text=True,
                env={**os.environ, "PATH": os.path.dirname(path), "PYTHONPATH": str(copy)}).strip())

        self.assertEqual(found(f"{self.folder}/build/detect/libcuvdetect.so.0"), tree)
        self.assertEqual(found(""), path)
        beside = self.write("site/cuvision/cuvision-train")
        self.assertEqual(found(""), beside)
        with mock.patch.object(_train.sysconfig, "get_path", lambda _: str(self.folder / "bin")), \
                mock.patch.dict(os.environ, PATH="/nowhere", CUV_DETECT_LIBRARY=""):
            self.assertEqual(_train.program(), path)

    def test_missing(self):
        with mock.patch.dict(os.environ, PATH="/nowhere", CUV_DETECT_LIBRARY="/nowhere/a/b.so"):
            with self.assertRaisesRegex(cuvision.error, "not found in .*: install the package"):
                cuvision.train("a", "b")

    def test_errors(self):
        """The program's text is in the exception, and its kind says whether an option is wrong."""
        with contextlib.redirect_stdout(io.StringIO()) as text:
            with self.assertRaisesRegex(RuntimeError, "^cannot read '/nowhere': No such file"):
                cuvision.train("/nowhere", str(self.folder / "a.xml"))
            with self.assertRaisesRegex(ValueError, "^--window '1x2' is not a size"):
                cuvision.train("a", "b", window=(1, 2))
        self.assertIn("cuvision-train: cannot read '/nowhere'", text.getvalue())
        with self.assertRaises(TypeError):
            cuvision.train("a", "b", windows=(24, 24))

    def test_killed(self):
        self.write("bin/cuvision-train", "#!/bin/sh\nkill -9 $$\n")
        with mock.patch.dict(os.environ, PATH=f"{self.folder}/bin:/bin", CUV_DETECT_LIBRARY=""):
            with self.assertRaisesRegex(cuvision.error, "ended with status -9"):
                cuvision.train("a", "b")

    def test_module(self):
        """python3 -m cuvision.train is the program, with its exit status."""
        command = [sys.executable, "-W", "error", "-m", "cuvision.train"]
        self.assertIn(b"--positives", subprocess.check_output([*command, "--help"]))
        ended = subprocess.run([*command, "--weak=0"], capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 2)
        self.assertRegex(ended.stderr, "^cuvision-train: ")
        self.assertTrue(inspect.isfunction(cuvision.train))


if __name__ == "__main__":
    unittest.main()
