"""The steps of a build in their order, and what each is allowed to skip."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.build.built import Built, program_of
from opkit.build.configuration import files_of_cmake, is_in_place, reasons_to_configure, require_abi_of_flags, version_of, wanted
from opkit.build.fingerprint import LAUNCHER, LAUNCHER_FAULT, NPU_ARCH
from opkit.build.folder import empty, remove
from opkit.build.generator import SCRIPT, Generator, find_generator, named_generator
from opkit.build.jobs import default_jobs
from opkit.build.rendering import VERSION_FILE, checked, rendered
from opkit.build.state import STATE, FolderState, Stat, TreeState, stat_of, stats_of
from opkit.build.tree import COMMANDS, LOG, link, program_name
from opkit.console import console
from opkit.errors import BuildError, LinkError, UnwritableError
from opkit.files import guard_writing
from opkit.layout import MANIFEST
from opkit.toolkit import find_cmake

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from opkit.build.configuration import Configuration
    from opkit.build.driver import Driver
    from opkit.build.request import Request
    from opkit.process import Finished
    from opkit.spec import Package, SpecWarning

__all__ = ["Steps"]

_STAGE = "opkit-stage"
_TOLD_REASONS = 8


class Steps:
    """Those of one build under its lock: the states that it found, and each step that brings them further."""

    def __init__(self, request: Request, driver: Driver, *, folder: FolderState, state: TreeState, is_explained: bool) -> None:
        self._request = request
        self._driver = driver
        self._folder = folder
        self._state = state
        self._is_explained = is_explained
        self._in_use: Configuration | None = None
        self._taken: list[str] = []
        self._reasons: list[str] = []
        self._warnings: tuple[SpecWarning, ...] = ()

    def render(self, package: Package | None) -> None:
        project = self._request.project
        reasons = self._reasons_to_render() if package is None else self._reasons_to_render_first()
        if not reasons:
            return
        made = rendered(project, package)
        self._tell(f"{'rendered' if made.is_changed else 'the spec was read'} because {_joined(reasons)}")
        self._warnings = made.warnings
        if made.is_changed:
            self._taken.append("rendered")
        from opkit.build.publish import require_output

        require_output(project, made.rendered.package)
        self._keep_folder(self._folder._replace(rendered=made.rendered))

    def _reasons_to_render(self, own: Mapping[str, Stat] | None = None) -> list[str]:
        known = self._folder.rendered
        if known is None or not known.sources:
            return self._reasons_to_render_first()
        now, reasons = checked(self._request.project, known, own)
        if reasons or now.watched.get(VERSION_FILE) != known.watched.get(VERSION_FILE):
            self._require_version()
        if not reasons and now != known:
            # Only times: the files needn't be read again at the next build, and may be if this can't be noted.
            with suppress(UnwritableError):
                self._keep_folder(self._folder._replace(rendered=now))
        return reasons

    def _reasons_to_render_first(self) -> list[str]:
        self._require_version()
        return ["it wasn't rendered before"]

    def _require_version(self) -> None:
        from opkit.build.version import require_version

        require_version(self._request.project)

    def configure(self) -> None:
        request = self._request
        generator = named_generator(request.environ)
        configuration = wanted(request, self._folder, self._state)
        if request.asked.definitions:
            require_abi_of_flags(request)  # Before they are remembered.
        self._tell_of_earlier(configuration)
        self._set_launcher(configuration)
        reasons = reasons_to_configure(request, self._state, configuration.fingerprint, generator)
        unused = self._configure(configuration, reasons) if reasons else []
        # Only now: what CMake stops at, or doesn't read, is no wish to keep.
        self._remember(unused)

    def gives_up_launcher(self) -> bool:
        """Whether nothing compiles because of the launcher; the tree is configured without it then."""
        assert self._in_use is not None, "configure() came first"  # noqa: S101 - tells the type checker
        without = self._in_use.without_launcher(self._request)
        if without is None:
            return False
        self._set_launcher(without)
        self._configure(without, [f"{without.fingerprint[LAUNCHER]} doesn't work any more"])
        return True

    def _set_launcher(self, configuration: Configuration) -> None:
        self._in_use = configuration
        launcher, request = configuration.launcher, self._request
        self._driver.set_launcher({} if launcher is None else launcher.environment(request.project.root, request.environ))

    def _tell_of_earlier(self, configuration: Configuration) -> None:
        earlier = self._request.settings.beyond(self._request.asked)
        if LAUNCHER_FAULT in configuration.fingerprint:
            earlier = [
                f"{option}, which didn't work when it was tried" if option.startswith("--launcher") else option for option in earlier
            ]
        if earlier:
            console.say(f"building with {' '.join(earlier)}, as an earlier build was asked to; --force forgets it")

    def _remember(self, unused: Collection[str]) -> None:
        asked = self._request.settings
        named = asked._replace(definitions={name: value for name, value in asked.definitions.items() if name not in unused})
        if self._folder.named != named:
            self._keep_folder(self._folder._replace(named=named))

    def _configure(self, configuration: Configuration, reasons: list[str]) -> list[str]:
        """Gives the names of the user's definitions that nothing reads."""
        request = self._request
        project, tree = request.project, request.tree
        goes_on = is_in_place(request, self._state, configuration.fingerprint)
        again = "configured" if not self._state.fingerprint else "reconfigured" if goes_on else "reconfigured from scratch"
        self._tell(f"{again} because {_joined(reasons)}")
        from opkit.build.publish import probe

        request.toolkit.require_current()
        require_abi_of_flags(request)
        cmake, generator = find_cmake(request.environ).path, find_generator(request.environ)
        probe(project.output)
        tree.make()
        self._keep(TreeState())
        if not goes_on:
            with guard_writing(tree.path):
                empty(tree.path, keep=(LOG, STATE))
        console.step("Configuring", project.shown(tree.path))
        unread = self._driver.configure(cmake, generator, configuration.definitions(request, generator))
        unused = [name for name in unread if name in request.settings.definitions]
        for name in unused:
            console.warn(f"-D {name} changes nothing: CMakeLists.txt doesn't read it", help=f"leave out -D {name}")
        self._taken.append("configured")
        self._keep(
            TreeState(
                fingerprint=configuration.fingerprint,
                cmake=str(cmake),
                cmake_stat=stat_of(cmake),
                generator=generator.name,
                program=str(generator.program),
                configured=files_of_cmake(request, generator),
            )
        )
        return unused

    def compile(self, jobs: int | None, package: Package | None) -> None:
        request, generator = self._request, self._generator

        def load() -> Package:
            from opkit.spec import load_package

            return load_package(request.project.ops_py) if package is None else package

        self._link_commands()
        before = generator.work(request.tree.path)
        is_new = before is None or before == (0, 0)
        try:
            told = self._driver.compile(generator, jobs or default_jobs(), load, is_explained=self._is_explained)
        except LinkError as fault:
            from opkit.build.linked import in_terms_of_abi

            raise in_terms_of_abi(fault, request.toolkit) from fault
        except BuildError:
            kept = self._state.fingerprint.get(NPU_ARCH)
            if kept is not None and request.asked.npu_arch is None:
                console.warn(f"kernels are prebuilt for {kept}, which an earlier `opkit build --npu-arch` named; another can be named so")
            raise
        finally:
            # Ninja runs CMake again when CMakeLists.txt changed; that is no change from outside.
            if stats_of(request.tree.path, self._state.configured) != self._state.configured:
                self._keep(self._state._replace(configured=files_of_cmake(request, generator)))
        if generator.work(request.tree.path) != before:
            self._taken.append("compiled")
            told = ["the tree was configured"] if is_new else told or [f"{generator.tool} found work"]
            self._tell(f"compiled because {_joined(told)}")
        self._link_program()

    def install(self) -> None:
        project, tree, folder = self._request.project, self._request.tree, self._folder
        work = self._generator.work(tree.path)
        reasons = self._reasons_to_install(work)
        if not reasons:
            return
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
        opp_root = publish(stage, project, folder.rendered, self._request.toolkit, log=tree.log)
        with guard_writing(stage):
            remove(stage)
        self._taken.append("installed")
        console.step("Installed", project.shown(project.output))
        names = [MANIFEST, *(str(file.path) for file in opp_root.manifest.files)]
        self._keep_folder(
            self._folder._replace(
                tree=tree.key,
                work=work,
                installed=stats_of(project.output, names),
                script=stat_of(tree.path / SCRIPT),
                version=version_of(folder),
            )
        )

    def _reasons_to_install(self, work: object) -> list[str]:
        project, tree, folder = self._request.project, self._request.tree, self._folder
        shown = project.shown(project.output)
        if not folder.installed or folder.output != str(project.output):
            return [f"nothing is known of {shown}"]
        if folder.tree != tree.key:
            return [f"{shown} held what {folder.tree} gave"]
        reasons = []
        # A header of the deliverable may be nobody's dependency, so that rendering it leaves Ninja without work.
        if "rendered" in self._taken:
            reasons.append("files were rendered")
        if folder.version != version_of(folder):
            reasons.append(f"{VERSION_FILE} changed")
        if folder.work != work:
            is_of_cmake = "configured" in self._taken and "compiled" not in self._taken
            reasons.append("the tree was configured" if is_of_cmake else "files were compiled")
        elif folder.script != stat_of(tree.path / SCRIPT):
            reasons.append("the tree was configured")
        reasons += [
            f"{shown}/{name} was changed from outside" for name, stat in folder.installed.items() if stat != stat_of(project.output / name)
        ]
        return reasons

    def question(self, own: Mapping[str, Stat]) -> list[str | Path] | None:
        """What to ask Ninja with, if nothing else has anything to do."""
        request = self._request
        if not self._state.fingerprint or self._reasons_to_render(own):
            return None
        configuration = wanted(request, self._folder, self._state)
        if reasons_to_configure(request, self._state, configuration.fingerprint, named_generator(request.environ)):
            return None
        return self._generator.question(request.tree.path)

    def is_current(self, ended: Finished) -> bool:
        """Whether Ninja has nothing to do either, and nothing is to be installed."""
        tree, generator = self._request.tree, self._generator
        if not ended.ok or not generator.is_idle(ended.stdout) or self._reasons_to_install(generator.work(tree.path)):
            return False
        self._link_commands()
        self._link_program()
        self.sum_up()
        return True

    def sum_up(self) -> None:
        if not self._taken:
            known = self._folder.rendered
            files = 0 if known is None else len(known.generated) - 1  # without the list of them
            output = self._request.project.shown(self._request.project.output)
            self._tell(
                f"nothing to do: the spec and its {files} generated files, the configuration {self._request.tree.key}, "
                f"what {self._generator.tool} looks after and {output} are as the last build left them"
            )

    def built(self, seconds: float, program: Path | None = None) -> Built:
        project, tree = self._request.project, self._request.tree
        assert self._folder.rendered is not None, "render() came first"  # noqa: S101 - tells the type checker
        package = self._folder.rendered.package
        return Built(
            project=project,
            package=package,
            ops=self._folder.rendered.ops,
            program=program or program_of(project, tree.key, package),
            steps=tuple(self._taken),
            seconds=seconds,
            settings=self._request.settings,
            reasons=tuple(self._reasons),
            warnings=self._warnings,
        )

    @property
    def _generator(self) -> Generator:
        state = self._state
        assert state.generator is not None, "configure() came first"  # noqa: S101 - tells the type checker
        return Generator(state.generator, Path(state.program or ""))

    def _link_commands(self) -> None:
        link(self._request.tree, COMMANDS)

    def _link_program(self) -> None:
        if self._request.has_program and self._folder.rendered is not None:
            link(self._request.tree, program_name(self._folder.rendered.package))

    def _tell(self, reason: str) -> None:
        self._reasons.append(reason)
        (console.say if self._is_explained else console.detail)(reason)

    def _keep_folder(self, state: FolderState) -> None:
        project = self._request.project
        self._folder = state._replace(root=str(project.root), place=str(project.build_dir))
        with guard_writing(project.build_dir):
            self._folder.write(project.build_dir)

    def _keep(self, state: TreeState) -> None:
        self._state = state
        with guard_writing(self._request.tree.path):
            state.write(self._request.tree.path)


def _joined(reasons: list[str]) -> str:
    more = len(reasons) - _TOLD_REASONS
    return "; ".join(reasons[:_TOLD_REASONS]) + (f"; and {more} more" if more > 0 else "")
