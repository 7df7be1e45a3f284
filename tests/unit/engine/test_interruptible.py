"""Ctrl-C reaches work that does not poll for signals itself."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from dpsql.engine.interruptible import interruptible


def press_control_c(times: int) -> list[threading.Timer]:
    timers = [threading.Timer(0.1 * (i + 1), os.kill, (os.getpid(), signal.SIGINT)) for i in range(times)]
    for timer in timers:
        timer.start()
    return timers


@pytest.mark.parametrize("presses", [1, 3])
def test_interrupt_is_repeated_until_the_work_ends(presses: int) -> None:
    asked = threading.Semaphore(0)
    ended: list[bool] = []

    def work() -> None:
        assert threading.current_thread() is not threading.main_thread()
        for _ in range(4):  # deaf to the first three
            asked.acquire()
        ended.append(True)

    timers = press_control_c(presses)
    with pytest.raises(KeyboardInterrupt):
        interruptible(work, asked.release)
    for timer in timers:
        timer.join()
    assert ended == [True]


def test_results_and_errors_pass_through() -> None:
    assert interruptible(lambda: 5, lambda: None) == 5
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0, lambda: None)


def test_another_thread_works_by_itself() -> None:
    seen: list[threading.Thread] = []

    def ask() -> None:
        seen.append(interruptible(threading.current_thread, lambda: None))

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join()
    assert seen == [asking]


@pytest.mark.slow
def test_at_any_moment(draws: int = 40) -> None:
    """An interrupt while the thread starts, as it begins to wait, or later: work has ended, or it never began."""
    for draw in range(draws):
        asked = threading.Event()
        begun: list[bool] = []
        ended: list[bool] = []

        def work(asked: threading.Event = asked, begun: list[bool] = begun, ended: list[bool] = ended) -> None:
            begun.append(True)
            asked.wait()
            ended.append(True)

        timer = threading.Timer(0.002 * draw / draws, os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            interruptible(work, asked.set)
        timer.join()
        assert begun == ended
