"""The steps of a build in their order, and what each is allowed to skip."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.build.cross import Cross
from opkit.build.driver import Driver
from opkit.build.fingerprint import (
    COMPILER,
    COMPILER_VERSION,
    DEFINITION,
    LAUNCHER,
    LAUNCHER_FAULT,
    LAUNCHER_FILE,
    NPU_ARCH,
    OPKIT,
    PROJECT_VERSION,
    child_environment,
    differences,
    files_read_by,
    fingerprint,
    opkit_stamp,
    toolchain_file,
)
from opkit.build.folder import TAG, claim, empty, is_leftover, is_ours, remove, require_owner
from opkit.build.generator import SCRIPT, Generator, find_generator, named_generator
from opkit.build.jobs import default_jobs
from opkit.build.lock import LOCK, locked
from opkit.build.project import require_plain_names
from opkit.build.rendering import VERSION_FILE, checked, rendered
from opkit.build.scratch import scratch_folder
from opkit.build.settings import BUILD_TYPES, Settings
from opkit.build.state import STATE, FolderState, Stat, TreeState, stat_of, stats_of
from opkit.build.tree import COMMANDS, LOG, Tree, is_link, link, program_name
from opkit.build.version import require_version
from opkit.console import console
from opkit.deliverable import MANIFEST, OppRoot
from opkit.errors import BuildError, LinkError, NoSpaceError, NotBuiltError, UsageError
from opkit.files import guard_writing
from opkit.layout import PREBUILD_PROGRAM
from opkit.process import Command
from opkit.toolkit import LAUNCHER_VARIABLE, NO_LAUNCHER, Launcher, Toolkit, find_cmake, find_launcher

if TYPE_CHECKING:
    from opkit.build.lock import BuildLock
    from opkit.build.project import Project
    from opkit.process import Finished
    from opkit.spec import Package, SpecWarning
    from opkit.toolkit import Compiler

__all__ = ["Built", "Question", "asked", "build", "clean", "find_built", "held"]

_STAGE = "opkit-stage"
_TOLD_REASONS = 8


class Built(NamedTuple):
    """What a build came to. `steps` are those that had something to do, out of rendered, configured, compiled, installed, and `reasons` say
    why, in sentences; `settings` are those that it was built with; `warnings` are the spec's, if it was loaded.
    """

    project: Project
    package: str
    opp_root: OppRoot
    program: Path
    steps: tuple[str, ...]
    seconds: float
    settings: Settings = Settings()
    reasons: tuple[str, ...] = ()
    warnings: tuple[SpecWarning, ...] = ()


def build(  # noqa: PLR0913 - each is one independent wish
    project: Project,
    toolkit: Toolkit,
    environ: Mapping[str, str],
    *,
    package: Package | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    is_forced: bool = False,
    is_explained: bool = False,
    jobs: int | None = None,
    wait: float = 60.0,
) -> Built:
    """Brings output/ up to date.

    With `package` the spec isn't loaded from ops.py, which needn't exist: a variant is built in a folder of its own. What `settings` leave
    open is what an earlier build was asked for; with `is_forced` that is forgotten. With `is_explained` each reason is printed.
    Raises SpecErrors, EditedFileError, BuildError, BusyError, UnwritableError, UsageError for an output folder that holds something else,
    or a MachineError for a tool that is missing.
    """
    with held(
        project,
        toolkit,
        environ,
        package=package,
        settings=settings,
        is_forced=is_forced,
        is_explained=is_explained,
        jobs=jobs,
        wait=wait,
    ) as built:
        return built


@contextmanager
def held(  # noqa: PLR0913 - as `build`
    project: Project,
    toolkit: Toolkit,
    environ: Mapping[str, str],
    *,
    package: Package | None = None,
    program: Path | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    is_forced: bool = False,
    is_explained: bool = False,
    jobs: int | None = None,
    wait: float = 60.0,
) -> Iterator[Built]:
    """As `build`, and keeps every other opkit out of the build folder until the end: a program of it runs meanwhile.

    With `program` none is built. It knows ops by their prototypes, so that of a package runs a variant whose kernels alone differ.
    """
    started = time.monotonic()
    require_plain_names(project)
    with locked(project, wait=wait) as lock:
        known = FolderState.read(project.build_dir)
        require_owner(project, known)
        folder = FolderState(output=known.output) if is_forced else known
        with _run(
            project,
            toolkit,
            environ,
            lock,
            folder=folder,
            asked=settings,
            has_program=program is None,
            is_forced=is_forced,
            is_explained=is_explained,
        ) as run:
            run.render(package)
            run.configure()
            try:
                run.compile(jobs, package)
            except (BuildError, NoSpaceError):
                if not run.gives_up_launcher():
                    raise
                run.compile(jobs, package)
            opp_root = run.install()
            run.sum_up()
        yield run.built(opp_root, time.monotonic() - started, program)


class Question(NamedTuple):
    """What is left to ask of a project in whose files opkit sees nothing to do: `command`, whose end tells `answer` the rest."""

    command: Command
    answer: Callable[[Finished], Built | None]


@contextmanager
def asked(
    project: Project, toolkit: Toolkit, environ: Mapping[str, str], *, settings: Settings, own: Mapping[str, Stat]
) -> Iterator[Question | None]:
    """What tells whether a build has nothing to do, without building: Ninja, which looks at as much for it as in a build.

    None if opkit sees itself that there is something to do, and where make builds, which can't be asked. The build folder is kept from
    others until the end. `own` is what `own_stats` gave, once for many projects. Raises BusyError for a folder that another opkit works
    in, and what a build of the project would raise.
    """
    started = time.monotonic()
    folder = FolderState.read(project.build_dir)
    require_owner(project, folder)
    if folder.rendered is None or folder.named != settings.over(folder.named):
        yield None
        return
    with (
        locked(project, wait=0) as lock,
        _run(project, toolkit, environ, lock, folder=folder, asked=settings) as run,
    ):
        argv = run.question(own)

        def answer(ended: Finished) -> Built | None:
            opp_root = run.current(ended)
            return None if opp_root is None else run.built(opp_root, time.monotonic() - started)

        yield None if argv is None else Question(Command(argv, project.build_dir, child_environment(environ)), answer)


@contextmanager
def _run(  # noqa: PLR0913 - what a build is made of
    project: Project,
    toolkit: Toolkit,
    environ: Mapping[str, str],
    lock: BuildLock,
    *,
    folder: FolderState,
    asked: Settings,
    has_program: bool = True,
    is_forced: bool = False,
    is_explained: bool = False,
) -> Iterator[_Run]:
    effective = asked.over(folder.named)
    if effective.abi is not None:
        toolkit = toolkit._replace(abi=effective.abi)
    tree = Tree.of(project, toolkit, effective.build_type or BUILD_TYPES[0])
    with closing(Driver(project, tree, environ, lock)) as driver:
        yield _Run(
            project,
            tree,
            environ,
            driver,
            toolkit=toolkit,
            folder=folder,
            state=TreeState() if is_forced else TreeState.read(tree.path),
            asked=asked,
            settings=effective,
            has_program=has_program,
            is_explained=is_explained,
        )


def find_built(project: Project) -> Built:
    """What the last build left, without building. Raises NotBuiltError."""
    opp_root = OppRoot.read(project.output)
    if opp_root is None:
        msg = f"{project.root} isn't built"
        build_it = f"opkit build {shlex.quote(str(project.root))}"
        raise NotBuiltError(msg, because=f"there is no deliverable in {project.output}", help=build_it)
    state = FolderState.read(project.build_dir)
    return Built(
        project=project,
        package=opp_root.manifest.package,
        opp_root=opp_root,
        program=_program(project, state.tree or "", opp_root),
        steps=(),
        seconds=0.0,
        settings=state.named,
    )


def clean(project: Project, *, wait: float = 60.0) -> list[Path]:
    """Removes what opkit made in the build folder, and its files in the output folder; gives what was removed.

    A tree that CMake made by hand beside opkit's stays; what went is told by its own name then. Raises UsageError for a build folder of
    someone else.
    """
    from opkit.build.publish import withdraw

    removed = []
    folder = project.build_dir
    if folder.is_dir():
        claim(project)
        gone = []
        with locked(project, wait=wait), guard_writing(folder):
            require_owner(project, FolderState.read(folder))
            for entry in sorted(folder.iterdir()):
                if entry.name == STATE or is_ours(entry) or is_link(entry) or is_leftover(entry):
                    remove(entry)
                    gone.append(entry)
            # The lock goes before the mark, so that an interrupted clean can be repeated.
            remove(folder / LOCK)
            remove(folder / TAG)
        with suppress(OSError):
            folder.rmdir()  # Someone who waited for the lock may already build again.
            gone = [folder]
        removed += gone
    if withdraw(project.output):
        removed.append(project.output)
    return removed


class _Configuration(NamedTuple):
    """What a tree is configured with; `npu_arch` is None if nothing is prebuilt, or for this machine's device."""

    compiler: Compiler
    cross: Cross
    launcher: Launcher | None
    npu_arch: str | None
    fingerprint: dict[str, str]


