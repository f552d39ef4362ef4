#!/usr/bin/env python3
"""Draws what stance train and stance sweep wrote; needs matplotlib.

plot.py RUN [RUN...] [--out PNG]   learning curves of the runs in these folders (log.csv); the picture goes into the first one
plot.py SWEEP [--out PNG]          time to solved against the number of worlds (a folder with sweep.csv)
"""
import csv
import os
import sys

COLOURS = ['#377eb8', '#d95f02', '#1b9e77', '#7b3294', '#e7298a', '#666666']


def read(path):
    with open(path, newline='') as f:
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)]
    if not rows:
        sys.exit(f'{path} has no rows yet')
    return rows


def curves(folders, out):
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(3, 1, sharex=True, figsize=(9, 9), constrained_layout=True)
    for i, folder in enumerate(folders):
        rows = read(os.path.join(folder, 'log.csv'))
        steps = [r['control_steps'] / 1e6 for r in rows]
        colour = COLOURS[i % len(COLOURS)]
        axes[0].step(steps, [r['amplitude'] for r in rows], color=colour, where='post', label=os.path.basename(os.path.abspath(folder)))
        # of the episodes that ended in the last 32 iterations, whatever their level
        falls = []
        for k in range(len(rows)):
            recent = rows[max(0, k - 31):k + 1]
            ended = sum(r['episodes'] for r in recent)
            falls.append(100 * sum(r['fall_share'] * r['episodes'] for r in recent) / ended if ended else float('nan'))
        axes[1].plot(steps, falls, color=colour, lw=1.2)
        axes[2].plot(steps, [r['reward'] for r in rows], color=colour, lw=1)
        end = rows[-1]
        axes[0].annotate(f"{end['time_elapsed']:.0f} s, {end['iteration'] + 1:.0f} iterations", (steps[-1], end['amplitude']),
                         textcoords='offset points', xytext=(-4, -24 - 12 * i), ha='right', fontsize=9, color=colour)
    axes[0].set_ylabel('amplitude of the bounce')
    axes[0].legend(loc='upper left', fontsize=9)
    axes[1].set_ylabel('episodes that end in a fall, %')
    axes[1].axhline(10, color='#aaaaaa', lw=0.8, ls='--')
    axes[1].axhline(5, color='#aaaaaa', lw=0.8)
    axes[1].annotate('raised below 10 %, solved below 5 %', (0.99, 0.30), xycoords='axes fraction', ha='right', fontsize=9,
                     color='#666666')
    axes[1].set_ylim(-2, 102)
    axes[2].set_ylabel('reward of a control step, 0 to 1')
    axes[2].set_xlabel('control steps, millions')
    for a in axes:
        a.grid(alpha=0.25)
    figure.savefig(out, dpi=110)


def sweep(folder, out):
    import matplotlib.pyplot as plt
    rows = read(os.path.join(folder, 'sweep.csv'))
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), constrained_layout=True)
    worlds = sorted({r['worlds'] for r in rows})
    for axis, title, value in [
        (axes[0], 'seconds to solved', lambda r: r['seconds']),
        (axes[1], 'iterations to solved', lambda r: r['iterations']),
        (axes[2], 'control steps to solved, millions', lambda r: r['control_steps'] / 1e6),
    ]:
        mean = []
        for w in worlds:
            solved = [value(r) for r in rows if r['worlds'] == w and r['solved']]
            mean.append(sum(solved) / len(solved) if solved else float('nan'))
        axis.plot(worlds, mean, '-', color=COLOURS[0], lw=1)
        for r in rows:
            axis.plot(r['worlds'], value(r), 'o' if r['solved'] else 'x', color=COLOURS[0] if r['solved'] else COLOURS[1])
        axis.set_xscale('log', base=2)
        axis.set_xticks(worlds, [f'{w:.0f}' for w in worlds])
        axis.margins(y=0.1)
        axis.set_ylim(bottom=0)
        axis.set_xlabel('worlds (a cross: not solved)')
        axis.set_title(title)
        axis.grid(alpha=0.25)
    figure.savefig(out, dpi=110)


def main(arguments):
    out = None
    if '--out' in arguments:
        i = arguments.index('--out')
        if i + 1 >= len(arguments):
            sys.exit('--out needs a file')
        out = arguments[i + 1]
        arguments = arguments[:i] + arguments[i + 2:]
    if not arguments or arguments[0] in ('-h', '--help'):
        sys.exit(__doc__.strip())
    try:
        import matplotlib
    except ImportError:
        sys.exit('plot.py needs matplotlib: python3 -m pip install matplotlib, or apt-get install python3-matplotlib')
    matplotlib.use('Agg')
    try:
        if os.path.exists(os.path.join(arguments[0], 'sweep.csv')):
            out = out or os.path.join(arguments[0], 'sweep.png')
            sweep(arguments[0], out)
        else:
            out = out or os.path.join(arguments[0], 'curve.png')
            curves(arguments, out)
    except OSError as error:
        sys.exit(f'{error}; name the folder of a run or of a sweep')
    print(out)


main(sys.argv[1:])
