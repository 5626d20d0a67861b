"""What hatchling calls while it builds a wheel: the libraries of Elman's own cells are compiled into it.

That needs torch and a compiler where the wheel is built. Where either is missing the wheel has no libraries,
and they are built at first use; nothing here can fail an installation.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeLibraries(BuildHookInterface):
    """Compiles before the files of a wheel are gathered."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or not sys.platform.startswith("linux"):
            return
        sys.path.insert(0, str(Path(self.root) / "src"))
        try:
            from elman.scan.executors.cpu.shipped_cells import build_shipped

            count = build_shipped()
        except Exception as error:  # of whatever kind: without libraries Elman works, too
            self.app.display_warning(f"no C++ libraries in this wheel: {error}")
            return
        self.app.display_info(f"{count} C++ libraries")
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data.update(pure_python=False, tag=f"py3-none-{platform}")
