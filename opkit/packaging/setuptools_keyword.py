"""The keyword of setuptools: `setup(opkit_projects=["csrc/ops"])` builds projects into the wheel of a package that setuptools makes.

As in a wheel of the project itself, each becomes a Python package of its own name: an OPP root that activates itself when it is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from sysconfig import get_platform
from typing import Any

from setuptools import Command
from setuptools.errors import BaseError, SetupError

from opkit import resources
from opkit.build import Project, held
from opkit.errors import OpkitError, SimulatorBuildError, UsageError
from opkit.files import FILE_MODE, copy_whole
from opkit.layout import ENTRY_POINTS
from opkit.toolkit import discover, process_environment

__all__ = ["opkit_projects"]

_COMMAND = "build_opkit"
_INIT = "cmake/wheel_init.py.j2"
# At the top of a project: what opkit makes there. A folder of such a name further below is the user's.
_MADE = frozenset({"build", "output", "dist"})
# As CMake reads a value that is asked for its truth.
_OFF = frozenset({"", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND"})


def opkit_projects(dist: Any, attr: str, value: object) -> None:  # noqa: ANN401 - setuptools is untyped where it isn't installed
    """What setuptools calls with the value of the keyword; raises SetupError for one that can't be."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        msg = f"{attr} must be a list of folders, each with an ops.py, not {value!r}"
        raise SetupError(msg)
    projects: dict[str, Project] = {}
    for folder in value:
        with _as_setup_error(attr):
            from opkit.spec import load_package

            project = Project.find(folder)
            name = load_package(project.ops_py).name
        if name in projects:
            msg = f"{attr}: {projects[name].root} and {project.root} are both the package {name}"
            raise SetupError(msg)
        projects[name] = project
    dist.opkit_packages = projects
    dist.entry_points = _with_entries(dist.entry_points, projects)
    # What is built is for one machine.
    dist.has_ext_modules = lambda: True
    build = dist.get_command_class("build")
    dist.cmdclass["build"] = type("build", (build,), {"sub_commands": [*build.sub_commands, (_COMMAND, None)]})
    dist.cmdclass[_COMMAND] = _BuildOpkit
    dist.cmdclass["sdist"] = _complete(dist.get_command_class("sdist"), attr, value)
    try:
        bdist_wheel = dist.get_command_class("bdist_wheel")
    except BaseError:  # an older setuptools without the `wheel` package makes no wheels
        return
    dist.cmdclass["bdist_wheel"] = _tagged(bdist_wheel)


