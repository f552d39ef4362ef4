// Segments of the DoF tree, the panels of M, and what a team needs to factor them a level at a time (kernels/panel.h, factor_m.h).
#include <algorithm>
#include <climits>
#include <string>

#include "batchsim/error.h"
#include "model/compile.h"
#include "model/segment.h"

namespace batchsim {
namespace {

constexpr int kMaxChunks = 16;  // parts that a sum is split into at most

struct Draft {
  int dof, size = 1, depth, below = 0, height = 0, level = 0, parent = -1, column = 0, part = 0, nchunk = 1, chunk = 1;
  bool paired = false;
};

// runs of one unbranched chain, at most kQuad long
std::vector<Draft> find_segments(FlatModel& f) {
  std::vector<int> children(f.nv, 0);
  for (int p : f.dof_parentid)
    if (p >= 0) children[p]++;
  std::vector<Draft> segments;
  f.dof_seg.resize(f.nv);
  for (int k = 0; k < f.nv; k++) {
    const int p = f.dof_parentid[k];
    const bool goes_on = p >= 0 && p == k - 1 && children[p] == 1 && segments.back().size < kQuad;
    if (goes_on)
      segments.back().size++;
    else
      segments.push_back({.dof = k, .depth = f.dof_depth[k], .parent = p < 0 ? -1 : f.dof_seg[p]});
    f.dof_seg[k] = static_cast<int>(segments.size()) - 1;
  }
  for (int s = static_cast<int>(segments.size()) - 1; s >= 0; s--) {
    Draft& g = segments[s];
    if (g.parent < 0) continue;
    Draft& p = segments[g.parent];
    p.height = std::max(p.height, g.height + 1);
    p.below += g.below + 1;
  }
  for (Draft& g : segments)
    if (g.parent >= 0) g.level = segments[g.parent].level + 1;
  return segments;
}

void split(Draft& g, int chunk, bool paired) {
  g.paired = paired;
  g.chunk = std::max(chunk, (g.below + kMaxChunks - 1) / kMaxChunks);
  g.nchunk = std::max(1, (g.below + g.chunk - 1) / g.chunk);
}

// Long sums are split so that a height takes a team the fewest instructions: short chunks give all of its threads work, long ones have
// fewer parts to add; a task of two columns loads less, and a task of one gives work to twice as many. Counted in the PTX: 65 and 34 a
// descendant for 32 tasks of a column, 75 and 53 for two; 50 and 6 a part to add 32 columns
void choose_chunks(std::vector<Draft>& segments, int nheight) {
  for (int h = 1; h < nheight; h++) {
    int best = 1;
    bool best_paired = false;
    long least = LONG_MAX;
    for (int choice = 2; choice < 18; choice++) {
      const int chunk = choice / 2;
      const bool paired = choice % 2;
      long tasks = 0, columns = 0, most = 0, parts = 1;
      for (Draft g : segments) {
        if (g.height != h) continue;
        split(g, chunk, paired);
        tasks += long(g.nchunk) * (paired ? (g.depth + kQuad + 1) / 2 : g.depth + kQuad);
        columns += g.depth + kQuad;
        most = std::max<long>(most, std::min(g.chunk, g.below));
        parts = std::max<long>(parts, g.nchunk);
      }
      const long cost = (tasks + 31) / 32 * (paired ? 75 + 53 * most : 65 + 34 * most) +
                        (parts > 1 ? 20 + (columns + 31) / 32 * (50 + 6 * parts) : 0);
      if (cost < least) least = cost, best = chunk, best_paired = paired;
    }
    for (Draft& g : segments)
      if (g.height == h) split(g, best, best_paired);
  }
}

// columns of the panels, segments of one height together
void place_panels(std::vector<Draft>& segments, FlatModel& f) {
  long columns = 0;
  f.height_segadr = {0};
  for (int h = 0; h < f.nheight; h++) {
    for (int s = 0; s < f.nseg; s++) {
      Draft& g = segments[s];
      if (g.height != h) continue;
      g.column = static_cast<int>(columns);
      columns += g.depth + kQuad + 1;
      if (columns > INT_MAX / 16) throw Error(Error::kCapacity, "M has too many entries");
      f.seg_order.push_back(s);
      for (int a = 0; a <= g.depth + kQuad; a++) f.col_seg.push_back(s);
    }
    f.height_segadr.push_back(static_cast<int>(f.seg_order.size()));
  }
  f.ncol = static_cast<int>(columns);
  f.nM = kQuad * f.ncol;

  f.M_colind.assign(f.ncol, -1);
  for (int s = 0; s < f.nseg; s++) {
    const Draft& g = segments[s];
    for (int k = g.dof + g.size - 1; k >= 0; k = f.dof_parentid[k]) f.M_colind[g.column + 1 + f.dof_depth[k]] = k;
  }
  for (int k = 0; k < f.nv; k++) {
    const Draft& g = segments[f.dof_seg[k]];
    f.M_coladr.push_back(g.column + 1);
    f.M_rowadr.push_back(kQuad * (g.column + 1) + k - g.dof);
  }
}

// What the members of a team do at each height. A task is a column of a segment, the one half a panel on, and a chunk of descendants;
// those of right-hand sides, columns 0, come last. Columns are listed likewise
void list_tasks(std::vector<Draft>& segments, FlatModel& f) {
  int most_columns = 0, most_chunks = 1;
  for (const Draft& g : segments) {
    most_columns = std::max(most_columns, g.depth + kQuad + 1);
    most_chunks = std::max(most_chunks, g.nchunk);
  }
  const auto bits = [](int n) {
    int b = 0;
    while (1 << b < n) b++;
    return b;
  };
  f.task_colbit = bits(f.nseg), f.task_chunkbit = f.task_colbit + bits(most_columns);
  if (f.task_chunkbit + bits(most_chunks) > 31 || most_columns > 0x7fff || f.nseg > 0x7fff)
    throw Error(Error::kCapacity, std::to_string(f.nv) + " degrees of freedom, " + std::to_string(f.nchain) +
                                      " of them in one chain; this tree is too large");
  f.npart = 0;
  f.height_task = {0}, f.height_column = {0};
  for (int h = 0; h < f.nheight; h++) {
    int npart = 0;
    for (int q = f.height_segadr[h]; q < f.height_segadr[h + 1]; q++) {
      Draft& g = segments[f.seg_order[q]];
      g.part = npart;
      if (g.nchunk > 1) npart += (g.depth + kQuad + 1) * g.nchunk;
    }
    f.npart = std::max(f.npart, npart);
    f.height_split.push_back(npart > 0);
    for (const bool rhs : {false, true}) {
      for (int q = f.height_segadr[h]; q < f.height_segadr[h + 1]; q++) {
        const int s = f.seg_order[q], n = segments[s].depth + kQuad, half = segments[s].paired ? (n + 1) / 2 : n;
        const int first = rhs ? 0 : 1, ntask = rhs ? 1 : half, ncolumn = rhs ? 1 : n;
        for (int j = first; j < first + ntask && h > 0; j++)
          for (int c = 0; c < segments[s].nchunk; c++) f.task.push_back(s | j << f.task_colbit | c << f.task_chunkbit);
        for (int j = first; j < first + ncolumn; j++) f.column.push_back(s | j << f.task_colbit);
      }
      f.height_task.push_back(static_cast<int>(f.task.size()));
      f.height_column.push_back(static_cast<int>(f.column.size()));
    }
  }
  f.ntask = static_cast<int>(f.task.size());
}

// from the roots: segments by level, each segment's chain of ancestor segments
void list_levels(const std::vector<Draft>& segments, FlatModel& f) {
  f.level_segadr = {0};
  for (int l = 0; l < f.nseglevel; l++) {
    for (int s = 0; s < f.nseg; s++)
      if (segments[s].level == l) f.seg_bylevel.push_back(s);
    f.level_segadr.push_back(static_cast<int>(f.seg_bylevel.size()));
  }
  for (const Draft& g : segments) {
    f.seg_chainadr.push_back(static_cast<int>(f.seg_chain.size()));
    f.seg_chain.resize(f.seg_chain.size() + g.level);
    for (int p = g.parent; p >= 0; p = segments[p].parent) f.seg_chain[f.seg_chainadr.back() + segments[p].level] = p;
  }
  f.nsegchain = static_cast<int>(f.seg_chain.size());
}

}  // namespace

void build_segments(FlatModel& f) {
  std::vector<Draft> segments = find_segments(f);
  f.nseg = static_cast<int>(segments.size());
  f.nheight = f.nseglevel = 0;
  for (const Draft& g : segments) f.nheight = std::max(f.nheight, g.height + 1), f.nseglevel = std::max(f.nseglevel, g.level + 1);
  choose_chunks(segments, f.nheight);
  place_panels(segments, f);
  list_tasks(segments, f);
  list_levels(segments, f);
  for (const Draft& g : segments) {
    f.seg_dof.push_back(g.dof), f.seg_size.push_back(g.size);
    const Segment packed{g.column, g.depth | g.below << 16, g.size | g.paired << 3 | g.nchunk << 4 | g.chunk << 12, g.part};
    for (int x : {packed.column, packed.place, packed.shape, packed.part}) f.segment.push_back(x);
  }
}

}  // namespace batchsim
