"""What is started to end with a process ends with it, even where that is killed; what is started otherwise goes on."""

import subprocess
import sys

import psutil
import pytest

STARTS = """
import multiprocessing, sys, time
from evenhand.models.tied_processes import tie_children, tie

def sleep(started, asking):
    if asking:
        tie()
    started.set()
    time.sleep(600)

def start(way):
    context = multiprocessing.get_context(way)
    events = [context.Event() for _ in range(2)]
    sleeping = [context.Process(target=sleep, args=(each, way == "spawn")) for each in events]
    with tie_children():
        sleeping[0].start()
    sleeping[1].start()
    for each in events:
        each.wait()
    print(*(each.pid for each in sleeping), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    start(sys.argv[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ties a process to its parent")
@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_a_killed_process_takes_along_what_is_tied_to_it(way, tmp_path):
    """What is forked asks for it without a word; what is spawned where it calls `tie`."""
    (tmp_path / "starts.py").write_text(STARTS, encoding="utf-8")
    command = [sys.executable, tmp_path / "starts.py", way]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as starting:
        try:
            tied, free = (psutil.Process(int(pid)) for pid in starting.stdout.readline().split())
        finally:
            starting.kill()
        try:
            gone, _ = psutil.wait_procs([tied], timeout=60)
            assert gone == [tied]
            assert free.is_running()
        finally:
            free.kill()
