# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the program cuvision-train."""

import os
import shutil
import subprocess
import sysconfig
from typing import Iterable, Optional, Sequence, Tuple, Union

from ._errors import problem
from ._picture import size

_Path = Union[str, "os.PathLike[str]"]
_Paths = Union[_Path, Iterable[_Path]]
_NAME = "cuvision-train"


def program():
    """Returns the path of cuvision-train: that of the build tree if CUV_DETECT_LIBRARY names its
    library, one that was installed with this module, or one in PATH."""
    folders = [os.path.dirname(os.path.abspath(__file__)), sysconfig.get_path("scripts")]
    library = os.environ.get("CUV_DETECT_LIBRARY")
    if library:
        folders.insert(0, os.path.join(os.path.dirname(os.path.abspath(library)), "../tools/train"))
    path = shutil.which(_NAME, path=os.pathsep.join(folders)) or shutil.which(_NAME)
    if path is None:
        raise problem(RuntimeError, f"{_NAME} was not found in {', '.join(folders)} or PATH:"
                      " install the package gst-cuvision-tools or the wheel gst-cuvision")
    return path


def _text(value, name):
    if isinstance(value, (str, bytes, os.PathLike)):
        value = os.fsdecode(value)
    if "\0" in str(value):
        raise problem(ValueError, f"{name} has a character 0")
    return str(value)


def _arguments(options):
    """Returns the command line of options, a dictionary."""
    arguments = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif name == "window" and value is not None and not isinstance(value, str):
            arguments.append("{}={}x{}".format(option, *size(value, name)))
        elif value is not None and value is not False:
            is_one = isinstance(value, (str, bytes, os.PathLike)) or not hasattr(value, "__iter__")
            arguments += [f"{option}={_text(item, name)}" for item in ([value] if is_one else value)]
    return arguments


def train(
    positives: _Paths,
    output: _Path,
    *,
    negatives: _Paths = (),
    label: Optional[str] = None,
    ignore: Union[str, Sequence[str]] = (),
    names: Optional[_Path] = None,
    images: _Paths = (),
    format: Optional[str] = None,
    report: Optional[_Path] = None,
    resume: bool = False,
    device: Optional[str] = None,
    progress_interval: Optional[float] = None,
    window: Union[None, str, Tuple[int, int]] = None,
    features: Optional[str] = None,
    weak: Optional[int] = None,
    alpha: Optional[float] = None,
    rate: Optional[float] = None,
    false_positives: Optional[float] = None,
    loose_boxes: bool = False,
    copies: Optional[int] = None,
    margin: Optional[float] = None,
    mirror: bool = False,
    negative_samples: Optional[int] = None,
    seed: Optional[int] = None,
) -> None:
    """Trains a model from annotated pictures, with the program cuvision-train, whose options these
    are; its output is printed.

    positives: annotations of pictures with objects (COCO, Pascal VOC, YOLO, info.dat, .vec and
        others), or folders of them
    output: the model to write, which CascadeClassifier loads
    negatives: pictures or videos without objects, folders or lists of them
    label: label of the objects to learn; None: all objects
    ignore: labels of objects that are neither learnt nor used as negatives
    names: file with the names of YOLO's classes
    images: folders of the annotated pictures; by default near the annotations
    format: "butfit" (the default), or "opencv": a cascade that OpenCV can read, too
    report: folder for report.json and index.html
    resume: continue a run that was stopped
    device: "auto" (the default), "cpu" or "cuda"; the model is the same
    progress_interval: seconds between the printed lines of progress, 20 by default
    window: width and height of the smallest object to find; 24x24, or 32x32 for channels
    features: "auto" (the default), "lbp", "lrd", "lrp" or "channels"
    weak: maximum number of weak classifiers, 256 by default
    alpha: fraction of objects that early rejection may miss; 0.02, or 0.005 for channels
    rate: stop at this false-positive rate of windows; 0, never, by default
    false_positives: per picture, that the model's threshold allows; 1 by default
    loose_boxes: boxes of objects may be off, as those of a tracker are
    copies: samples of each object, slightly shifted and scaled; 8 by default
    margin: fraction of the box's size to add on each side; 0.1, or 0 for channels
    mirror: also learn mirrored objects
    negative_samples: negatives used at a time, 10000 by default
    seed: random seed, 1 by default; the same seed gives the same model

    Raises an error with the program's text if no model was written: a ValueError for a wrong
    option, otherwise a RuntimeError."""
    command = [program(), *_arguments(locals())]
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                if line.startswith(_NAME + ": "):
                    last = line[len(_NAME) + 2:].rstrip()
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        raise problem(ValueError if process.returncode == 2 else RuntimeError,
                      last or f"{_NAME} ended with status {process.returncode}")
