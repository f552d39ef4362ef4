#!/usr/bin/env python3
"""Draws what bench_factor --json wrote: the time of each method over the tree's, against the degrees of freedom.

plot_factor.py JSON [PNG]     the picture goes beside the JSON unless PNG is given

A panel a kind of tree, the bodies in one of their own; bars from the least to the largest round.
"""
import json
import os
import sys

# method: colour, marker
STYLE = {
    'levels': ('#7b3294', 'D'),
    'dense': ('#d95f02', 'o'),
    'cusolver': ('#1b9e77', 's'),
    'eigen': ('#1b9e77', 's'),
    'mujoco': ('#377eb8', '^'),
    'exact': ('#888888', 'v'),
}
NAMES = {
    'levels': 'a launch a level',
    'dense': 'dense, our own',
    'cusolver': 'cuSOLVER',
    'eigen': 'Eigen LLT, a world at a time',
    'mujoco': 'MuJoCo in f64, a world at a time',
    'exact': 'tree, a world at a time',
}
SHAPES = ['chain', 'star', 'humanoid', 'random']


def groups_of(rows):
    """Panels: title, rows; the bodies first."""
    bodies = [r for r in rows if r['model'] not in SHAPES]
    groups = [('bodies: ' + ', '.join(dict.fromkeys(r['model'] for r in bodies)), bodies)] if bodies else []
    for shape in SHAPES:
        of_shape = [r for r in rows if r['model'] == shape]
        if of_shape:
            groups.append((shape, of_shape))
    return groups


def draw_panel(axes, title, rows):
    nvs = sorted({r['nv'] for r in rows})
    for method, (colour, marker) in STYLE.items():
        points = sorted((r for r in rows if r['method'] == method), key=lambda r: r['nv'])
        if not points:
            continue
        ratio = [r['ratio_to_tree'] for r in points]
        middle = [x['median'] for x in ratio]
        spread = [[x['median'] - x['min'] for x in ratio], [x['max'] - x['median'] for x in ratio]]
        axes.errorbar([r['nv'] for r in points], middle, spread, color=colour, marker=marker, markersize=5, linewidth=1.6,
                      elinewidth=1, capsize=2, label=NAMES[method])
    axes.axhline(1, color='black', linewidth=1.2)
    axes.set_xscale('log')
    axes.set_yscale('log')
    axes.set_xticks(nvs, [str(n) for n in nvs])
    axes.minorticks_off()
    axes.set_title(title, fontsize=11)
    axes.grid(color='#e6e6e6')
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)


def draw(data):
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, FuncFormatter

    groups = groups_of(data['rows'])
    columns = min(3, len(groups))
    lines = -(-len(groups) // columns)
    # the last place is the legend's, if one is left over
    spare = columns * lines > len(groups)
    width = 4.3 * columns if spare or columns == 3 else max(8.6, 4.3 * columns)
    figure, grid = plt.subplots(lines, columns, figsize=(width, 3.5 * lines + (0.7 if spare else 1.2)), sharey=True, squeeze=False)
    places = list(grid.flat)
    for axes, (title, rows) in zip(places, groups):
        draw_panel(axes, title, rows)
    low, high = places[0].get_ylim()
    ticks = [t for t in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if low <= t <= high]
    places[0].yaxis.set_major_locator(FixedLocator(ticks))
    places[0].yaxis.set_major_formatter(FuncFormatter(lambda y, _: f'{y:g}'))
    for line in grid:
        line[0].set_ylabel('time / time of the tree')
    for i, axes in enumerate(places[:len(groups)]):
        if i + columns >= len(groups):
            axes.set_xlabel('degrees of freedom')
            axes.tick_params(labelbottom=True)
    for axes in places[len(groups):]:
        axes.axis('off')
    handles = {}
    for axes in places[:len(groups)]:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    handles['the tree'] = places[0].lines[-1]
    if len(places) > len(groups):
        places[-1].legend(handles.values(), handles.keys(), loc='center', frameon=False, fontsize=11)
    else:
        ncols = len(handles) if columns == 3 or len(handles) <= 4 else 3
        figure.legend(handles.values(), handles.keys(), loc='lower center', ncols=ncols, frameon=False)
    tree = next((r for r in data['rows'] if r['method'] == 'tree'), data['rows'][0])
    device = 'CUDA' if tree['device'] == 'cuda' else 'one thread, tree and dense in SIMD lanes'
    wide = columns == 3
    figure.suptitle(f"Factor M and solve with it, {tree['precision']}: {data['machine']},{' ' if wide else chr(10)}{device}, "
                    f"{data['rounds']} rounds", fontsize=13 if wide else 11)
    figure.tight_layout(rect=(0, 0 if len(places) > len(groups) else 0.09, 1, 1))
    return figure


def main():
    if sys.argv[1:] and sys.argv[1] in ('-h', '--help'):
        print(__doc__.strip())
        return
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith('-'):
        sys.exit(__doc__.strip())
    source = sys.argv[1]
    png = sys.argv[2] if len(sys.argv) == 3 else os.path.splitext(source)[0] + '.png'
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        sys.exit('plot_factor.py: matplotlib is missing; python3 -m pip install matplotlib')
    try:
        with open(source) as file:
            data = json.load(file)
        if not data['rows']:
            sys.exit(f'plot_factor.py: {source} has no rows')
        figure = draw(data)
    except OSError as e:
        sys.exit(f'plot_factor.py: cannot read {source} ({e.strerror})')
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        sys.exit(f'plot_factor.py: {source} is not what bench_factor --json writes ({type(e).__name__}: {e})')
    try:
        figure.savefig(png, dpi=110)
    except OSError as e:
        sys.exit(f'plot_factor.py: cannot write {png} ({e.strerror})')
    except ValueError as e:  # matplotlib's, about the ending
        sys.exit(f'plot_factor.py: cannot write {png} ({e})')
    print(png)


if __name__ == '__main__':
    main()
