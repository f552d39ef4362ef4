#!/usr/bin/env python3
"""Draws the pictures of docs/factorisation.md.

  pip install mujoco==4.0.0 matplotlib
  docs/figures/factorisation.py [MODEL]     writes factor_fill.png and factor_heights.png beside itself; default models/muscular.xml
"""
import pathlib
import sys

try:
  import matplotlib
  matplotlib.use('Agg')
  import matplotlib.pyplot as plt
  import mujoco
  import numpy as np
except ImportError as e:
  sys.exit(f'factorisation.py: {e.name} is missing; pip install mujoco==4.0.0 matplotlib')

HERE = pathlib.Path(__file__).resolve().parent
BLUE, ORANGE, GREY = '#2c6fbb', '#e07b39', '#c9ced6'


def segments(parent):
  """Runs of up to four DoFs of one unbranched chain, as libbatchsim/src/model/segments.cpp makes them: lists of DoFs, segment of each."""
  n = len(parent)
  children = np.bincount(parent[parent >= 0], minlength=n)
  runs, of = [], np.zeros(n, int)
  for k, p in enumerate(parent):
    if p >= 0 and p == k - 1 and children[p] == 1 and len(runs[-1]) < 4:
      runs[-1].append(k)
    else:
      runs.append([k])
    of[k] = len(runs) - 1
  return runs, of


def pattern(parent):
  A = np.zeros((len(parent), len(parent)), bool)
  for k in range(len(parent)):
    j = k
    while j >= 0:
      A[k, j] = True
      j = parent[j]
  return A


def fill_from_root(A):
  """The pattern of the factor when the root is eliminated first, as a dense Cholesky goes."""
  L = A | A.T
  for k in range(len(L)):
    below = np.flatnonzero(L[k + 1:, k]) + k + 1
    L[np.ix_(below, below)] = True
  return np.tril(L)


def draw_fill(parent, of, path):
  A, F = pattern(parent), fill_from_root(pattern(parent))
  n = len(parent)
  fig, axes = plt.subplots(1, 3, figsize=(13, 4.9))
  for ax, title, base, extra in ((axes[0], f'M: {A.sum():,} entries', A, None),
                                 (axes[1], f"L of L'DL, leaves first: {A.sum():,}", A, None),
                                 (axes[2], f"L of LL', root first: {F.sum():,}", A, F & ~A)):
    image = np.ones((n, n, 3))
    colours = [matplotlib.colors.to_rgb(c) for c in ('#2c6fbb', '#7fb0df')]
    for i, j in zip(*np.nonzero(base)):
      image[i, j] = colours[of[i] % 2]
    if extra is not None:
      image[extra] = matplotlib.colors.to_rgb(ORANGE)
    ax.imshow(image, interpolation='nearest')
    ax.set_title(title, fontsize=11)
    ax.set_xlabel('DoF')
    ax.set_xticks([0, n - 1])
    ax.set_yticks([0, n - 1])
  axes[0].set_ylabel('DoF')
  fig.text(.5, .01, 'blue: entries of the tree\'s pattern, two shades for the rows of neighbouring segments; orange: fill', ha='center', fontsize=10)
  fig.tight_layout(rect=(0, .04, 1, 1))
  fig.savefig(path, dpi=110)


def draw_heights(parent, runs, of, path):
  ns = len(runs)
  up = [of[parent[r[0]]] if parent[r[0]] >= 0 else -1 for r in runs]
  height = [0] * ns
  for s in reversed(range(ns)):
    if up[s] >= 0:
      height[up[s]] = max(height[up[s]], height[s] + 1)
  # leaves in order, parents above the middle of their children
  x, leaf = [0.] * ns, 0
  kids = [[c for c in range(ns) if up[c] == s] for s in range(ns)]
  for s in reversed(range(ns)):
    if kids[s]:
      x[s] = sum(x[c] for c in kids[s]) / len(kids[s])
    else:
      x[s], leaf = leaf, leaf + 1
  fig, ax = plt.subplots(figsize=(12, 5.6))
  for s in range(ns):
    if up[s] >= 0:
      ax.plot([x[s], x[up[s]]], [height[s], height[up[s]]], color=GREY, lw=1.6, zorder=1)
  depth = {k: 0 if parent[k] < 0 else None for k in range(len(parent))}
  for k in range(len(parent)):
    depth[k] = 0 if parent[k] < 0 else depth[parent[k]] + 1
  for s, r in enumerate(runs):
    for i in range(4):
      ax.add_patch(plt.Rectangle((x[s] - .36 + .18 * i, height[s] - .17), .18, .34, zorder=2, lw=.8, ec='white',
                                 fc=BLUE if i < len(r) else '#e8ecf1'))
    ax.text(x[s], height[s] + .22, f'{r[0]}–{r[-1]}' if len(r) > 1 else f'{r[0]}', ha='center', va='bottom', fontsize=8,
            bbox=dict(fc='white', ec='none', pad=.4), zorder=3)
  ax.set_xticks([])
  ax.set_ylabel('height: barriers wait here')
  ax.set_yticks(range(max(height) + 1))
  ax.set_xlim(-.8, leaf - .2)
  ax.set_ylim(-.5, max(height) + .7)
  for side in ('top', 'right', 'bottom'):
    ax.spines[side].set_visible(False)
  ax.set_title(f'{len(parent)} DoFs in {ns} segments of up to four, {max(height) + 1} heights; leaves are eliminated first', fontsize=11)
  fig.tight_layout()
  fig.savefig(path, dpi=110)


def main():
  model = sys.argv[1] if len(sys.argv) > 1 else HERE.parent.parent / 'models' / 'muscular.xml'
  parent = np.array(mujoco.MjModel.from_xml_path(str(model)).dof_parentid)
  runs, of = segments(parent)
  draw_fill(parent, of, HERE / 'factor_fill.png')
  draw_heights(parent, runs, of, HERE / 'factor_heights.png')


if __name__ == '__main__':
  main()