class _Run:
    """One build under its lock: the states it found, and each step that brings them further."""

    def __init__(  # noqa: PLR0913 - what a build is made of
        self,
        project: Project,
        tree: Tree,
        environ: Mapping[str, str],
        driver: Driver,
        *,
        toolkit: Toolkit,
        folder: FolderState,
        state: TreeState,
        asked: Settings,
        settings: Settings,
        has_program: bool,
        is_explained: bool,
    ) -> None:
        self._project = project
        self._tree = tree
        self._toolkit = toolkit
        self._environ = environ
        self._driver = driver
        self._folder = folder
        self._state = state
        self._asked = asked
        self._settings = settings
        self._has_program = has_program
        self._is_explained = is_explained
        self._in_use: _Configuration | None = None
        self.steps: list[str] = []
        self.reasons: list[str] = []
        self.warnings: tuple[SpecWarning, ...] = ()

    def render(self, package: Package | None) -> None:
        require_version(self._project)
        reasons = ["it wasn't rendered before"] if package is not None else self._reasons_to_render()
        if not reasons:
            return
        made = rendered(self._project, package)
        self._tell(f"{'rendered' if made.is_changed else 'the spec was read'} because {_joined(reasons)}")
        self.warnings = made.warnings
        if made.is_changed:
            self.steps.append("rendered")
        from opkit.build.publish import require_output

        require_output(self._project, made.rendered.package)
        self._keep_folder(self._folder._replace(rendered=made.rendered))

    def _reasons_to_render(self, own: Mapping[str, Stat] | None = None) -> list[str]:
        known = self._folder.rendered
        if known is None or not known.sources:
            return ["it wasn't rendered before"]
        now, reasons = checked(self._project, known, own)
        if not reasons and now != known:
            # Only times: the files needn't be read again at the next build.
            self._keep_folder(self._folder._replace(rendered=now))
        return reasons

    def configure(self) -> None:
        named = named_generator(self._environ)
        wanted = self._wanted()
        if self._asked.definitions:
            self._require_one_abi()  # Before they are remembered.
        self._remember()
        self._set_launcher(wanted)
        reasons = self._reasons_to_configure(wanted.fingerprint, named)
        if reasons:
            self._configure(wanted, reasons)

    def _require_one_abi(self) -> None:
        from opkit.build.linked import require_one_abi

        require_one_abi(
            self._toolkit, self._environ, self._settings.definitions, kept=self._settings.definitions.keys() - self._asked.definitions
        )

    def gives_up_launcher(self) -> bool:
        """Whether nothing compiles because of the launcher; the tree is configured without it then."""
        wanted = self._in_use
        if wanted is None or wanted.launcher is None or not self._is_faulty(wanted.launcher, wanted.compiler):
            return False
        fault = {LAUNCHER_FAULT: NO_LAUNCHER, LAUNCHER_FILE: wanted.launcher.stamp}
        without = wanted._replace(launcher=None, fingerprint={**wanted.fingerprint, **fault})
        self._set_launcher(without)
        self._configure(without, [f"{wanted.launcher.shown} doesn't work any more"])
        return True

    def _wanted(self) -> _Configuration:
        """What the tree is to be configured with."""
        npu_arch = self._arch_of_prebuilt()
        cross = Cross.of(
            self._toolkit.arch,
            self._environ,
            has_toolchain_file=toolchain_file(self._project, self._environ) is not None,
            runs_program=self._is_prebuilding,
        )
        compiler = cross.find_compiler(self._environ)
        wanted = fingerprint(
            self._project,
            self._tree,
            self._environ,
            toolkit=self._toolkit,
            compiler=compiler,
            settings=self._settings,
            npu_arch=npu_arch,
            has_program=self._has_program,
        )
        wanted |= cross.fingerprint()
        wanted[OPKIT] = self._opkit_version()
        if self._version:
            wanted[PROJECT_VERSION] = self._version
        wanted[COMPILER_VERSION] = self._version_of(compiler, wanted)
        launcher, about_launcher = self._launcher(compiler)
        return _Configuration(compiler=compiler, cross=cross, launcher=launcher, npu_arch=npu_arch, fingerprint=wanted | about_launcher)

    def _launcher(self, compiler: Compiler) -> tuple[Launcher | None, dict[str, str]]:
        """The launcher to use, and what the tree is to know of it. One is tried once, and again if it failed and is another file."""
        launcher = find_launcher(self._environ, compiler, self._settings.launcher)
        if launcher is None:
            return None, {}
        sound = {LAUNCHER: launcher.shown}
        faulty = {**sound, LAUNCHER_FAULT: NO_LAUNCHER, LAUNCHER_FILE: launcher.stamp}
        known = {name: value for name, value in self._state.fingerprint.items() if name in faulty}
        is_faulty = known == faulty or (known != sound and self._is_faulty(launcher, compiler))
        return (None, faulty) if is_faulty else (launcher, sound)

    def _is_faulty(self, launcher: Launcher, compiler: Compiler) -> bool:
        """Tries it, and says once what is wrong."""
        with scratch_folder(self._project) as folder:
            fault = launcher.fault(compiler, folder, child_environment(self._environ))
        if fault is not None:
            console.warn(
                f"{launcher.shown} ({launcher.reason}) doesn't work, so nothing is compiled through it: {fault}",
                help="opkit build --launcher none, or mend it and: opkit build --force",
                is_once=True,  # `opkit test` builds twice
            )
        return fault is not None

    def _set_launcher(self, wanted: _Configuration) -> None:
        self._in_use = wanted
        launcher = wanted.launcher
        self._driver.set_launcher({} if launcher is None else launcher.environment(self._project.root, self._environ))

    def _configure(self, wanted: _Configuration, reasons: list[str]) -> None:
        project, tree, state = self._project, self._tree, self._state
        # In place, an own file or definition of the project costs no more than what depends on it.
        is_in_place = self._is_own(wanted.fingerprint)
        again = "configured" if not state.fingerprint else "reconfigured" if is_in_place else "reconfigured from scratch"
        self._tell(f"{again} because {_joined(reasons)}")
        from opkit.build.publish import probe

        self._toolkit.require_current()
        self._require_one_abi()
        cmake, generator = find_cmake(self._environ).path, find_generator(self._environ)
        probe(project.output)
        tree.make()
        self._keep(TreeState())
        if not is_in_place:
            with guard_writing(tree.path):
                empty(tree.path, keep=(LOG, STATE))
        console.step("Configuring", project.shown(tree.path))
        self._driver.configure(cmake, generator, self._definitions(wanted, generator))
        self.steps.append("configured")
        self._keep(
            TreeState(
                fingerprint=wanted.fingerprint,
                cmake=str(cmake),
                cmake_stat=stat_of(cmake),
                generator=generator.name,
                program=str(generator.program),
                configured=self._files_of_cmake(generator),
                opkit=opkit_stamp(),
            )
        )

    def _files_of_cmake(self, generator: Generator) -> dict[str, Stat]:
        """Those of the tree, and if a toolchain file is in use what it includes: by the names of their paths."""
        path = self._tree.path
        outside = (
            [] if toolchain_file(self._project, self._environ) is None else files_read_by(path, generator.dependencies(path), self._project)
        )
        return stats_of(path, [*generator.files(path), *outside])

    def _arch_of_prebuilt(self) -> str | None:
        """Raises UsageError for an architecture that would be named in vain."""
        if self._is_prebuilding:
            return self._settings.npu_arch
        if self._asked.npu_arch is not None:
            msg = f"--npu-arch {self._asked.npu_arch} says nothing here"
            because = 'no op of the package has compile="prebuilt": its kernels are compiled for the device that a graph is for'
            raise UsageError(msg, because=because)
        return None

    @property
    def _is_prebuilding(self) -> bool:
        known = self._folder.rendered
        return known is not None and PREBUILD_PROGRAM in known.generated

    def _remember(self) -> None:
        earlier = self._settings.beyond(self._asked)
        if earlier:
            console.say(f"building with {' '.join(earlier)}, as an earlier build was asked to; --force forgets it")
        if self._folder.named != self._settings:
            self._keep_folder(self._folder._replace(named=self._settings))

    @property
    def _version(self) -> str:
        """The file that the version of the package is in, by its content."""
        known = self._folder.rendered
        file = None if known is None else known.watched.get(VERSION_FILE)
        return "" if file is None else file.sha

    def _opkit_version(self) -> str:
        """opkit's own, which ends up in the manifest: asked for only if it may have been upgraded, since that costs 28 ms."""
        stamp, known = opkit_stamp(), self._state.fingerprint.get(OPKIT)
        if known is not None and stamp == self._state.opkit:
            return known
        from opkit import __version__

        if known == __version__:
            self._keep(self._state._replace(opkit=stamp))
        return __version__

    def _version_of(self, compiler: Compiler, wanted: Mapping[str, str]) -> str:
        known = self._state.fingerprint
        is_known = COMPILER_VERSION in known and all(known.get(name) == wanted[name] for name in COMPILER)
        return known[COMPILER_VERSION] if is_known else compiler.version()

    def _reasons_to_configure(self, wanted: Mapping[str, str], named: str | None) -> list[str]:
        state, tree = self._state, self._tree
        if not state.fingerprint:
            is_new = not (tree.path / "CMakeCache.txt").exists()
            return [f"{tree.key} is new" if is_new else f"what the last build of {tree.key} was configured with isn't known"]
        reasons = differences(state.fingerprint, wanted)
        changed = [name for name, stat in state.configured.items() if stat != stat_of(tree.path / name)]
        if changed:
            reasons.append(f"{changed[0]} {'changed' if changed[0].startswith('/') else 'was changed from outside'}")
        if state.cmake is None or state.cmake_stat is None or stat_of(state.cmake) != state.cmake_stat:
            reasons.append(f"{state.cmake} isn't the CMake that it was")
        if named is not None and named != state.generator:
            reasons.append(f"generator {state.generator} -> {named}")
        elif state.generator is None or state.program is None or stat_of(state.program) is None:
            reasons.append(f"{state.program} isn't where it was")
        return reasons

    def _is_own(self, wanted: Mapping[str, str]) -> bool:
        """Whether nothing changed but what the project itself reads: the architecture of prebuilt kernels, versions, own definitions."""
        before = self._state.fingerprint
        changed = [name for name in {**before, **wanted} if before.get(name) != wanted.get(name)]
        of_project = [name for name in changed if name in (NPU_ARCH, OPKIT, PROJECT_VERSION) or name.startswith(DEFINITION)]
        of_cmake = [name for name in of_project if name.startswith(f"{DEFINITION}CMAKE_")]
        return bool(before) and bool(changed) and changed == of_project and not of_cmake and self._reasons_to_configure(before, None) == []

    def _definitions(self, wanted: _Configuration, generator: Generator) -> dict[str, str | Path | int]:
        toolchain = toolchain_file(self._project, self._environ)
        return {
            **self._settings.definitions,
            **wanted.cross.definitions(),
            "CMAKE_BUILD_TYPE": self._settings.build_type or BUILD_TYPES[0],
            "CMAKE_MAKE_PROGRAM": generator.program,
            "CMAKE_INSTALL_PREFIX": self._project.output,
            "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
            "ASCEND_HOME_PATH": self._toolkit.home,
            "OPKIT_CXX11_ABI": self._toolkit.abi,
            "OPKIT_VERSION": wanted.fingerprint[OPKIT],
            **({} if self._has_program else {"OPKIT_SESSION_RUN": "OFF"}),
            **({} if wanted.npu_arch is None else {"OPKIT_NPU_ARCH": wanted.npu_arch}),
            **({} if wanted.launcher is None else {LAUNCHER_VARIABLE: ";".join(wanted.launcher.command)}),
            **({} if toolchain is None else {"CMAKE_TOOLCHAIN_FILE": toolchain}),
            **({} if wanted.compiler.is_named or toolchain is not None else {"CMAKE_CXX_COMPILER": wanted.compiler.path}),
        }

    def compile(self, jobs: int | None, package: Package | None) -> None:
        def load() -> Package:
            from opkit.spec import load_package

            return load_package(self._project.ops_py) if package is None else package

        tree, generator = self._tree, self._generator
        self._link_commands()
        before = generator.work(tree.path)
        is_new = before is None or before == (0, 0)
        try:
            told = self._driver.compile(generator, jobs or default_jobs(), load, is_explained=self._is_explained)
        except LinkError as fault:
            from opkit.build.linked import in_terms_of_abi

            raise in_terms_of_abi(fault, self._toolkit) from fault
        except BuildError:
            kept = self._state.fingerprint.get(NPU_ARCH)
            if kept is not None and self._asked.npu_arch is None:
                console.warn(f"kernels are prebuilt for {kept}, which an earlier `opkit build --npu-arch` named; another can be named so")
            raise
        finally:
            # Ninja runs CMake again when CMakeLists.txt changed; that is no change from outside.
            configured = stats_of(tree.path, self._state.configured)
            if configured != self._state.configured:
                self._keep(self._state._replace(configured=self._files_of_cmake(generator)))
        if generator.work(tree.path) != before:
            self.steps.append("compiled")
            told = ["the tree was configured"] if is_new else told or [f"{generator.tool} found work"]
            self._tell(f"compiled because {_joined(told)}")
        self._link_program()

    def _link_commands(self) -> None:
        link(self._tree, COMMANDS)

    def _link_program(self) -> None:
        if self._has_program and self._folder.rendered is not None:
            link(self._tree, program_name(self._folder.rendered.package))

    def question(self, own: Mapping[str, Stat]) -> list[str | Path] | None:
        """What to ask Ninja with, if nothing else has anything to do."""
        if not self._state.fingerprint or self._reasons_to_render(own):
            return None
        if self._reasons_to_configure(self._wanted().fingerprint, named_generator(self._environ)):
            return None
        return self._generator.question(self._tree.path)

    def current(self, ended: Finished) -> OppRoot | None:
        """The deliverable, if Ninja has nothing to do either, and nothing is to be installed."""
        tree, generator = self._tree, self._generator
        if not ended.ok or not generator.is_idle(ended.stdout) or self._reasons_to_install(generator.work(tree.path)):
            return None
        opp_root = OppRoot.read(self._project.output)
        if opp_root is not None:
            self._link_commands()
            self._link_program()
            self.sum_up()
        return opp_root

    def built(self, opp_root: OppRoot, seconds: float, program: Path | None = None) -> Built:
        return Built(
            project=self._project,
            package=opp_root.manifest.package,
            opp_root=opp_root,
            program=program or _program(self._project, self._tree.key, opp_root),
            steps=tuple(self.steps),
            seconds=seconds,
            settings=self._settings,
            reasons=tuple(self.reasons),
            warnings=self.warnings,
        )

    @property
    def _generator(self) -> Generator:
        state = self._state
        assert state.generator is not None, "configure() came first"  # noqa: S101 - tells the type checker
        return Generator(state.generator, Path(state.program or ""))

    def install(self) -> OppRoot:
        project, tree, folder = self._project, self._tree, self._folder
        work = self._generator.work(tree.path)
        reasons = self._reasons_to_install(work)
        if not reasons:
            known = OppRoot.read(project.output)
            if known is not None:
                return known
        from opkit.build.publish import publish, require_output, require_unclaimed

        self._tell(f"installed because {_joined(reasons)}")
        assert folder.rendered is not None, "render() came first"  # noqa: S101 - tells the type checker
        assert self._state.cmake is not None, "configure() came first"  # noqa: S101
        stage = tree.path / _STAGE
        with guard_writing(stage):
            remove(stage)
        self._driver.install(Path(self._state.cmake), stage)
        require_output(project, folder.rendered.package)
        require_unclaimed(project, stage, is_known=folder.output == str(project.output))
        # Noted first: what an interrupted build leaves there is still this project's.
        self._keep_folder(folder._replace(output=str(project.output), installed={}))
        opp_root = publish(stage, project, folder.rendered, self._toolkit, log=tree.log)
        with guard_writing(stage):
            remove(stage)
        self.steps.append("installed")
        console.step("Installed", project.shown(project.output))
        names = [MANIFEST, *(str(file.path) for file in opp_root.manifest.files)]
        self._keep_folder(
            self._folder._replace(
                tree=tree.key,
                work=work,
                installed=stats_of(project.output, names),
                script=stat_of(tree.path / SCRIPT),
                version=self._version,
            )
        )
        return opp_root

    def _reasons_to_install(self, work: object) -> list[str]:
        project, folder = self._project, self._folder
        shown = project.shown(project.output)
        if not folder.installed or folder.output != str(project.output):
            return [f"nothing is known of {shown}"]
        if folder.tree != self._tree.key:
            return [f"{shown} held what {folder.tree} gave"]
        reasons = []
        # A header of the deliverable may be nobody's dependency, so that rendering it leaves Ninja without work.
        if "rendered" in self.steps:
            reasons.append("files were rendered")
        if folder.version != self._version:
            reasons.append(f"{VERSION_FILE} changed")
        if folder.work != work:
            is_of_cmake = "configured" in self.steps and "compiled" not in self.steps
            reasons.append("the tree was configured" if is_of_cmake else "files were compiled")
        elif folder.script != stat_of(self._tree.path / SCRIPT):
            reasons.append("the tree was configured")
        reasons += [
            f"{shown}/{name} was changed from outside" for name, stat in folder.installed.items() if stat != stat_of(project.output / name)
        ]
        return reasons

    def sum_up(self) -> None:
        if not self.steps:
            known = self._folder.rendered
            files = 0 if known is None else len(known.generated)
            self._tell(
                f"nothing to do: the spec and its {files} generated files, the configuration {self._tree.key}, what {self._generator.tool} "
                f"looks after and {self._project.shown(self._project.output)} are as the last build left them"
            )

    def _tell(self, reason: str) -> None:
        self.reasons.append(reason)
        (console.say if self._is_explained else console.detail)(reason)

    def _keep_folder(self, state: FolderState) -> None:
        self._folder = state._replace(root=str(self._project.root), place=str(self._project.build_dir))
        with guard_writing(self._project.build_dir):
            self._folder.write(self._project.build_dir)

    def _keep(self, state: TreeState) -> None:
        self._state = state
        with guard_writing(self._tree.path):
            state.write(self._tree.path)


def _joined(reasons: list[str]) -> str:
    more = len(reasons) - _TOLD_REASONS
    return "; ".join(reasons[:_TOLD_REASONS]) + (f"; and {more} more" if more > 0 else "")


def _program(project: Project, key: str, opp_root: OppRoot) -> Path:
    """The program by its name that stays, if that leads to the tree."""
    name = program_name(opp_root.manifest.package)
    tree = Tree(project.build_dir / key)
    path = project.build_dir / name
    return path if not key or (is_link(path) and path.readlink().parts[0] == key) else tree.path / name
