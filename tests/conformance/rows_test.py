#!/usr/bin/env python3
"""Every row of the algorithm table is forced in some conformance setting, and no name there is of no row.

  rows_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(source / "scripts"))
from conformance_parts import settings  # noqa: E402

rows = {name.replace("_", "-") for name in re.findall(r"^COLLTOPO_ROW\((\w+)\)", (source / "src/algorithms/rows.inc").read_text(), re.M)}
forced = {row.split(":")[0] for names in settings.ROWS.values() for row in names} | {
    row.split(":")[0] for setting in settings.table().values() for name, row in setting.parameters.items() if name.endswith("_algorithm")}
faults = [f"src/algorithms/rows.inc: no conformance setting forces {row}" for row in sorted(rows - forced)]
faults += [f"scripts/conformance_parts/settings.py: {row} is no row" for row in sorted(forced - rows - {"fallback", "auto"})]
if len(settings.table()) < 30:
    faults.append("scripts/conformance_parts/settings.py: fewer than 30 settings")
print("\n".join(faults) or f"{len(rows)} rows, {len(settings.table())} settings")
sys.exit(1 if faults else 0)
