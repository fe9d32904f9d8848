"""What is forked to end with a process ends with it, even where that is killed; what is forked otherwise goes on."""

import subprocess
import sys

import psutil
import pytest

FORKS = """
import multiprocessing, threading, time
from evenhand.models.tied_processes import ending_with_us

fork = multiprocessing.get_context("fork")
sleeping = [fork.Process(target=time.sleep, args=(600,)) for _ in range(2)]

def start():
    with ending_with_us():
        sleeping[0].start()
    sleeping[1].start()
    print(*(each.pid for each in sleeping), flush=True)
    time.sleep(600)

threading.Thread(target=start).start()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ties a process to its parent")
def test_a_killed_process_takes_along_what_is_tied_to_it():
    with subprocess.Popen([sys.executable, "-c", FORKS], stdout=subprocess.PIPE, text=True) as forking:
        tied, free = (psutil.Process(int(pid)) for pid in forking.stdout.readline().split())
        assert tied.is_running()
        forking.kill()
        try:
            gone, _ = psutil.wait_procs([tied], timeout=60)
            assert gone == [tied]
            assert free.is_running()
        finally:
            free.kill()
