"""Puts compiled kernels into the wheel, where `OUZEL_KERNELS` names a folder that `ouzel compile` has filled.

Such a wheel is for this release of Python and this platform alone; without the variable it is for all.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GLIBC = "manylinux_2_17"  # the kernels call nothing but the C library's functions of numbers, which are older


class KernelsHook(BuildHookInterface):
    """Adds the folder, and tells what the wheel is for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        named = os.environ.get("OUZEL_KERNELS")
        if version == "editable" or not named:
            return
        folder, python = Path(named).resolve(), f"{sys.version_info[0]}{sys.version_info[1]}"
        family = json.loads((folder / "processor.json").read_text())["family"]
        kernels = list(folder.glob(f"*/*.py{python}.*.nbc"))
        if not kernels:
            raise ValueError(f"{folder} has no kernels for this Python, {sys.version.split()[0]}: run ouzel compile")
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        if system.startswith("linux") and platform.libc_ver()[0] == "glibc":
            system = system.replace("linux", GLIBC)
        build_data["pure_python"] = False
        build_data["tag"] = f"cp{python}-cp{python}-{system}"
        indices = folder.glob(f"*/*.py{python}.nbi")
        for path in (folder / "processor.json", *indices, *kernels):
            build_data["force_include"][str(path)] = f"ouzel/compiled/{path.relative_to(folder)}"
        self.app.display_info(f"{len(kernels)} kernels for {family}")
