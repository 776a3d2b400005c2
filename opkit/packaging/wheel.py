"""Wheels of op packages: what `pip wheel` makes of the project, without a network, an isolated environment or pip."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import io
import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opkit import process
from opkit.deliverable import marked
from opkit.errors import ArchiveError, BackendMissingError, BuildError, NotManylinuxError, UsageError
from opkit.files import digest_of, guard_writing, make_folders, write_whole
from opkit.layout import ENTRY_POINTS, HOME_VARIABLE, is_of_the_system
from opkit.packaging.archive import DEST_HELP, Packed, require_archive, require_for_a_device
from opkit.packaging.requirements import numbers_of
from opkit.packaging.wheel_metadata import has_entry
from opkit.toolkit import cross_definitions, find_cross_compiler, host_arch

if TYPE_CHECKING:
    from opkit.build import Project, Settings
    from opkit.deliverable import Manifest
    from opkit.toolkit import Toolkit

__all__ = ["make_wheel", "manylinux_tag", "require_wheel_entries", "rewritten", "wishes"]

_BACKEND = "scikit_build_core.build"
_LOG = "opkit-wheel.log"
_NO_BACKEND = 65
_OWN = f'project.entry-points."{ENTRY_POINTS}"'
# What a build frontend does, which would also make an environment and fill it from an index.
_HOOK = f"""\
import json, sys
try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib
with open("pyproject.toml", "rb") as file:
    try:
        backend = tomllib.load(file).get("build-system", {{}}).get("build-backend")
    except (tomllib.TOMLDecodeError, AttributeError) as fault:
        print(f"pyproject.toml: {{fault}}", file=sys.stderr)
        sys.exit({_NO_BACKEND})
if backend != {_BACKEND!r}:
    print(f"pyproject.toml has the build backend {{backend!r}}", file=sys.stderr)
    sys.exit({_NO_BACKEND})
