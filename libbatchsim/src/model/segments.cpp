// Segments of the DoF tree, the panels of M, and what a team needs to factor them a level at a time (kernels/panel.h, factor_m.h).
#include <algorithm>
#include <climits>
#include <initializer_list>
#include <string>

#include "batchsim/error.h"
#include "model/compile.h"
#include "model/segment.h"

namespace batchsim {
namespace {

constexpr int kWhole = INT_MAX;  // a chunk of all descendants: where a height has work for all threads without
constexpr int kMaxChunks = 16;   // parts that a sum is split into at most

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
  g.chunk = std::min(std::max(chunk, (g.below + kMaxChunks - 1) / kMaxChunks), std::max(g.below, 1));
  g.nchunk = std::max(1, (g.below + g.chunk - 1) / g.chunk);
}

// columns of a segment's own rows that are not padding, without the right-hand side
int columns_of(const Draft& g) { return g.depth + g.size; }

int tasks_of(const Draft& g) { return g.nchunk * (g.paired ? (columns_of(g) + 1) / 2 : columns_of(g)); }

// Long sums are split so that a height takes a team the fewest instructions, with right-hand sides and without: short chunks give all
// of its threads work, long ones have fewer parts to add; a task of two columns loads less, and a task of one gives work to twice as
// many. Counted in the PTX: 34 and 33 a descendant for 32 tasks of a column, 62 and 53 for two; 41 and 9 a part to add 32 columns
void choose_chunks(std::vector<Draft>& segments, int nheight) {
  for (int h = 1; h < nheight; h++) {
    int best = 1;
    bool best_paired = false;
    long least = LONG_MAX;
    for (int choice = 0; choice < 18; choice++) {
      const int chunk = choice / 2 ? choice / 2 : kWhole;
      const bool paired = choice % 2;
      long tasks = 0, rhs = 0, columns = 0, most = 0, parts = 1;
      for (Draft g : segments) {
        if (g.height != h) continue;
        split(g, chunk, paired);
        tasks += tasks_of(g), rhs += g.nchunk;
        columns += columns_of(g) + 1;
        most = std::max<long>(most, std::min(g.chunk, g.below));
        parts = std::max<long>(parts, g.nchunk);
      }
      const long gather = paired ? 62 + 53 * most : 34 + 33 * most;
      const long combine = parts > 1 ? 6 + (columns + 31) / 32 * (41 + 9 * (parts - 1)) : 0;
      const long cost = ((tasks + 31) / 32 + (tasks + rhs + 31) / 32) * gather + 2 * combine;
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

void push(std::vector<int>& out, std::initializer_list<int> four) { out.insert(out.end(), four); }

// fields of 16 bits in GatherTask and ColumnPlace, and of 26 in Segment, have room for this
void check_room(const std::vector<Draft>& segments, const FlatModel& f) {
  long parts = 0;
  int columns = 0;
  for (const Draft& g : segments) {
    columns = std::max(columns, g.depth + kQuad + 1);
    parts += long(g.depth + kQuad + 1) * g.nchunk;
  }
  if (columns > SHRT_MAX || f.nseg > SHRT_MAX || parts >= 1 << 26)
    throw Error(Error::kCapacity, std::to_string(f.nv) + " degrees of freedom, " + std::to_string(f.nchain) +
                                      " of them in one chain; this tree is too large");
}

// partial sums of the segments whose sums are split; heights use the same ones
void place_parts(std::vector<Draft>& segments, FlatModel& f) {
  f.npart = 0;
  for (int h = 0; h < f.nheight; h++) {
    int npart = 0;
    for (int q = f.height_segadr[h]; q < f.height_segadr[h + 1]; q++) {
      Draft& g = segments[f.seg_order[q]];
      g.part = npart;
      if (g.nchunk > 1) npart += (g.depth + kQuad + 1) * g.nchunk;
    }
    f.npart = std::max(f.npart, npart);
  }
}

// the tasks of column j of segment s; if they are paired, of the one half a panel on too
void list_column(const Draft& g, int s, int j, bool rhs, FlatModel& f) {
  const int n = columns_of(g), half = (n + 1) / 2, second = g.paired && !rhs && j + half <= n ? half : 0;
  for (int c = 0; c < g.nchunk; c++) {
    const int first = c * g.chunk, count = std::min(g.chunk, g.below - first);
    push(f.task, {g.nchunk > 1 ? g.part + j * g.nchunk + c : g.column + j, (s + 1 + first) | count << 16, j | (g.depth + 1) << 16,
                  g.size | g.paired << 3 | g.nchunk << 4 | second << 16});
  }
}

// what the members of a team do at each height
void list_tasks(const std::vector<Draft>& segments, FlatModel& f) {
  for (int h = 0; h < f.nheight; h++) {
    const int begin = f.height_segadr[h], end = f.height_segadr[h + 1], task = static_cast<int>(f.task.size() / 4);
    bool split = false;
    const int first_column = static_cast<int>(f.column.size() / 2);
    for (int q = begin; q < end; q++) {
      const int s = f.seg_order[q];
      const Draft& g = segments[s];
      split |= g.nchunk > 1;
      for (int j = 0; j <= columns_of(g); j++) {
        f.column.push_back(g.column + j);
        f.column.push_back(s << 16 | ((j - 1 - g.depth) & 0xffff) | (j ? 0 : INT_MIN));
      }
      for (int j = 1; j <= tasks_of(g) / g.nchunk && h > 0; j++) list_column(g, s, j, false, f);
    }
    push(f.height, {task, static_cast<int>(f.task.size() / 4), first_column, split});
    for (int q = begin; q < end && h > 0; q++) list_column(segments[f.seg_order[q]], f.seg_order[q], 0, true, f);
  }
  f.ntask = static_cast<int>(f.task.size() / 4);
  f.ncolumn = static_cast<int>(f.column.size() / 2);
  push(f.height, {f.ntask, f.ntask, f.ncolumn, 0});
}

void list_right_hand_sides(const std::vector<Draft>& segments, FlatModel& f) {
  for (int k = 0; k < f.nv; k++) f.dof_rhs.push_back(kQuad * segments[f.dof_seg[k]].column + k - segments[f.dof_seg[k]].dof);
}

// from the roots: at level 0 these alone, then at each level all segments that have an ancestor in the level before
void list_back_steps(const std::vector<Draft>& segments, FlatModel& f) {
  f.level_stepadr = {0};
  for (int level = 0; level < f.nseglevel; level++) {
    for (const Draft& g : segments) {
      if (g.level < level) continue;
      if (level == 0 && g.level > 0) continue;
      const Draft* k = &g;
      while (k->level > level - 1 && k->parent >= 0) k = &segments[k->parent];
      push(f.back_step, {g.column, g.column + 1 + k->depth, k->column, g.level == level ? g.column + 1 + g.depth : -1});
    }
    f.level_stepadr.push_back(static_cast<int>(f.back_step.size() / 4));
  }
  f.nbackstep = f.level_stepadr.back();
}

}  // namespace

void build_segments(FlatModel& f) {
  std::vector<Draft> segments = find_segments(f);
  f.nseg = static_cast<int>(segments.size());
  f.nheight = f.nseglevel = 0;
  for (const Draft& g : segments) f.nheight = std::max(f.nheight, g.height + 1), f.nseglevel = std::max(f.nseglevel, g.level + 1);
  choose_chunks(segments, f.nheight);
  check_room(segments, f);
  place_panels(segments, f);
  place_parts(segments, f);
  list_tasks(segments, f);
  list_right_hand_sides(segments, f);
  list_back_steps(segments, f);
  for (const Draft& g : segments) {
    f.seg_dof.push_back(g.dof), f.seg_size.push_back(g.size);
    push(f.segment, {g.column, g.column + 1 + g.depth, g.size | g.below << 3, g.nchunk | g.part << 5});
  }
}

}  // namespace batchsim
