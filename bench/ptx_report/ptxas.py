"""Registers, spills and shared memory of each kernel on each architecture: nvcc makes PTX once, ptxas compiles it for each.

Both are slow, and both are kept in the build folder: the PTX as long as none of its sources changes, what ptxas says by a hash of a
kernel's PTX.
"""
import hashlib
import json
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from failure import Failure

JOBS = 2


def build_command(build):
    """How the build compiles one of its CUDA files, from compile_commands.json."""
    try:
        commands = json.loads((build / "compile_commands.json").read_text())
    except OSError:
        raise Failure(f"there is no {build / 'compile_commands.json'}; configure the build first") from None
    like = next((c for c in commands if c["file"].endswith("engine_f32.cu")), None)
    if not like:
        raise Failure(f"{build} is built without CUDA; see BATCHSIM_CUDA in README.md")
    return like


def nvcc_version(build):
    """Of the build's own nvcc, for example "13.0, V13.0.88"."""
    nvcc = shlex.split(build_command(build)["command"])[0]
    try:
        text = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise Failure(f"there is no {nvcc} any more; build again with the one that there is") from None
    release = re.search(r"release (.*)", text)
    return release[1] if release else text.strip().splitlines()[-1]


def ptxas_of(build):
    beside = Path(shlex.split(build_command(build)["command"])[0]).with_name("ptxas")
    return str(beside) if beside.is_file() else "ptxas"


def compile_command(build, source):
    """The same for another source, to PTX and without what only a debugger needs."""
    like = build_command(build)
    words, keep = shlex.split(like["command"]), []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-gencode", "-arch", "-x", "-MF", "-MT"):
            skip = word != "-c"
        elif word != like["file"] and not re.match(r"--generate-code|-gencode=|-arch=|-lineinfo|--generate-line-info|-g\d?$|-M", word):
            keep.append(word)
    return [*keep, "-ptx", str(source)], like["directory"]


def digest(*parts):
    h = hashlib.sha256()
    for part in parts:
        h.update(part if isinstance(part, bytes) else str(part).encode())
        h.update(b"\0")
    return h.hexdigest()[:24]


def state_of(command, version, files):
    return digest(*command, version, *(Path(f).read_bytes() if Path(f).is_file() else b"" for f in files))


def make_ptx(build, cache, source, arch, version):
    """The PTX of a source for the oldest architecture; a new one where a file that it includes has changed."""
    command, directory = compile_command(build, source)
    command.append(f"-arch=compute_{arch}")
    ptx, known = cache / (source.stem + ".ptx"), cache / (source.stem + ".json")
    if ptx.is_file() and known.is_file():
        last = json.loads(known.read_text())
        if last["state"] == state_of(command, version, last["files"]):
            return ptx.read_text()
    say(f"nvcc {source.name} to PTX")
    depends = cache / (source.stem + ".d")
    run = subprocess.run([*command, "-o", str(ptx), "-MMD", "-MF", str(depends)], cwd=directory, capture_output=True, text=True)
    if run.returncode:
        raise Failure(f"nvcc does not compile {source}:\n{run.stderr.strip()}")
    files = shlex.split(depends.read_text().split(":", 1)[1].replace("\\\n", " "))
    files = sorted(str(Path(directory, f).resolve()) for f in files)
    known.write_text(json.dumps({"state": state_of(command, version, files), "files": files}))
    return ptx.read_text()


def kernels_of(ptx):
    """{mangled name: PTX of this kernel alone}, the same text wherever in the file it stood."""
    starts = [m.start() for m in re.finditer(r"^\.(?:visible |weak )?\.?entry ", ptx, re.M)]
    head = ptx[:starts[0]] if starts else ""
    # comments name the source's hash, and so do variables of the standard library that no kernel uses
    head = re.sub(r"^[ \t]*(?://.*)?\n", "", head, flags=re.M)
    variables = {v: d for d, v in re.findall(r"^(\.(?:global|const)\s.*?\b(\w+)(?:\[\d*\])?(?:\s*=[^;]*)?;\n)", head, re.M)}
    found = {}
    for start, end in zip(starts, [*starts[1:], len(ptx)]):
        text = re.sub(r"(\$L_{2,3}BB|__local_depot)\d+", r"\1", ptx[start:end])
        text = re.sub(r"^\s*// \.globl.*\n", "", text, flags=re.M).rstrip() + "\n"
        own = head
        for name, declaration in variables.items():
            if name not in text:
                own = own.replace(declaration, "")
        found[re.search(r"entry (\w+)", text)[1]] = own + text
    return found


def compile_kernel(cache, ptxas, kernel, text, arch, version):
    """What ptxas says of one kernel; from the cache where it has said it before."""
    place = cache / f"{digest(text, version)}-sm_{arch}.json"
    if place.is_file():
        return json.loads(place.read_text())
    source = cache / f"{digest(text, version)}-sm_{arch}.ptx"
    source.write_text(text)
    # no fused multiply-adds, as in the build
    command = [ptxas, f"-arch=sm_{arch}", "-v", "--fmad", "false", str(source), "-o", "/dev/null"]
    run = subprocess.run(command, capture_output=True, text=True)
    source.unlink()
    said = run.stdout + run.stderr
    if run.returncode or "registers" not in said:
        raise Failure(f"ptxas does not compile {kernel} for sm_{arch}: {said.strip()}")

    def number(pattern):
        m = re.search(pattern, said)
        return int(m[1]) if m else 0

    result = {"registers": number(r"Used (\d+) registers"), "spill_stores": number(r"(\d+) bytes spill stores"),
              "spill_loads": number(r"(\d+) bytes spill loads"), "stack": number(r"(\d+) bytes stack frame"),
              "shared": number(r"(\d+) bytes smem")}
    place.write_text(json.dumps(result))
    return result


def say(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def compile_all(cache, ptxas, texts, archs, version):
    """{(kernel, architecture): what ptxas says} of {mangled name: PTX}."""
    results, start, shown = {}, time.monotonic(), 0.0
    with ThreadPoolExecutor(JOBS) as pool:
        jobs = {pool.submit(compile_kernel, cache, ptxas, kernel, text, arch, version): (kernel, arch)
                for kernel, text in texts.items() for arch in archs}
        try:
            for job in as_completed(jobs):
                results[jobs[job]] = job.result()
                spent = time.monotonic() - start
                if spent - shown > (0.1 if sys.stderr.isatty() else 10):
                    say(f"ptxas: {len(results)} of {len(jobs)} done, {spent:.0f} s")
                    shown = spent
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return results