from scikit_build_core.build import build_wheel
build_wheel(sys.argv[1], json.loads(sys.argv[2]))
"""
# glibc and the newest GLIBCXX of a distribution that has it: RHEL 7, Debian 9, RHEL 8, Ubuntu 20.04, RHEL 9, Ubuntu 22.04 and 24.04.
_DISTRIBUTIONS = (
    ((2, 17), (3, 4, 19)),
    ((2, 24), (3, 4, 22)),
    ((2, 28), (3, 4, 25)),
    ((2, 31), (3, 4, 28)),
    ((2, 34), (3, 4, 29)),
    ((2, 35), (3, 4, 30)),
    ((2, 39), (3, 4, 33)),
)
# PEP 600: what every such distribution has beside the system's libraries.
_EVERYWHERE = ("libutil.so.1", "libresolv.so.2")


def make_wheel(  # noqa: PLR0913 - what a wheel is made of
    project: Project,
    manifest: Manifest,
    toolkit: Toolkit,
    folder: Path,
    environ: Mapping[str, str],
    *,
    settings: Settings,
    is_simulator_allowed: bool = False,
    is_manylinux: bool = False,
) -> Packed:
    """The bytes are those of `pip wheel`, but for a version that is marked and a platform that is asked for.

    `manifest` is that of the project as it is built now, with `settings`. Raises SimulatorBuildError, NotManylinuxError,
    BackendMissingError, BuildError, UsageError for a project of another build backend, UnwritableError. A failure leaves a wheel that was
    there before.
    """
    require_for_a_device(manifest, is_simulator_allowed=is_simulator_allowed)
    platform = manylinux_tag(manifest, toolkit) if is_manylinux else None
    if importlib.util.find_spec("scikit_build_core") is None:
        msg = "scikit-build-core isn't installed, which makes the wheels"
        raise BackendMissingError(msg, because=f"{sys.executable} can't import it", help='pip install "ascend-opkit[wheel]"')
    if not (project.root / "pyproject.toml").is_file():
        msg = f"{project.root} has no pyproject.toml"
        raise UsageError(msg, because="it says how a wheel is called and which backend makes it", help="opkit new writes one to look at")
    with tempfile.TemporaryDirectory(prefix="opkit-wheel-") as name:
        _build(project, wishes(manifest, toolkit, environ, settings), Path(name))
        (wheel,) = Path(name).glob("*.whl")
        made, content = rewritten(
            wheel.name, wheel.read_bytes(), version=marked if manifest.built_against.is_simulator else None, platform=platform
        )
    _require_shippable(made, content, manifest.package)
    target = folder.absolute() / made
    with guard_writing(target, help=DEST_HELP):
        make_folders(folder)
        write_whole(target, content)
    return Packed(path=target, sha256=digest_of(target), size=len(content))


def _require_shippable(name: str, content: bytes, package: str) -> None:
    """Raises UsageError for a wheel that nobody could open, or in which nobody would find the ops: the project decides what is in it."""
    try:
        require_archive(io.BytesIO(content), name)
    except ArchiveError as fault:
        msg = f"{fault.message}: it holds more than the ops of {package}, or less"
        advice = "let the project make these alone (opkit new writes such a pyproject.toml); or make the wheel for pip alone: pip wheel ."
        raise UsageError(msg, where=fault.where, because=fault.because, help=advice) from fault
    with zipfile.ZipFile(io.BytesIO(content)) as wheel:
        is_found = has_entry(wheel, package)
    if not is_found:
        msg = f"opkit env and opkit run wouldn't find the ops of {package} in {name}"
        raise _not_found(msg, package)


def _not_found(msg: str, package: str) -> UsageError:
    because = f"pyproject.toml names no entry point of {ENTRY_POINTS}, by which they look"
    return UsageError(msg, because=because, help=f'[project.entry-points."{ENTRY_POINTS}"] with {package} = "{package}" in pyproject.toml')


def require_wheel_entries(project: Project) -> None:
    """Raises UsageError for entry points in pyproject.toml with which the wheel would be refused: both builds would be for nothing.

    What is dynamic, and whether the name is that of the package, is known when the wheel is made.
    """
    from opkit.build import settings_of

    settings = settings_of(project)
    # One of another backend is refused for that.
    if _table(settings, "build-system").get("build-backend") != _BACKEND:
        return
    declared = _table(settings, "project")
    groups = _table(declared, "entry-points")
    tables = {f"project.{name}": _table(declared, name) for name in ("scripts", "gui-scripts")}
    tables |= {f"project.entry-points.{_quoted(group)}": _table(groups, group) for group in groups if group != ENTRY_POINTS}
    own = _table(groups, ENTRY_POINTS)
    tables[_OWN] = {name: value for name, value in own.items() if name != value}
    for table, entries in tables.items():
        for name, value in entries.items():
            msg = f"the wheel of {project.root} would bring more than its ops"
            because = f"pyproject.toml has {name} = {value} in [{table}], and ops have nothing but one entry in [{_OWN}]"
            advice = "take it out of pyproject.toml, or make the wheel for pip alone: pip wheel ."
            raise UsageError(msg, because=because, help=advice)
    if not own and "entry-points" not in declared.get("dynamic", ()):
        msg = f"opkit env and opkit run wouldn't find the ops in the wheel of {project.root}"
        raise _not_found(msg, "NAME")


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Empty for what is none: the backend says so."""
    table = settings.get(name)
    return table if isinstance(table, dict) else {}


