// Segments of the DoF tree and what a team does to factor them, as kernels see it: two or four integers, which a GPU loads at once
// (kernels/panel.h, kernels/factor_team.h). Columns are those of all panels, one after another.
#pragma once

#ifdef __CUDACC__
#define BS_SEGMENT_FN __host__ __device__ inline
#else
#define BS_SEGMENT_FN inline
#endif

namespace batchsim {

inline constexpr int kQuad = 4;  ///< most DoFs of a segment, rows of a panel

struct alignas(16) Segment {
  int column;    ///< first column of its panel, a right-hand side; then the first ancestor
  int triangle;  ///< first column of its own DoFs
  int shape;     ///< DoFs, and 8 times its descendant segments
  int parts;     ///< chunks its sums are split into, and 32 times the first partial sum

  BS_SEGMENT_FN int depth() const { return triangle - column - 1; }
  BS_SEGMENT_FN int size() const { return shape & 7; }
  BS_SEGMENT_FN int below() const { return shape >> 3; }
  BS_SEGMENT_FN int nchunk() const { return parts & 31; }
  BS_SEGMENT_FN int part() const { return parts >> 5; }
};

/// a column that is not padding
struct alignas(8) ColumnPlace {
  int column;
  int place;  ///< 65,536 times its segment, plus in 16 bits its distance from the segment's own columns; below 0: a right-hand side

  BS_SEGMENT_FN int x() const { return static_cast<short>(place); }
  BS_SEGMENT_FN int segment() const { return place >> 16 & 0x7fff; }
  BS_SEGMENT_FN bool rhs() const { return place < 0; }
};

/// what a chunk of a segment's descendants subtracts from one or two of its columns
struct alignas(16) GatherTask {
  int target;   ///< the column, or if the sum is split the partial sum
  int chunk;    ///< the first of the descendants, and 65,536 times how many there are
  int offsets;  ///< in panels: of the column, and 65,536 times of the triangle
  int shape;  ///< the segment's DoFs, 8 if two columns are taken, 16 times the chunks, 65,536 times how far on the second column is

  BS_SEGMENT_FN int first() const { return chunk & 0xffff; }
  BS_SEGMENT_FN int count() const { return chunk >> 16; }
  BS_SEGMENT_FN int column() const { return offsets & 0xffff; }
  BS_SEGMENT_FN int triangle() const { return offsets >> 16; }
  BS_SEGMENT_FN int size() const { return shape & 7; }
  BS_SEGMENT_FN bool paired() const { return shape & 8; }
  BS_SEGMENT_FN int nchunk() const { return shape >> 4 & 31; }
  BS_SEGMENT_FN int second() const { return shape >> 16; }
};

/// where a height of the segment tree starts; its tasks and columns end where those of the next start
struct alignas(16) Height {
  int task;      ///< its tasks
  int rhs_task;  ///< those of its right-hand sides, the last ones
  int column;    ///< its columns
  int split;     ///< some of its sums are split in chunks
};

/// a segment and its ancestor in the level before, on the way back from the roots, which have none
struct alignas(16) BackStep {
  int rhs;           ///< the segment's right-hand side
  int factor;        ///< the ancestor's columns in its panel
  int ancestor_rhs;  ///< the ancestor's right-hand side
  int triangle;      ///< the segment's own columns, if it has no further ancestor; else -1
};

}  // namespace batchsim
