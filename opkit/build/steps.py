"""The steps of a build in their order, and what each is allowed to skip."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit import resources
from opkit.build.driver import Driver
from opkit.build.fingerprint import NPU_ARCH, differences, fingerprint
from opkit.build.folder import claim, empty
from opkit.build.lock import LOCK, locked
from opkit.build.project import LOG, Project
from opkit.build.publish import probe, publish, require_output, require_unclaimed, withdraw
from opkit.build.state import STATE, Rendered, State, digest, stat_of, stats_of
from opkit.console import console
from opkit.deliverable import MANIFEST, OppRoot
from opkit.errors import BuildError, NotBuiltError, ToolkitError, UsageError
from opkit.files import digest_of, guard_writing
from opkit.layout import PREBUILD_PROGRAM
from opkit.toolkit import Toolkit, find_cmake, find_compiler, find_ninja

if TYPE_CHECKING:
    from opkit.spec import Package, SpecWarning

__all__ = ["Built", "build", "clean", "find_built", "held"]

_CMAKE_FILES = ("CMakeCache.txt", "build.ninja", "cmake_install.cmake")
_STAGE = "opkit-stage"
_NAMED_FILES = 4


class Built(NamedTuple):
    """What a build came to. `steps` are those that had something to do, out of rendered, configured, compiled, installed; `warnings` are
    the spec's, if it was loaded.
    """

    project: Project
    package: str
    opp_root: OppRoot
    program: Path
    steps: tuple[str, ...]
    seconds: float
    warnings: tuple[SpecWarning, ...] = ()


def build(  # noqa: PLR0913 - each is one independent wish
    project: Project,
    toolkit: Toolkit,
    environ: Mapping[str, str],
    *,
    package: Package | None = None,
    is_forced: bool = False,
    npu_arch: str | None = None,
    jobs: int | None = None,
    wait: float = 60.0,
) -> Built:
    """Brings output/ up to date.

    With `package` the spec isn't loaded from ops.py, which needn't exist: a variant is built in a folder of its own. `npu_arch` is what
    prebuilt kernels are compiled for; without it, what an earlier build was told, or this machine's device.
    Raises SpecErrors, EditedFileError, BuildError, BusyError, UnwritableError, UsageError for an output folder that holds something else,
    or a MachineError for a tool that is missing.
    """
    with held(project, toolkit, environ, package=package, is_forced=is_forced, npu_arch=npu_arch, jobs=jobs, wait=wait) as built:
        return built


@contextmanager
def held(  # noqa: PLR0913 - as `build`
    project: Project,
    toolkit: Toolkit,
    environ: Mapping[str, str],
    *,
    package: Package | None = None,
    program: Path | None = None,
    is_forced: bool = False,
    npu_arch: str | None = None,
    jobs: int | None = None,
    wait: float = 60.0,
) -> Iterator[Built]:
    """As `build`, and keeps every other opkit out of the build folder until the end: a program of it runs meanwhile.

    With `program` none is built. It knows ops by their prototypes, so that of a package runs a variant whose kernels alone differ.
    """
    started = time.monotonic()
    with locked(project, wait=wait) as lock:
        with closing(Driver(project, environ, lock)) as driver:
            known = State.read(project.build_dir)
            state = State(output=known.output) if is_forced else known
            run = _Run(project, toolkit, environ, driver, state, npu_arch=npu_arch, has_program=program is None)
            run.render(package)
            run.configure()
            run.compile(jobs, package)
            opp_root = run.install()
        yield Built(
            project=project,
            package=opp_root.manifest.package,
            opp_root=opp_root,
            program=program or _program(project, opp_root),
            steps=tuple(run.steps),
            seconds=time.monotonic() - started,
            warnings=run.warnings,
        )


def find_built(project: Project) -> Built:
    """What the last build left, without building. Raises NotBuiltError."""
    opp_root = OppRoot.read(project.output)
    if opp_root is None:
        msg = f"{project.root} isn't built"
        build_it = f"opkit build {shlex.quote(str(project.root))}"
        raise NotBuiltError(msg, because=f"there is no deliverable in {project.output}", help=build_it)
    return Built(
        project=project,
        package=opp_root.manifest.package,
        opp_root=opp_root,
        program=_program(project, opp_root),
        steps=(),
        seconds=0.0,
    )


def clean(project: Project, *, wait: float = 60.0) -> list[Path]:
    """Removes the build folder and opkit's files in the output folder; gives what was removed.

    Raises UsageError for a build folder of someone else.
    """
    removed = []
    folder = project.build_dir
    if folder.is_dir():
        claim(project)
        with locked(project, wait=wait), guard_writing(folder):
            empty(folder)
        with suppress(OSError):
            folder.rmdir()  # Someone who waited for the lock may already build again.
        removed.append(folder)
    if withdraw(project.output):
        removed.append(project.output)
    return removed


class _Run:
    """One build under its lock: the state it found, and each step that brings the state further."""

    def __init__(  # noqa: PLR0913 - what a build is made of
        self,
        project: Project,
        toolkit: Toolkit,
        environ: Mapping[str, str],
        driver: Driver,
        state: State,
        *,
        npu_arch: str | None,
        has_program: bool,
    ) -> None:
        self._project = project
        self._toolkit = toolkit
        self._environ = environ
        self._driver = driver
        self._state = state
        self._has_program = has_program
        # As with a variable of CMake's: what was named before counts until something else is.
        self._named_arch, self._npu_arch = npu_arch, npu_arch or state.fingerprint.get(NPU_ARCH)
        self.steps: list[str] = []
        self.warnings: tuple[SpecWarning, ...] = ()

    def render(self, package: Package | None) -> None:
        known = self._state.rendered
        if package is None and known is not None and _is_current(self._project, known):
            return
        rendered, is_changed, self.warnings = _rendered(self._project, package)
        if is_changed:
            self.steps.append("rendered")
        require_output(self._project, rendered.package)
        self._keep(self._state._replace(rendered=rendered))

    def configure(self) -> None:
        project, state = self._project, self._state
        compiler = find_compiler(self._environ)
        npu_arch = self._arch_of_prebuilt()
        wanted = fingerprint(project, self._toolkit, compiler, self._environ, npu_arch=npu_arch, has_program=self._has_program)
        reasons = differences(state.fingerprint, wanted) if state.fingerprint else ["first build"]
        if not reasons and stats_of(project.build_dir, _CMAKE_FILES) != state.configured:
            reasons = ["the files of CMake were changed from outside"]
        if not reasons and not all(tool is not None and Path(tool).is_file() for tool in (state.cmake, state.ninja)):
            reasons = ["cmake or ninja isn't where it was"]
        if not reasons:
            return
        # What is built for another architecture is a file of its own: nothing else has to be built again.
        is_retargeted = npu_arch is not None and reasons == differences(state.fingerprint, {**state.fingerprint, NPU_ARCH: npu_arch})
        console.detail(f"configuring {'again' if is_retargeted else 'from scratch'}: " + "; ".join(reasons))
        _require_headers(self._toolkit)
        cmake, ninja = find_cmake(self._environ).path, find_ninja(self._environ).path
        probe(project.output)
        self._keep(State(rendered=state.rendered, output=state.output))
        if not is_retargeted:
            with guard_writing(project.build_dir):
                empty(project.build_dir, keep=(LOCK, LOG, STATE))
        console.step("Configuring", project.shown(project.build_dir))
        self._driver.configure(cmake, ninja, compiler, self._toolkit, npu_arch=npu_arch, has_program=self._has_program)
        self.steps.append("configured")
        configured = stats_of(project.build_dir, _CMAKE_FILES)
        self._keep(self._state._replace(fingerprint=wanted, cmake=str(cmake), ninja=str(ninja), configured=configured))

    def _arch_of_prebuilt(self) -> str | None:
        """Raises UsageError for an architecture that would be named in vain."""
        rendered = self._state.rendered
        if rendered is not None and PREBUILD_PROGRAM in rendered.generated:
            return self._npu_arch
        if self._named_arch is not None:
            msg = f"--npu-arch {self._named_arch} says nothing here"
            because = 'no op of the package has compile="prebuilt": its kernels are compiled for the device that a graph is for'
            raise UsageError(msg, because=because)
        return None

    def compile(self, jobs: int | None, package: Package | None) -> None:
        def load() -> Package:
            from opkit.spec import load_package

            return load_package(self._project.ops_py) if package is None else package

        folder = self._project.build_dir
        before = stat_of(folder / ".ninja_log")
        try:
            self._driver.compile(Path(self._state.ninja or "ninja"), jobs, load)
        except BuildError:
            kept = self._state.fingerprint.get(NPU_ARCH)
            if kept is not None and self._named_arch is None:
                console.warn(f"kernels are prebuilt for {kept}, which an earlier `opkit build --npu-arch` named; another can be named so")
            raise
        finally:
            # Ninja runs CMake again when CMakeLists.txt changed; that is no change from outside.
            configured = stats_of(folder, _CMAKE_FILES)
            if configured != self._state.configured:
                self._keep(self._state._replace(configured=configured))
        if stat_of(folder / ".ninja_log") != before:
            self.steps.append("compiled")

    def install(self) -> OppRoot:
        project, state = self._project, self._state
        ninja_log = stat_of(project.build_dir / ".ninja_log")
        # A header of the deliverable may be nobody's dependency, so that rendering it leaves Ninja without work.
        is_same = "rendered" not in self.steps and state.ninja_log == ninja_log and state.output == str(project.output)
        if is_same and state.installed and stats_of(project.output, state.installed) == state.installed:
            known = OppRoot.read(project.output)
            if known is not None:
                return known
        assert state.rendered is not None, "render() came first"  # noqa: S101 - tells the type checker
        assert state.cmake is not None, "configure() came first"  # noqa: S101
        import shutil

        stage = project.build_dir / _STAGE
        with guard_writing(stage):
            if stage.exists():
                shutil.rmtree(stage)
        self._driver.install(Path(state.cmake), stage)
        require_output(project, state.rendered.package)
        require_unclaimed(project, stage, is_known=state.output == str(project.output))
        # Noted first: what an interrupted build leaves there is still this project's.
        self._keep(state._replace(output=str(project.output), installed={}))
        opp_root = publish(stage, project, state.rendered, self._toolkit)
        with guard_writing(stage):
            shutil.rmtree(stage)
        self.steps.append("installed")
        console.step("Installed", project.shown(project.output))
        names = [MANIFEST, *(str(file.path) for file in opp_root.manifest.files)]
        self._keep(self._state._replace(ninja_log=ninja_log, installed=stats_of(project.output, names)))
        return opp_root

    def _keep(self, state: State) -> None:
        self._state = state
        with guard_writing(self._project.build_dir):
            state.write(self._project.build_dir)


def _rendered(project: Project, package: Package | None) -> tuple[Rendered, bool, tuple[SpecWarning, ...]]:
    from opkit.codegen import render
    from opkit.spec import load_package

    loaded = load_package(project.ops_py) if package is None else package
    console.warnings(loaded.warnings)
    sources = tuple(
        dict.fromkeys(_name(project, path) for path in (project.ops_py, *loaded.sources, *loaded.kernel_files, *loaded.user_headers))
    )
    # Before rendering: a file that is saved meanwhile must count as changed at the next build.
    before = _spec_digest(project, sources)
    files = render(loaded)
    changes = files.write(project.root)
    for path in changes.kept:
        console.warn(f"{path} is no longer needed, but was edited; it stays")
    if changes:
        names = [*changes.written, *(f"{path} (removed)" for path in changes.removed)]
        console.step("Rendered", ", ".join(names) if len(names) <= _NAMED_FILES else f"{len(names)} files")
    generated = {file.path: digest_of(project.root / file.path) for file in files}
    # A variant has no ops.py whose digest could say that it is current.
    spec = "" if package is not None else before
    ops = tuple(op.type for op in loaded.ops)
    return Rendered(package=loaded.name, ops=ops, digest=spec, sources=sources, generated=generated), bool(changes), loaded.warnings


def _is_current(project: Project, known: Rendered) -> bool:
    return known.digest == _spec_digest(project, known.sources) and all(
        (project.root / path).is_file() and digest_of(project.root / path) == sha for path, sha in known.generated.items()
    )


def _spec_digest(project: Project, sources: tuple[str, ...]) -> str:
    """Covers the spec, its modules, its kernels, and opkit's own text: a checkout changes without its version."""
    package, templates = Path(__file__).resolve().parent.parent, resources.templates()
    own = [*package.glob("spec/*.py"), *package.glob("codegen/*.py"), package / "layout.py"]
    files = {name: project.root / name for name in sources}
    files |= {f"opkit/{path.relative_to(package)}": path for path in sorted(own)}
    files |= {f"templates/{path.relative_to(templates)}": path for path in sorted(templates.rglob("*")) if path.is_file()}
    return digest(files)


def _name(project: Project, path: Path) -> str:
    return str(path.relative_to(project.root)) if path.is_relative_to(project.root) else str(path)


def _require_headers(toolkit: Toolkit) -> None:
    missing = toolkit.missing_headers()
    if missing:
        msg = f"the toolkit {toolkit.home} can't build custom ops"
        because = f"version {toolkit.version} has no {', '.join(missing)}"
        raise ToolkitError(msg, because=because, help="use CANN 9.2 or newer, or unset ASCEND_HOME_PATH for the bundled simulator")


def _program(project: Project, opp_root: OppRoot) -> Path:
    return project.build_dir / f"{opp_root.manifest.package}_session_run"
