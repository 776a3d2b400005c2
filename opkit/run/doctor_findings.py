"""What `doctor` looks at, and what a finding is: the ids are kept for scripts, and `docs/reference/doctor.md` is made of them."""

from __future__ import annotations

import enum
import os
import shlex
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from opkit.build import Project
    from opkit.errors import OpkitError

__all__ = [
    "Check",
    "Finding",
    "Status",
    "built_again",
    "built_anew",
    "exported",
    "failed",
    "opened_up",
    "rebuilt",
    "rebuilt_anew",
    "with_helps",
]


class Status(enum.Enum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(enum.Enum):
    """The value is the id of the findings, and what is asked."""

    OPKIT = ("opkit", "Is opkit what the distribution ascend-opkit installed, and not a package or command of the same name?")
    TOOLKIT = ("toolkit", "Which toolkit is used, and why that one?")
    OTHER_TOOLKITS = ("other-toolkits", "Which other toolkits are named or installed, and which of them can't be used?")
    TOOLKIT_VERSION = ("toolkit-version", "Is the toolkit new enough for what opkit generates?")
    HEADERS = ("headers", "Does the toolkit have every header that generated code includes?")
    TOOLKIT_LIBRARIES = ("toolkit-libraries", "Does the toolkit have every library that a project links with?")
    ARCH = ("arch", "Is the toolkit for this computer?")
    ABI = ("abi", "Which ABI of the C++ standard library is code compiled for?")
    COMPILER = ("compiler", "Which C++ compiler is used, is it new enough, and can it compile and link?")
    LAUNCHER = ("launcher", "Which compiler launcher does a build go through, such as ccache, and does it work?")
    CMAKE = ("cmake", "Which CMake is used, and is it new enough?")
    NINJA = ("ninja", "Which Ninja is used?")
    FOLDER = ("folder", "Can the folders be written that a build, an install or the simulator needs, and is there room?")
    DELIVERABLE = ("deliverable", "Is the project built, and is what lies in its output folder what the build left?")
    HEADER = ("header", "Does the deliverable bring the header with the prototypes of its ops?")
    INSTALLED = ("installed", "Which packages are in the prefix and in the wheels of this Python, and is each whole?")
    OPP_PATH = ("opp-path", "What does GE find at each element of ASCEND_CUSTOM_OPP_PATH? The number is its place in the list.")
    HOST_FOLDER = ("host-folder", "Which folder below op_graph/lib does GE search, and is it that of this computer?")
    LIBRARY = ("library", "Does each library that GE opens load? One that doesn't makes GEInitialize fail for all ops.")
    MANIFEST = ("manifest", "Can the manifest of each OPP root be read?")
    BUILT_AGAINST = (
        "built-against",
        "Was each package built against the kind of toolkit, and for the architecture and ABI, that is in use?",
    )
    SHADOWED = ("shadowed", "Is each op type registered once? GE keeps the first registration and drops the others without an error.")
    OPP = ("opp", "Does GE find the toolkit's own operators, by ASCEND_OPP_PATH or beside its libraries?")
    OPP_VERSION = (
        "opp-version",
        "Is each package of CANN's own kind of a version that the toolkit takes? GE skips others without an error.",
    )
    VENDORS = ("vendors", "Does GE read vendors/config.ini of the toolkit's operators as it was meant?")
    LIBRARY_PATH = (
        "library-path",
        "Is LD_LIBRARY_PATH free of empty and relative elements, and is the toolkit's folder the first with its libraries?",
    )
    DEVICE = ("device", "Is there a device, or does the simulator stand in for one?")

    @property
    def id(self) -> str:
        return self.value[0]

    @property
    def question(self) -> str:
        return self.value[1]


@attrs.frozen(kw_only=True)
class Finding:
    """One thing that was looked at; `evidence` is what was seen, `help` the one command that mends it, in whatever shell a person has.

    `hint` says in words what to do about what no command mends. `position` is that of an element in a list.
    """

    check: Check
    status: Status
    evidence: str
    help: str | None = None
    hint: str | None = None
    position: int | None = None

    @property
    def id(self) -> str:
        return self.check.id if self.position is None else f"{self.check.id}[{self.position}]"

    @property
    def advice(self) -> str | None:
        """The line that is printed below it."""
        if self.help is not None:
            return f"help: {self.help}"
        return None if self.hint is None else f"hint: {self.hint}"

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "status": self.status.value, "evidence": self.evidence, "help": self.help, "hint": self.hint}


def failed(check: Check, error: OpkitError, *, help: str | None = None, position: int | None = None) -> Finding:  # noqa: A002 - the word that is printed
    """The help of an error is for people, and often no command: without one of the caller's it becomes the hint."""
    evidence = error.message + (f" ({error.because})" if error.because else "")
    hint = error.help if help is None else None
    return Finding(check=check, status=Status.FAIL, evidence=evidence, help=help, hint=hint, position=position)


def exported(name: str, value: str = "") -> str:
    """Without a value the variable is as good as unset to all that reads it here; fish has no `unset`."""
    return f"export {name}={shlex.quote(value) if value else ''}"


def opened_up(path: Path) -> str:
    """The command that lets this user read a file or a folder; of somebody else's, he has to be root for it."""
    try:
        is_own = os.geteuid() in {0, path.lstat().st_uid}
    except OSError:
        is_own = False
    return f"{'' if is_own else 'sudo '}chmod a+rX {shlex.quote(str(path))}"


def built_again(project: Project, *options: str) -> str:
    """The command that builds a project in the folders in which it was examined."""
    usual = type(project).at(project.root)
    places = [("--build-dir", project.build_dir, usual.build_dir), ("--output", project.output, usual.output)]
    named = [word for option, place, elsewhere in places if place != elsewhere for word in (option, str(place))]
    return shlex.join(["opkit", "build", str(project.root), *named, *options])


def rebuilt(opp_root: Path, *options: str) -> str | None:
    """The command that builds an OPP root again; None for one that is no project's output."""
    project = opp_root.parent
    return shlex.join(["opkit", "build", str(project), *options]) if os.path.isfile(project / "ops.py") else None  # noqa: PTH113 - Path.is_file raises where a folder above is closed


def built_anew(project: Project) -> str:
    """As `built_again`, for one whose output isn't what was built."""
    from opkit.build import options_to_build_anew

    return built_again(project, *options_to_build_anew(project))


def rebuilt_anew(opp_root: Path) -> str | None:
    """As `rebuilt`, for one that isn't what was built."""
    from opkit.build import Project, options_to_build_anew

    project = opp_root.parent
    return rebuilt(opp_root, *options_to_build_anew(Project(project, project / "build", opp_root)))


def with_helps(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str | None]]:
    """Each finding with the line that is printed below it: of those that one command mends, only the last has it."""
    findings = [*findings]
    last = {finding.advice: number for number, finding in enumerate(findings) if finding.status is not Status.OK}
    for number, finding in enumerate(findings):
        yield finding, finding.advice if last.get(finding.advice) == number else None
