#!/usr/bin/env python3
"""What the CUDA kernels do and what a GPU would take for it, found without one: `./dev ptx-report`.

An interpreter of PTX runs a few calls of standing worlds and counts; ptxas says what a kernel needs of an SM; a model of a GPU makes
a time of both. The report is printed with what has changed since docs/results/ptx_MODEL.md, or, with --keep, becomes that file.
"""
import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import counts
import gpus
import ptxas
import tables
import text
from failure import Failure

ROOT = Path(__file__).resolve().parents[2]
CHANGED = 0.01  # of a count: shown
GREW = 0.02     # of warp instructions: --check fails


def arguments():
    p = argparse.ArgumentParser(prog="./dev ptx-report", description="What the CUDA kernels do, counted without a GPU.")
    p.add_argument("model", nargs="?", default="muscular", metavar="MODEL",
                   help="file, or stick, simple, muscular (default) or muscular_full")
    p.add_argument("--json", metavar="FILE", help="write the rows there; - is stdout")
    p.add_argument("--precision", choices=["f32", "f64"], default="f32")
    p.add_argument("--worlds", type=int, default=4, metavar="N", help="default 4")
    p.add_argument("--only", choices=["factor", "step"], help="factor: seconds instead of minutes; step: step and forward")
    p.add_argument("--no-ptxas", action="store_true", help="counts alone")
    p.add_argument("--keep", action="store_true", help="write docs/results/ptx_MODEL.md instead of comparing with it")
    p.add_argument("--check", action="store_true", help=f"exit 1 if a row's warp instructions grew by more than {100 * GREW:g} %%")
    p.add_argument("--interpreter", required=True, help=argparse.SUPPRESS)
    p.add_argument("--build", required=True, type=Path, help=argparse.SUPPRESS)
    o = p.parse_args()
    if o.worlds < 1:
        raise Failure(f"--worlds is {o.worlds}; allowed are whole numbers from 1 on")
    if o.json and o.json != "-" and not Path(o.json).resolve().parent.is_dir():
        raise Failure(f"--json {o.json}: there is no such folder")
    if o.keep and (o.only or o.no_ptxas or o.check):
        raise Failure("--keep keeps the whole report: leave --only, --no-ptxas and --check out")
    return o


def compiled(o, state, rows, version):
    """A row for each kernel and architecture."""
    build = o.build.resolve()
    cache = build / "ptx_report"
    cache.mkdir(exist_ok=True)
    whole = f"libbatchsim/src/backend/cuda/engine_{o.precision}.cu"
    source = ROOT / ("bench/ptx_report/factor.cu" if o.only == "factor" else whole)
    known = ptxas.kernels_of(ptxas.make_ptx(build, cache, source, min(gpus.SMS), version))
    # a call of several kernels has a row for each of them, too
    ran = {r["mangled"][0]: r for r in rows if len(r["mangled"]) == 1}
    missing = [counts.short_name(k) or k for k in ran if k not in known]
    if missing:
        raise Failure(f"{', '.join(missing)} ran, but {source.name} does not have it; build again")
    said = ptxas.compile_all(cache, ptxas.ptxas_of(build), {k: known[k] for k in ran}, gpus.SMS, version)
    result = []
    for mangled, row in ran.items():
        for arch in gpus.SMS:
            c = said[mangled, arch]
            dynamic, worlds, limit = 0, None, ""
            if warps := int(row["warps_a_world"]):
                dynamic = state["factor_bytes"] if state["factor_shared"] else 0
                worlds, limit = gpus.resident(arch, c["registers"], c["shared"] + dynamic, warps)
            result.append({"kernel": row["of"], "arch": arch, **c, "dynamic_shared": dynamic, "worlds": worlds, "limit": limit,
                           "mangled": mangled})
    return result


def own_bytes(state, call):
    """A world's own numbers read or written once, which no cache can spare. Of a step all its memory, both ways: at most."""
    m, factor, vectors = state["M_bytes"], state["qLD_bytes"], 2 * state["dof_bytes"]
    known = {"factor_m": m + factor, "solve_m": factor + vectors, "factor_solve_m": m + factor + vectors}
    return known.get(call, 2 * state["world_bytes"])


