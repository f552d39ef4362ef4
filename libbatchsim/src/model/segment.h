// A segment of the DoF tree, as kernels see it: four integers that a GPU loads at once (kernels/panel.h).
#pragma once

#ifdef __CUDACC__
#define BS_SEGMENT_FN __host__ __device__ inline
#else
#define BS_SEGMENT_FN inline
#endif

namespace batchsim {

inline constexpr int kQuad = 4;  ///< most DoFs of a segment, rows of a panel

struct alignas(16) Segment {
  int column;  ///< first column of its panel, a right-hand side; then the first ancestor
  int place;   ///< ancestors, and 65,536 times its descendant segments
  int shape;   ///< DoFs, 8 if a task takes two columns, 16 times the chunks its sums are split into, 4,096 times a chunk's length
  int part;    ///< first partial sum of its level's, if there are several chunks

  BS_SEGMENT_FN int depth() const { return place & 0xffff; }
  BS_SEGMENT_FN int below() const { return place >> 16; }
  BS_SEGMENT_FN int size() const { return shape & 7; }
  BS_SEGMENT_FN bool paired() const { return shape & 8; }
  BS_SEGMENT_FN int nchunk() const { return shape >> 4 & 255; }
  BS_SEGMENT_FN int chunk() const { return shape >> 12; }
};

}  // namespace batchsim
