"""The report as a page in Markdown."""
from pathlib import Path

import gpus
import tables

COUNTED, COMPILED, PREDICTED = "Counts", "Compiled", "Predictions"  # headings


def count_table(rows):
    rest = ("load_sectors", "store_sectors", "shared_accesses", "shared_conflicts", "barriers", "atomics")
    header = ["call", "kernel", "launches", "warp instructions", "lane use", *(k.replace("_", " ") for k in rest)]
    cells = [[r["kernel"], r["of"], r["launches"], tables.number(r["warp_instructions"]), tables.number(r["lane_use"], 3),
              *(tables.number(r[k]) for k in rest)] for r in rows]
    return tables.table(header, cells, 2)


def compiled_table(kernels):
    header = ["kernel", "for", "registers", "spill stores, B", "spill loads, B", "stack, B", "shared, B", "worlds an SM",
              "limited by"]
    cells = [[k["kernel"], f"sm_{k['arch']}", *(tables.number(k[n]) for n in ("registers", "spill_stores", "spill_loads", "stack")),
              tables.number(k["shared"] + k["dynamic_shared"]), tables.number(k["worlds"]), k["limit"]] for k in kernels]
    return tables.table(header, cells, 2)


def prediction_table(predicted):
    header = ["call", "GPU", "issue, ns", "bytes, ns", "barriers, ns", "a world-step, ns", "binds", "M/s", "cached: bytes, ns",
              "M/s, cached"]
    short = lambda x: f"{x:,.0f}" if x >= 100 else f"{x:.3g}"
    ns = lambda s: short(1e9 * s)
    cells = [[call, p.gpu.name, *(ns(p.terms[t]) for t in ("issue", "bytes", "barriers")), ns(p.seconds), p.binds,
              short(1e-6 / p.seconds), ns(p.cached_bytes), short(1e-6 / p.cached_seconds)] for call, p in predicted]
    return tables.table(header, cells, 2)


def gpu_table():
    header = ["GPU", "for", "SMs", "GHz", "GB/s", "shared memory of an SM, kB", "blocks", "warps"]
    cells = [[g.name, f"sm_{g.arch}", g.sms, f"{g.clock / 1e9:.3f}", f"{g.bandwidth / 1e9:.0f}", gpus.SMS[g.arch].shared // 1024,
              gpus.SMS[g.arch].blocks, gpus.SMS[g.arch].warps] for g in gpus.GPUS]
    return tables.table(header, cells, 2)


def command_of(o):
    return " ".join(["./dev ptx-report", Path(o.model).name, *(["--precision", o.precision] if o.precision != "f32" else []),
                     *(["--worlds", str(o.worlds)] if o.worlds != 4 else [])])


def text_of(o, state, rows, kernels, predicted, commit, version):
    memory = "shared memory" if state["factor_shared"] else "the world's own memory"
    parts = [f"""# What the CUDA kernels do: {Path(state['model']).stem}, {state['precision']}

`{command_of(o)}` at {commit}, nvcc {version}. Counted by an interpreter of PTX and
compiled by ptxas, without a GPU; nothing was timed.

{state['nv']} DoFs, {state['worlds']} worlds standing, 60 steps after the reset; a world has {state['contacts']:.1f} contacts,
{state['rows']:.1f} constraint rows and, in MuJoCo, {state['iterations']:.1f} iterations. M is factored in {memory}
({state['factor_bytes']:,} bytes a world) by {state['factor_members']} threads a world.""",
             f"""## {COUNTED}

A world-step; launches: a call. Barriers are those of warps: a block of two warps that meets once counts 2. Sectors are 32 bytes,
before any cache. Calls of `row_kernel` give a world a thread: few worlds leave most lanes of a warp idle.

{count_table(rows)}"""]
    if kernels:
        parts.append(f"""## {COMPILED}

Shared memory with what a launch adds for M's factor.

{compiled_table(kernels)}""")
    if predicted:
        parts.append(f"""## {PREDICTED}

A model, to be confronted with a first real run: t = max(issue, bytes, barriers) + launches a world-step, with a full GPU.

- issue: a warp instruction a clock and scheduler, {gpus.SCHEDULERS} schedulers an SM
- bytes: all sectors from the GPU's own memory, as if there were no cache. cached: a world's own numbers once, that is M, its factor
  and the right-hand side, and of a step all its memory ({state['world_bytes']:,} bytes, more than is touched) read and written;
  if that is less
- barriers: {gpus.BARRIER} cycles each and a phase of {gpus.PHASE['shared']} (in shared memory) or {gpus.PHASE['global']}
  (in global memory, from L2), by the worlds on all SMs
- launches: {gpus.LAUNCH * 1e6:.0f} us by {gpus.LAUNCH_WORLDS:,} worlds

{prediction_table(predicted)}

{gpu_table()}""")
    return "\n\n".join(parts) + "\n"
