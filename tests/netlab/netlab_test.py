"""One case of the tests of scripts/netlab: netlab_test.py BUILD_FOLDER CASE.

The case runs in a sandbox, mount, process and network namespaces of its own with empty /run and /dev/shm, so that what netlab
leaves behind can be told exactly: whatever is there afterwards and was not before.
"""
import os
import subprocess
import sys

import cases_demo
import cases_jobs
import cases_network
import cases_steering
from sandbox import CANNOT, LATE, Late, Skip, enter_sandbox

CASES = (cases_demo, cases_jobs, cases_network, cases_steering)


def main():
    build, name = sys.argv[1:]
    enter_sandbox(build)
    cases = next(cases for cases in CASES if hasattr(cases, name))
    try:
        getattr(cases, name)()
    except Skip as reason:
        print(f"skipped: {reason}")
        return CANNOT
    except subprocess.TimeoutExpired as late:
        print(f"FAILED: not ended after {late.timeout} s: {' '.join(late.cmd)}", flush=True)
        return LATE
    except AssertionError as fault:
        line = fault.__traceback__
        while line.tb_next and line.tb_next.tb_frame.f_code.co_filename == cases.__file__:
            line = line.tb_next
        print(f"FAILED: {os.path.basename(cases.__file__)}:{line.tb_lineno}: {fault}", flush=True)
        return LATE if isinstance(fault, Late) else 1
    print(f"{name}: passed")
    return 0


sys.dont_write_bytecode = True
sys.exit(main())
