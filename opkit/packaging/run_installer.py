"""The self-extracting installer: an OPP root, a shell script that installs it, and makeself, which makes one file of the two.

It is for machines that have neither opkit nor Python. What it installs is what `opkit install` would have installed, receipt and all.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath

from opkit import __version__, process, resources
from opkit.deliverable import MANIFEST, Manifest, OppRoot, mode_of
from opkit.errors import DeliverableError, MakeselfError
from opkit.files import FILE_MODE, PROGRAM_MODE, copy_whole, digest_of, guard_writing, make_folders, write_whole
from opkit.packaging.archive import Packed, archive_name, require_for_a_device
from opkit.packaging.receipt import InstalledFile, Receipt, write_receipts
from opkit.packaging.soundness import require_package
from opkit.packaging.tar import Compression

__all__ = ["pack_run", "require_makeself"]

_ADVICE = b"  help: name a folder for temporary files that can be written: TMPDIR=DIR"


def require_makeself(environ: Mapping[str, str]) -> str:
    """The program by its path. Raises MakeselfError if it isn't there, which is to be told before anything is built."""
    program = shutil.which("makeself", path=_search(environ))
    if program is None:
        msg = "no makeself, which makes the installer"
        raise MakeselfError(msg, because="it isn't on PATH", help="sudo apt install makeself")
    return program


def _search(environ: Mapping[str, str]) -> str:
    return environ.get("PATH", os.defpath)


def pack_run(source: OppRoot, folder: Path, *, epoch: int, environ: Mapping[str, str], is_simulator_allowed: bool = False) -> Packed:
    """Writes the installer of an OPP root into `folder`: the same files give the same bytes wherever makeself and gzip are the same.

    Only what the manifest names goes in. Raises MakeselfError if makeself isn't there or fails, SimulatorBuildError, DeliverableError for a
    source that isn't what was built or is no package, UnwritableError. A failure leaves an installer that was there before.
    """
    manifest = source.manifest
    require_for_a_device(manifest, is_simulator_allowed=is_simulator_allowed)
    program = require_makeself(environ)
    require_package(source)
    target = folder.absolute() / (archive_name(manifest, Compression.GZ).removesuffix(".tar.gz") + ".run")
    with guard_writing(target, help="name a folder that can be written with --dest DIR"):
        make_folders(target.parent)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch:
            # Its name is in the installer: where `--noexec --keep` unpacks to.
            tree = Path(scratch, f"{manifest.package}-{manifest.version}")
            _fill(tree, source, target.name)
            content = _with_own_header(_made(tree, manifest, program, epoch=epoch, search=_search(environ)), program)
        write_whole(target, content, mode=PROGRAM_MODE)
    return Packed(path=target, sha256=hashlib.sha256(content).hexdigest(), size=len(content))


def _made(tree: Path, manifest: Manifest, program: str, *, epoch: int, search: str) -> bytes:
    """What makeself makes of the folder."""
    argv = [
        *(program, "--quiet", "--nox11", "--noprogress", "--sha256", "--nomd5", "--nocrc", "--export-conf"),
        # The time of its input, which gzip would note, is that of now; makeself has no option for it but puts the level as it is.
        *("--gzip", "--complevel", "9 --no-name"),
        *("--tar-format", "gnu", "--tar-extra", f"--force-local --mtime=@{epoch} --owner=0 --group=0 --numeric-owner"),
        *("--packaging-date", datetime.fromtimestamp(epoch, timezone.utc).isoformat()),
        *("--help-header", f"{tree.name}/help"),
        # By the name of the shell: what is unpacked below a noexec /tmp can't be started.
        *(tree.name, "installer", f"{manifest.package} {manifest.version}", "sh", "./install.sh"),
    ]
    # Nothing else of the environment: makeself takes parts of the header from variables, and GNU tar has TAR_OPTIONS.
    scratch = tree.parent
    done = process.run(argv, cwd=scratch, env={"PATH": search, "LC_ALL": "C", "TMPDIR": str(scratch)})
    installer = scratch / "installer"
    if not done.ok or not installer.is_file():
        msg = "makeself failed"
        raise MakeselfError(msg, because=(done.stderr or done.stdout).strip() or f"it ended with {done.shell_exit} and said nothing")
    return installer.read_bytes()


