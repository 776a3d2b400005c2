"""`opkit build [PROJECT]` without click, whose import alone takes longer than a build with nothing to do."""

from __future__ import annotations

from opkit.build import Project, build
from opkit.cli.common import toolkit_in_use
from opkit.cli.endings import require_folder
from opkit.cli.finished import report
from opkit.errors import NotAProjectError

__all__ = ["build_plainly"]


def build_plainly(words: list[str]) -> bool:
    """Gives False, with nothing done, for a folder that is no project: it may hold some, which the command looks for."""
    require_folder()
    try:
        project = Project.find(words[0] if words else ".")
    except NotAProjectError:
        return False
    toolkit, environ = toolkit_in_use()
    report(build(project, toolkit, environ))
    return True
