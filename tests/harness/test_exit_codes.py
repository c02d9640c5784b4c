"""How a command ends: what each exit code means, and that nothing of the data is told on the way."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Command
from servers.studio import WAIT
from velado import InputError, NoSolution
from velado.cli import run as command
from velado.errors import InternalError, VerificationError, short_repr

SECRET = "Maria Sklodowska, HIV"


def failing(error: BaseException):
    def run(*_: object, **__: object) -> None:
        raise error

    return run


@pytest.mark.parametrize("error", [KeyError(SECRET), ValueError(SECRET), RecursionError(SECRET), AssertionError(SECRET)])
def test_an_unexpected_error_is_told_without_its_words(error, write_project, main: Command, monkeypatch) -> None:
    monkeypatch.setattr(command, "run", failing(error))
    write_project()
    ended = main("run", "project.yaml")
    assert ended.code == 70
    assert f"internal error: {type(error).__name__} at velado/cli/run.py:" in ended.err
    assert "report" in ended.err
    assert SECRET not in ended.err + ended.out
    assert "Traceback" not in ended.err
    as_json = main("run", "project.yaml", "--json")
    assert as_json.code == 70
    assert as_json.json["error"]["code"] == "internal-error"
    assert SECRET not in as_json.out + as_json.err


def test_panics_of_compiled_libraries_are_internal_errors(write_project, main: Command, monkeypatch) -> None:
    class PanicException(BaseException):
        pass

    monkeypatch.setattr(command, "run", failing(PanicException(SECRET)))
    write_project()
    ended = main("run", "project.yaml", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (70, "internal-error")
    assert SECRET not in ended.out + ended.err


def test_too_little_memory_is_told(write_project, main: Command, monkeypatch) -> None:
    monkeypatch.setattr(command, "run", failing(MemoryError()))
    write_project()
    ended = main("run", "project.yaml", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "out-of-memory")


def test_only_a_missing_solution_ends_with_1() -> None:
    assert (NoSolution.exit_code, InputError.exit_code) == (1, 2)
    assert (VerificationError.exit_code, InternalError.exit_code) == (70, 70)


def test_messages_repeat_only_the_beginning_of_what_somebody_wrote() -> None:
    assert len(short_repr("x" * 10**6)) < 100
    assert short_repr(10**5000) == "a number of more than 300 digits"
    error = InputError("bad", "y" * 10**6, hint="z" * 10**6, values=["v" * 10**6] * 9)
    assert len(str(error)) < 5000


STUCK = """
import signal, sys, time
from velado import cli

def busy():
    # As while compiled code works that knows nothing of signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    print("busy", flush=True)
    time.sleep(600)

cli._run = busy
cli.main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_does_not_listen_is_ended(number, code, environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"busy\n"
        os.kill(process.pid, number)
        _, err = process.communicate(timeout=WAIT)  # half a second on a machine that is idle
    assert process.returncode == code
    assert b"nothing was" in err
    assert b"Traceback" not in err


def test_a_pipe_is_not_a_table(tmp_path: Path, main: Command) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    ended = main("inspect", "pipe.csv", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "not-a-file")