class _BuildOpkit(Command):  # type: ignore[misc] # untyped where setuptools isn't installed
    """A subcommand of `build`, by the protocol that setuptools.command.build describes."""

    description = "build op packages with opkit"
    user_options: list[tuple[str, str, str]] = []  # noqa: RUF012 - setuptools reads it so
    editable_mode = False

    def initialize_options(self) -> None:
        self.build_lib: str | None = None
        self.build_temp: str | None = None

    def finalize_options(self) -> None:
        self.set_undefined_options("build", ("build_lib", "build_lib"), ("build_temp", "build_temp"))

    def run(self) -> None:
        # What an editable install can't link to the sources is in its wheel, and this is that wheel's folder.
        target: Any = self.get_finalized_command("install").install_lib if self.editable_mode else self.build_lib
        for name, project in self.distribution.opkit_packages.items():
            self._require_free(name, project)
            with _as_setup_error("opkit_projects"):
                self._build(project, Path(target) / name)

    def _require_free(self, name: str, project: Project) -> None:
        """Not sooner: which packages there are may be found by setuptools itself, at the end of its own reading."""
        folder = Path(self.get_finalized_command("build_py").get_package_dir(name))
        if name in (self.distribution.packages or ()) and (folder / "__init__.py").is_file():
            msg = f"opkit_projects: {folder} and {project.root} are both the package {name}"
            raise SetupError(msg)
        if name in (self.distribution.py_modules or ()):
            msg = f"opkit_projects: the module {name} has the name of the package of {project.root}"
            raise SetupError(msg)

    def _build(self, project: Project, output: Path) -> None:
        environ = process_environment()
        toolkit = discover(environ)
        if toolkit.is_simulator and not self.editable_mode and not _is_on(environ.get("OPKIT_ALLOW_SIMULATOR", "")):
            msg = f"{toolkit.home} is opkit's host simulator"
            help_text = "set ASCEND_HOME_PATH, or OPKIT_ALLOW_SIMULATOR=1 for a wheel that stays on computers without a device"
            raise SimulatorBuildError(msg, because="a device needs a library that is linked with CANN", help=help_text)
        folder = Path(self.build_temp or "build") / "opkit" / output.name
        # The program that measures ops isn't wanted here; `held` builds none for who has one.
        with held(Project.at(project.root, build_dir=folder, output=output), toolkit, environ, program=output) as built:
            arch, platform = built.read_opp_root().manifest.target.arch, get_platform()
        if not platform.endswith(arch):
            msg = f"the library of {output.name} is for {arch}, and the wheel's name would say {platform}"
            raise UsageError(msg, help=f"set _PYTHON_HOST_PLATFORM=linux-{arch} too")
        copy_whole(resources.templates() / "deliverable" / _INIT, output / "__init__.py", mode=FILE_MODE)

    def get_source_files(self) -> list[str]:
        """For an sdist."""
        return [str(path) for project in self.distribution.opkit_packages.values() for path in _sources(project.root)]

    def get_outputs(self) -> list[str]:
        return []

    def get_output_mapping(self) -> dict[str, str]:
        return {}


def _tagged(bdist_wheel: Any) -> Any:  # noqa: ANN401 - setuptools is untyped where it isn't installed
    class Tagged(bdist_wheel):  # type: ignore[misc]
        def get_tag(self) -> tuple[str, str, str]:
            python, abi, platform = super().get_tag()
            # Nothing in it is for one Python, unless the package has extension modules too.
            return (python, abi, platform) if self.distribution.ext_modules else ("py3", "none", platform)

    return Tagged


def _complete(sdist: Any, attr: str, folders: Iterable[str]) -> Any:  # noqa: ANN401 - setuptools is untyped where it isn't installed
    """An sdist that is refused where a project isn't in it: whoever unpacks it could build nothing."""

    class Complete(sdist):  # type: ignore[misc]
        def run(self) -> None:
            for folder in folders:
                if not Path(folder).resolve().is_relative_to(Path.cwd().resolve()):
                    msg = f"{attr}: {folder} isn't below the folder of setup.py, and an sdist has nothing else; name a folder in it"
                    raise SetupError(msg)
            super().run()

    return Complete


def _sources(root: Path) -> Iterator[Path]:
    here = Path.cwd()
    for path in sorted(root.rglob("*")):
        *folders, _ = path.relative_to(root).parts
        is_made = folders[:1] and folders[0] in _MADE
        if path.is_file() and not is_made and not any(name.startswith(".") or name == "__pycache__" for name in folders):
            yield path.relative_to(here) if path.is_relative_to(here) else path


def _with_entries(declared: Any, names: Iterable[str]) -> Any:  # noqa: ANN401 - text or a table, as the user wrote it
    lines = [f"{name} = {name}" for name in names]
    if isinstance(declared, str):
        return "\n".join([declared, f"[{ENTRY_POINTS}]", *lines])
    table = dict(declared or {})
    return {**table, ENTRY_POINTS: [*table.get(ENTRY_POINTS, []), *lines]}


def _is_on(value: str) -> bool:
    return value.upper() not in _OFF and not value.upper().endswith("-NOTFOUND")


@contextmanager
def _as_setup_error(attr: str) -> Iterator[None]:
    """setuptools prints one line of its own errors and a traceback of others."""
    try:
        yield
    except OpkitError as error:
        msg = f"{attr}: {error.render()}"
        raise SetupError(msg) from error