def _fill(tree: Path, source: OppRoot, installer: str) -> None:
    """What is unpacked on the other machine: the script, what it must know, and the OPP root below `opp`."""
    manifest = source.manifest
    for path in (PurePosixPath(MANIFEST), *(file.path for file in manifest.files)):
        make_folders((tree / "opp" / path).parent)
        copy_whole(source.path / path, tree / "opp" / path, mode=mode_of(path))
    if manifest.violations(tree / "opp") or Manifest.read(tree / "opp") != manifest:
        msg = f"{source.path} was changed while it was packed"
        raise DeliverableError(msg, because="the copy isn't what was built", help="opkit package once more")
    digest = digest_of(tree / "opp" / MANIFEST)
    sums = {MANIFEST: digest} | {str(file.path): file.sha256 for file in manifest.files}
    facts = {
        "package": manifest.package,
        "version": manifest.version,
        "arch": manifest.target.arch,
        "glibc": manifest.requires.glibc or "",
        "built_against": manifest.built_against.kind,
        "installer": installer,
    }
    # The script puts in what is between the @, in this order.
    receipt = Receipt(
        package=manifest.package,
        version=manifest.version,
        folder="@folder@",
        source="@source@",
        sha256="@sha256@",
        manifest=digest,
        installed="@installed@",
        opkit=__version__,
        files=tuple(InstalledFile(path=file.path, sha256=file.sha256, mode=mode_of(file.path)) for file in manifest.files),
    )
    write_receipts(tree / "receipt.json", receipt)
    scripts = resources.templates() / "package"
    for name in ("install.sh", "help"):
        copy_whole(scripts / name, tree / name, mode=FILE_MODE)
    write_whole(tree / "package", "".join(f"{key}={shlex.quote(value)}\n" for key, value in facts.items()).encode())
    write_whole(tree / "SHA256SUMS", "".join(f"{sha256}  {path}\n" for path, sha256 in sorted(sums.items())).encode())


def _with_own_header(content: bytes, program: str) -> bytes:
    """Puts opkit's lines before makeself's, and takes out what differs from one machine to the next.

    That is the path of makeself in the command that `--info` prints, and the size that the disk gave to the unpacked tar.
    """
    marks = (rb'^skip="(\d+)"$', rb'^totalsize="(\d+)"$', rb"^\s+echo Uncompressed size: (\d+) KB$")
    skip, total, unpacked = (re.search(mark, content, flags=re.MULTILINE) for mark in marks)
    *lines, archive = content.split(b"\n", int(skip[1]) if skip else 0)
    if skip is None or total is None or unpacked is None or b"" not in lines or len(archive) != int(total[1]):
        msg = "makeself made an installer that opkit doesn't know"
        because = f"{program} counts no lines, bytes or kilobytes where version 2.4.5 does"
        raise MakeselfError(msg, because=because, help="sudo apt install makeself")
    size = -(-len(gzip.decompress(archive)) // 1024)
    header = re.sub(rb'(echo Build command was: ")[^\n]*(?= \\\\\n)', rb"\g<1>makeself", b"\n".join(lines))
    header = re.sub(rb"(Uncompressed size: |About to extract |-lt |\()%s( KB|; then)" % unpacked[1], rb"\g<1>%d\g<2>" % size, header)
    # Its own advice is an option that leaves what was unpacked behind.
    header = header.replace(b"You should try option --target dir", _ADVICE)
    first, blank, rest = header.partition(b"\n\n")
    header = first + b"\n" + (resources.templates() / "package" / "run_header.sh").read_bytes() + blank[1:] + rest + b"\n"
    return re.sub(rb'^skip="\d+"$', b'skip="%d"' % header.count(b"\n"), header, count=1, flags=re.MULTILINE) + archive