def _quoted(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else json.dumps(key, ensure_ascii=False)


def manylinux_tag(manifest: Manifest, toolkit: Toolkit) -> str:
    """The oldest platform that has all that the library needs but the toolkit's own libraries, which no wheel brings.

    Raises NotManylinuxError.
    """
    requires = manifest.requires
    foreign = [
        name
        for name in requires.libraries
        if not is_of_the_system(name) and name not in _EVERYWHERE and not (toolkit.lib64 / name).exists()
    ]
    if foreign:
        msg = f"{manifest.package} can't be a manylinux wheel"
        because = f"its library needs {', '.join(foreign)}, which neither the toolkit has nor every distribution"
        raise NotManylinuxError(msg, because=because, help="link it statically, or make the wheel without --manylinux")
    if requires.glibc is None:
        msg = f"{manifest.package} can't be a manylinux wheel"
        raise NotManylinuxError(msg, because="its manifest doesn't say which glibc it needs", help="opkit build --force")
    glibc, glibcxx = numbers_of(requires.glibc), numbers_of(requires.glibcxx or "3.4")
    floors = [floor for floor, newest in _DISTRIBUTIONS if newest >= glibcxx]
    if not floors:
        msg = f"{manifest.package} can't be a manylinux wheel"
        because = f"its library needs GLIBCXX_{requires.glibcxx}, and no platform of manylinux has it"
        raise NotManylinuxError(msg, because=because, help="build on an older distribution, or link with -static-libstdc++")
    major, minor = max(glibc, floors[0])[:2]
    return f"manylinux_{major}_{minor}_{manifest.target.arch}"


def rewritten(name: str, content: bytes, *, version: Callable[[str], str] | None = None, platform: str | None = None) -> tuple[str, bytes]:
    """Name and content of the wheel with another version and platform; without either, as it is. All else, times too, stays."""
    distribution, before, *build, python, abi, tagged = name.removesuffix(".whl").split("-")
    after = before if version is None else version(before)
    platform = platform or tagged
    if (after, platform) == (before, tagged):
        return name, content
    metadata, target = f"{distribution}-{before}.dist-info/", io.BytesIO()
    moved = f"{distribution}-{after}.dist-info/"
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for info in source.infolist():
            data = source.read(info)
            path = info.filename.replace(metadata, moved, 1) if info.filename.startswith(metadata) else info.filename
            if path == f"{moved}METADATA":
                data = re.sub(rb"(?m)^Version: .*$", b"Version: " + after.encode(), data, count=1)
            elif path == f"{moved}WHEEL":
                data = re.sub(rb"(?m)^(Tag: [^-\n]+-[^-\n]+)-.*$", rb"\1-" + platform.encode(), data)
            elif path == f"{moved}RECORD":
                rows.writerow((path, "", ""))
                data = record.getvalue().encode()
            if path != f"{moved}RECORD":
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                rows.writerow((path, f"sha256={digest}", len(data)))
            entry = zipfile.ZipInfo(path, info.date_time)
            entry.compress_type, entry.external_attr = info.compress_type, info.external_attr
            wheel.writestr(entry, data)
    return "-".join([distribution, after, *build, python, abi, platform]) + ".whl", target.getvalue()


def wishes(manifest: Manifest, toolkit: Toolkit, environ: Mapping[str, str], settings: Settings) -> tuple[dict[str, str], dict[str, str]]:
    """The environment and the config settings with which a build frontend makes the wheel of what was built.

    Raises CompilerMissingError.
    """
    target = manifest.target
    environment = {**environ, HOME_VARIABLE: str(toolkit.home)}
    definitions = {**settings.definitions, "OPKIT_CXX11_ABI": str(manifest.built_against.abi)}
    if target.npu_arch is not None:
        definitions["OPKIT_NPU_ARCH"] = target.npu_arch
    if manifest.built_against.is_simulator:
        environment["OPKIT_ALLOW_SIMULATOR"] = "1"
    if target.arch != host_arch():
        environment["_PYTHON_HOST_PLATFORM"] = f"{target.os}-{target.arch}"
        if not environ.get("CMAKE_TOOLCHAIN_FILE"):
            compiler = find_cross_compiler(environ, target.arch).path
            definitions |= {**cross_definitions(target.arch), "CMAKE_CXX_COMPILER": str(compiler)}
    build_type = {} if settings.build_type is None else {"cmake.build-type": settings.build_type}
    return environment, build_type | {f"cmake.define.{name}": value for name, value in definitions.items()}


def _build(project: Project, wished: tuple[Mapping[str, str], Mapping[str, str]], folder: Path) -> None:
    environment, settings = wished
    argv = [sys.executable, "-c", f"import sys; sys.path[:] = filter(None, sys.path)\n{_HOOK}", str(folder), json.dumps(settings)]
    done = process.run(argv, cwd=project.root, env=environment, merge=True)
    if done.exit == _NO_BACKEND:
        msg = f"opkit package --format wheel doesn't know how to build {project.root}"
        help_text = f'build-backend = "{_BACKEND}", or make the wheel with: pip wheel .'
        raise UsageError(msg, because=done.stdout.strip(), help=help_text)
    if not done.ok:
        from opkit.build.diagnosis import diagnose

        log = project.build_dir / _LOG
        with guard_writing(log):
            make_folders(log.parent)
            write_whole(log, done.stdout.encode("utf-8", "surrogateescape"))
        raise diagnose(done.stdout, root=project.root, log=log, step="the build of the wheel")
    if not any(folder.glob("*.whl")):
        msg = "the build of the wheel left none"
        raise BuildError(msg, because=done.stdout.strip()[-400:])
