"""The programs: what each is made of, how it is run in a folder of its own, and what it says of its result."""
import gzip
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
INPUTS = os.path.join(TOP, "tests", "applications")
PSEUDOPOTENTIAL = "/usr/share/doc/quantum-espresso/examples/atomic/pseudo-LDA-0.5/Si.pz-vbc.UPF.gz"

FFT_ERROR = 1e-12  # as HPC Challenge rounds
FFTW_ERROR = 1e-14  # near 1e-15; most coefficients are near 1e-5


@dataclass
class Result:
    """What a run says of itself. `seconds`: by the program's own clock; None: it states none."""

    checks: dict = field(default_factory=dict)  # the program's own: name -> whether it passed
    numbers: dict = field(default_factory=dict)  # to be equal in all runs
    seconds: float = None


@dataclass
class Program:
    name: str
    packages: tuple  # of Debian
    needs: tuple  # commands and files
    prepare: object  # (folder, ranks): puts its input there
    command: tuple
    result: object  # (folder, output): Result
    tolerance: float  # numbers differ by at most this, relative to the larger
    because: str


def _copy(name, folder):
    shutil.copy(os.path.join(INPUTS, name), folder)


def _number(text, pattern):
    found = re.search(pattern, text, re.MULTILINE)
    return float(found[1]) if found else None


# FFTW ----------------------------------------------------------------------------------------------------------------------------


def compile_c(source, target, *options):
    subprocess.run([compiler(), "-O2", os.path.join(INPUTS, source), "-o", target, *options], check=True)


def compiler():
    return shutil.which("mpicc.openmpi") or "mpicc"


def _fftw(folder, _ranks):
    compile_c("fftw_slabs.c", os.path.join(folder, "fftw_slabs"), "-lfftw3_mpi", "-lfftw3", "-lm")


def _fftw_result(_folder, output):
    errors = {name: _number(output, rf"^{name} (\S+)") for name in ("coefficients", "values")}
    checks = {f"{name} to {FFTW_ERROR:g}": error is not None and error < FFTW_ERROR for name, error in errors.items()}
    return Result(checks, {}, _number(output, r"^seconds (\S+)"))


# HPC Challenge -------------------------------------------------------------------------------------------------------------------


def _hpcc(folder, ranks):
    rows = max(rows for rows in range(1, ranks + 1) if rows * rows <= ranks and ranks % rows == 0)
    with open(os.path.join(INPUTS, "hpccinf.txt"), encoding="ascii") as file:
        text = file.read().replace("@P@", str(rows)).replace("@Q@", str(ranks // rows))
    with open(os.path.join(folder, "hpccinf.txt"), "w", encoding="ascii") as file:
        file.write(text)


def _hpcc_result(folder, _output):
    path = os.path.join(folder, "hpccoutf.txt")
    if not os.path.exists(path):
        return Result({"hpccoutf.txt": False})
    with open(path, encoding="ascii", errors="replace") as file:
        text = file.read()
    error = _number(text, r"^MPIFFT_maxErr=(\S+)")
    return Result({
        "all tests": _number(text, r"^Success=(\d+)") == 1,
        "HPL": bool(re.search(r"^\|\|Ax-b.*PASSED$", text, re.MULTILINE)),
        "PTRANS": len(re.findall(r"^WALL .* PASSED ", text, re.MULTILINE)) > 0 and "FAILED" not in text,
        "RandomAccess": _number(text, r"^MPIRandomAccess_Errors=(\d+)") == 0,
        f"FFT to {FFT_ERROR:g}": error is not None and error < FFT_ERROR,
    })


# LAMMPS --------------------------------------------------------------------------------------------------------------------------


def _lammps(folder, _ranks):
    _copy("ions.in", folder)


def _lammps_result(_folder, output):
    header, numbers, names = False, {}, ()
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["Step"]:
            header, names = True, words[1:]
        elif header and words and words[0].isdigit():
            numbers.update({f"{name} of step {words[0]}": float(word) for name, word in zip(names, words[1:])})
        else:
            header = False
    energies = [value for name, value in numbers.items() if name.startswith("TotEng")]
    kept = len(energies) == 6 and max(energies) - min(energies) < 0.01 * abs(energies[0])
    return Result({"energy kept to 1%": kept}, numbers, _number(output, r"^Loop time of (\S+)"))


# Quantum ESPRESSO ----------------------------------------------------------------------------------------------------------------


def _espresso(folder, _ranks):
    _copy("silicon.in", folder)
    with gzip.open(PSEUDOPOTENTIAL) as packed, open(os.path.join(folder, "Si.pz-vbc.UPF"), "wb") as file:
        file.write(packed.read())


def _espresso_result(_folder, output):
    energy = _number(output, r"^! +total energy += +(\S+) Ry")
    checks = {"self-consistent": "convergence has been achieved" in output, "JOB DONE": "JOB DONE." in output}
    return Result(checks, {} if energy is None else {"total energy": energy}, _seconds_of(output))


def _seconds_of(output):
    """From "electrons : 0.45s CPU 1m 2.31s WALL"."""
    found = re.search(r"^ +electrons +:.*CPU +(?:(\d+)m *)?([\d.]+)s WALL", output, re.MULTILINE)
    return 60 * float(found[1] or 0) + float(found[2]) if found else None


PROGRAMS = (
    Program("fftw", ("libfftw3-mpi-dev", "libopenmpi-dev", "gcc"), ("/usr/include/fftw3-mpi.h", compiler()), _fftw, ("./fftw_slabs", "20"),
            _fftw_result, 0, "it checks against the formula"),
    Program("hpcc", ("hpcc",), ("hpcc",), _hpcc, ("hpcc",), _hpcc_result, 0, "it checks its residues"),
    Program("lammps", ("lammps",), ("lmp",), _lammps, ("lmp", "-in", "ions.in", "-log", "none"), _lammps_result, 1e-8,
            "sums in another order differ in the last of 16 digits, which 50 steps let grow"),
    Program("espresso", ("quantum-espresso", "quantum-espresso-data"), ("pw.x", PSEUDOPOTENTIAL), _espresso,
            ("pw.x", "-in", "silicon.in"), _espresso_result, 2e-9, "the energy is printed to 8 decimals, and one of the last may be rounded"),
)
