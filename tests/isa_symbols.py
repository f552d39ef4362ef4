#!/usr/bin/env python3
"""Would a program fail on a processor without AVX because of what the linker chose?

isa_symbols.py NM ARCHIVE...: of an inline function or a template that several object files have made, the linker keeps the first.
Such a symbol of a file that is compiled for a newer instruction set (named after it) must therefore be one of its own namespace, which
has the set's name in it, or must have been made by an earlier file.
"""

import os
import re
import subprocess
import sys

NEWER = re.compile("avx2|avx512")


def weak_symbols(nm, archive):
    """(member, symbol) of code in the order of the archive."""
    member = None
    for line in subprocess.run([nm, archive], check=True, capture_output=True, text=True).stdout.splitlines():
        if line.endswith(":"):
            member = os.path.basename(line[:-1])
        elif re.match("[0-9a-f]+ W ", line):
            yield member, line.split()[2]


def main(nm, archives):
    bad, newer = [], 0
    for archive in archives:
        made = set()  # another archive's may be linked later
        for member, symbol in weak_symbols(nm, archive):
            if not NEWER.search(member):
                made.add(symbol)
            elif not NEWER.search(symbol):
                newer += 1
                if symbol not in made:
                    bad.append(f"{symbol}: of {os.path.basename(archive)}, {member} is the first to make it")
    print("\n".join(sorted(set(bad))))
    print(f"{newer} shared symbols in files of newer instruction sets, {len(bad)} of them not made before")
    return 1 if bad else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