def predictions(state, rows, kernels):
    result = []
    for row in rows:
        if not row["warps_a_world"] or len(row["mangled"]) > 1:
            continue
        memory = "shared" if "factor_kernel" in row["of"] and state["factor_shared"] else "global"
        for gpu in gpus.GPUS:
            worlds = next(k["worlds"] for k in kernels if k["mangled"] == row["mangled"][0] and k["arch"] == gpu.arch)
            if worlds:
                own = own_bytes(state, row["kernel"])
                result.append((row["kernel"], gpus.predict(gpu, row, worlds, memory, own)))
    return result


def git_describe():
    git = shutil.which("git")
    run = git and subprocess.run([git, "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return run.stdout.strip() if run and not run.returncode else "an unknown commit"


def kept_report(o):
    """Its path and its text, which is empty if there is none."""
    name = f"docs/results/ptx_{Path(o.model).stem}{'' if o.precision == 'f32' else '_' + o.precision}.md"
    old = (ROOT / name).read_text() if (ROOT / name).is_file() else ""
    if o.check and not old:
        raise Failure(f"nothing to check against: there is no {name}; --keep writes it")
    if old and not o.keep and f"{o.worlds} worlds standing" not in old:
        raise Failure(f"{name} was made with another number of worlds; compare with the same")
    return name, old


def compare(o, name, old, new):
    """Prints what has changed since the kept report; whether it is as good."""
    if not old:
        print(f"\nNo report is kept of this model yet; --keep writes {name}.")
        return True
    found = tables.changes(old, new, (text.COUNTED, text.COMPILED), CHANGED)
    if o.only or o.no_ptxas:  # a part of what is kept
        found["gone"] = []
    if not any(found.values()):
        print(f"\nSince {name}: no number changed by more than {CHANGED:.0%}.")
    else:
        print(f"\nSince {name}, by more than {CHANGED:.0%}:")
        rows = [f"{k}: {x}" for k in ("new", "gone") for x in found[k]]
        print("\n".join(f"  {line}" for line in [*found["changed"], *rows]))
    before = tables.read(old)
    grown = [key[1] for key, x in tables.read(new).items()
             if key[0] == text.COUNTED and key[2] == "warp instructions" and x > (1 + GREW) * before.get(key, x)]
    if o.check and grown:
        print(f"ptx-report: warp instructions grew by more than {GREW:.0%}: {', '.join(grown)}", file=sys.stderr)
    return not grown


def json_of(state, rows, kernels, predicted, commit, version):
    clean = lambda d: {k: v for k, v in d.items() if k != "mangled"}
    model = Path(state["model"]).stem
    times = lambda p: {"seconds": p.seconds, **{f"{k}_seconds": v for k, v in p.terms.items()}, "launch_seconds": p.launch,
                       "cached_bytes_seconds": p.cached_bytes, "cached_seconds": p.cached_seconds}
    return {"commit": commit, "nvcc": version, "state": {k: v for k, v in state.items() if k != "model"},
            "rows": [{"model": model, **clean(r)} for r in rows], "ptxas": [{"model": model, **clean(k)} for k in kernels],
            "predictions": [{"model": model, "kernel": call, "gpu": p.gpu.name, "worlds_an_sm": p.worlds, "binds": p.binds,
                             **times(p)} for call, p in predicted]}


def main():
    o = arguments()
    program = o.build / "bin/batchsim_ptx_report"
    for path, what in (Path(o.interpreter), "interpreter of PTX"), (program, "program, which needs a build with CUDA,"):
        if not path.is_file():
            raise Failure(f"there is no {what} at {path}")
    name, old = kept_report(o)
    version = ptxas.nvcc_version(o.build.resolve())
    state, rows = counts.count(o.interpreter, program, [o.model, "--worlds", o.worlds, "--precision", o.precision,
                                                        *(["--only", o.only] if o.only else [])])
    kernels = [] if o.no_ptxas else compiled(o, state, rows, version)
    predicted = predictions(state, rows, kernels) if kernels else []
    commit = git_describe()
    written = text.text_of(o, state, rows, kernels, predicted, commit, version)
    result = json.dumps(json_of(state, rows, kernels, predicted, commit, version), indent=1) + "\n"
    if o.json == "-":
        print(result, end="")
        sys.stdout = sys.stderr  # all else
    elif o.json:
        Path(o.json).write_text(result)
    if o.keep:
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(written)
        print(f"written: {name}")
        return 0
    print(written, end="")
    good = compare(o, name, old, written)
    return 1 if o.check and not good else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, OSError) as e:
        print(f"ptx-report: {e}", file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(130)
