#!/usr/bin/env python3
"""Every command of README.md that needs no root works as it stands there: readme_test.py README BUILD_FOLDER.

Commands are the indented lines. They run in one new folder, in order, with `your-program` being the Fourier transform and more
ranks than cores allowed. What installs, builds or tests is left to scripts/test, and the demo to its own tests.
"""
import os
import re
import subprocess
import sys
import tempfile

ELSEWHERE = ("scripts/", "cmake ", "source ")


def commands(page):
    with open(page, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("    ") and not line.strip().startswith(ELSEWHERE):
                yield line.strip()


def main():
    page, build = sys.argv[1], os.path.realpath(sys.argv[2])
    environment = dict(
        os.environ,
        PATH=f"{build}/bin:{os.environ['PATH']}",
        OMPI_MCA_mca_base_component_path=f"SYSTEM_DEFAULT:{build}/lib/openmpi",
        PMIX_MCA_mca_base_component_path=f"{build}/lib/no-components",
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
        PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
        OMPI_MCA_mpi_yield_when_idle="1",
        OMPI_MCA_hwloc_base_binding_policy="none",
    )
    tried = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(f"{build}/bin/colltopo-fft3d", f"{folder}/your-program")
        for command in commands(page):
            tried += 1
            shell = re.sub(r"^mpirun ", "mpirun.openmpi " if os.path.exists("/usr/bin/mpirun.openmpi") else "mpirun ", command)
            done = subprocess.run(["bash", "-c", shell], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
            if done.returncode != 0 or "using the next component" in done.stderr:
                wrong += 1
                print(f"{command}: status {done.returncode}: {done.stdout[-500:]}{done.stderr[-1000:]}")
    print(f"{tried} commands of {page}, {wrong} do not work")
    return 1 if wrong or tried < 10 else 0


sys.exit(main())
