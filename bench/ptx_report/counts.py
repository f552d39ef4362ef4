"""What the kernels did, counted by an interpreter of PTX: a row for each call of the program, a world-step each."""
import json
import re
import subprocess
import tempfile
from pathlib import Path

from failure import Failure

# our names of the interpreter's counts; `lane_use` follows from them
SUMS = {"warp_instructions": "warp_instructions", "load_sectors": "global_load_sectors", "store_sectors": "global_store_sectors",
        "shared_accesses": "shared_accesses", "shared_conflicts": "shared_conflicts", "barriers": "barriers", "atomics": "atomics"}


def short_name(mangled):
    """The kernel without namespaces and types; templates of flags with what the flags mean."""
    for name in ("world_kernel", "row_kernel"):
        if re.search(rf"\d{name}I", mangled):
            return name
    flags = re.search(r"\dfactor_kernelI.*?ELb([01])ELb([01])ELb([01])E", mangled)
    if flags:
        what = {"10": "factor", "01": "solve", "11": "factor, solve"}.get(flags[1] + flags[2], "nothing")
        return f"factor_kernel<{what}, {'shared' if flags[3] == '1' else 'global'}>"
    return None


def name_of(kernel):
    return short_name(kernel["mangled"]) or re.sub(r"^void |\(.*$|batchsim::(cuda::)?", "", kernel["name"])


def row_of(call, kernels, worlds):
    instructions = sum(k["warp_instructions"] for k in kernels)
    threads = sum(k["thread_instructions"] for k in kernels)
    row = {"kernel": call, "of": ", ".join(name_of(k) for k in kernels), "launches": sum(k["launches"] for k in kernels)}
    row |= {ours: sum(k[theirs] for k in kernels) / worlds for ours, theirs in SUMS.items()}
    row["lane_use"] = threads / (32 * instructions) if instructions else 0.0
    row["warps_a_world"] = 0 if kernels[0]["blocks"] < worlds else kernels[0]["warps"] / kernels[0]["blocks"]
    row["mangled"] = [k["mangled"] for k in kernels]
    return row


def rows_of(report, worlds):
    """A row a section; under names of their own the kernels of a call that takes several, and unknown ones that ran in no section."""
    rows, seen = [], set()
    for section in report["sections"]:
        kernels = [k for k in section["kernels"] if k["launches"]]
        seen.update(k["mangled"] for k in kernels)
        if not kernels:
            continue
        rows.append(row_of(section["name"], kernels, worlds))
        if len(kernels) > 1:
            rows += [row_of(f"{section['name']}: {name_of(k)}", [k], worlds) for k in kernels]
    # what only prepares, such as the reset that a batch starts with, runs outside of the sections, but with a kernel that is known
    rows += [row_of(name_of(k), [k], worlds) for k in report["kernels"]
             if k["mangled"] not in seen and k["launches"] and not short_name(k["mangled"])]
    return rows


def run_program(interpreter, options, program, arguments):
    """What the program says of its run, and the interpreter's report."""
    with tempfile.TemporaryDirectory() as folder:
        described, counted = Path(folder) / "program.json", Path(folder) / "counts.json"
        command = [interpreter, *options, "--strict", "--report", counted, program, *arguments, "--json", described]
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if run.returncode or not counted.is_file() or not described.is_file():
            said = (run.stderr or run.stdout or f"{program} ended with exit code {run.returncode}").strip()
            # 3: the program's own errors; others are the interpreter's findings, which take lines
            raise Failure("; ".join(said.splitlines()) if run.returncode == 3 else said)
        return json.loads(described.read_text()), json.loads(counted.read_text())


def count(interpreter, program, arguments):
    """What the program says of its run, and the rows.

    Twice: all checks look for faults first. One of them, shuffle, runs lanes apart that stay together on a GPU, which costs a sixth more
    warp instructions: the counts are of a run without.
    """
    run_program(interpreter, ["--checks", "all"], program, arguments)
    state, report = run_program(interpreter, [], program, arguments)
    return state, rows_of(report, state["worlds"])
