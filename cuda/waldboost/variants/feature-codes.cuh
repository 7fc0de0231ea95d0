// SPDX-License-Identifier: LGPL-2.1-or-later
// Codes of WaldBoost features, computed from integral images in global memory,
// for any block size and step.
#ifndef CUV_WALDBOOST_VARIANTS_FEATURE_CODES_CUH
#define CUV_WALDBOOST_VARIANTS_FEATURE_CODES_CUH

#include "waldboost/waldboost-model.cuh"

// Kinds of codes: LBP; LRD and LRP; Haar.
enum CuvVariantCode {
  CUV_VARIANT_CODE_PATTERN,
  CUV_VARIANT_CODE_RANKS,
  CUV_VARIANT_CODE_HAAR
};

// A feature; its leaf is first_leaf + code.
struct alignas (16) CuvVariantGridCode {
  CuvGridCorners corners;
  int32_t a[4], b[4];        // LRD, LRP: corners of the two blocks
  uint32_t reciprocal, bias; // for means, see cuv_block_value(); 0: sums
  int32_t first_leaf, pad;
};

struct alignas (16) CuvVariantHaarCode {
  CuvHaarCorners corners;
  float divisor, minimum, maximum;
  int32_t bins;
  int32_t first_leaf, pad[3];
};

// A window's top left corner in each image.
template <typename Sum> struct CuvVariantCodeView {
  const Sum *sums;
  const uint32_t *tilted;
  float sigma;
  bool split;
};

// Returns a block's value: its sum, or its mean, computed with a reciprocal
// that is exact for all possible sums.
static __device__ __forceinline__ int
cuv_block_value (const CuvVariantGridCode &node, unsigned sum)
{
  return node.reciprocal == 0
      ? (int) sum
      : (int) __umulhi (sum + node.bias, node.reciprocal);
}

// Returns the number of blocks with a smaller value than the block with these
// corners.
template <typename Sum>
static __device__ __forceinline__ int
cuv_rank (const int block[9], const Sum *sums, const int32_t corner[4],
    const CuvVariantGridCode &node)
{
  const int value = cuv_block_value (node, cuv_rectangle (sums, corner));
  int rank = 0;

#pragma unroll
  for (int k = 0; k < 9; k++)
    rank += value > block[k];
  return rank;
}

// Reads the features of windows.
template <typename Sum, CuvVariantCode code> struct CuvVariantAccess {
  using View = CuvVariantCodeView<Sum>;
  using Node = typename std::conditional<code == CUV_VARIANT_CODE_HAAR,
      CuvVariantHaarCode, CuvVariantGridCode>::type;

  const Sum *sums;
  const uint32_t *squares, *tilted;
  const Node *nodes[2]; // laid out unsplit, split
  CuvCodeRules rules;

  __device__ View
  view (const CuvPyramidLevel &level, const CuvPyramidTile &tile, int column,
      int row) const
  {
    const bool split = cuv_is_split (level);
    const int step = level.plan.step;
    const int64_t at = level.first
        + (int64_t) (tile.y + row) * step * level.pitch
        + (tile.x + column) * (split ? 1 : step);
    View view = { sums + at, tilted + at, 0, split };

    if (code == CUV_VARIANT_CODE_HAAR)
      view.sigma = sigma (level, at);
    return view;
  }

  // Returns the window's contrast, see CuvHaarNode.
  __device__ float
  sigma (const CuvPyramidLevel &level, int64_t at) const
  {
    const int size = sizeof (uint32_t);
    const int right = cuv_integral_column (cuv_is_split (level),
                          level.pitch / 2, rules.window_width)
        * size;
    const int bottom = rules.window_height * level.pitch * size;
    const int32_t corner[4] = { 0, right, bottom, bottom + right };
    const double n = rules.window_width * rules.window_height;
    const double sum = cuv_rectangle ((const uint32_t *) sums + at, corner);
    const double square = cuv_rectangle (squares + at, corner);
    const float sigma = (float) (sqrt (n * square - sum * sum) / n);

    return sigma >= rules.least_sigma ? sigma : rules.least_sigma;
  }

  __device__ __forceinline__ int
  leaf (const View &view, int k) const
  {
    const Node &node = (view.split ? nodes[1] : nodes[0])[k];

    return node.first_leaf + code_of (view, node);
  }

  __device__ __forceinline__ int
  code_of (const View &view, const CuvVariantGridCode &node) const
  {
    int block[9];

    cuv_block_sums (view.sums, node.corners, block);
#pragma unroll
    for (int k = 0; k < 9; k++)
      block[k] = cuv_block_value (node, block[k]);
    if (code == CUV_VARIANT_CODE_PATTERN)
      return cuv_pattern (block, rules.inclusive);
    return cuv_rank (block, view.sums, node.a, node)
        + rules.factor * cuv_rank (block, view.sums, node.b, node)
        + rules.offset;
  }

  __device__ __forceinline__ int
  code_of (const View &view, const CuvVariantHaarCode &node) const
  {
    const CuvHaarCorners &c = node.corners;
    const uint32_t *at = c.tilted ? view.tilted : (const uint32_t *) view.sums;
    int sum = 0;

#pragma unroll
    for (int i = 0; i < 3; i++)
      sum += (int) c.weight[i] * (int) cuv_rectangle (at, c.corner[i]);
    float value = (float) sum / node.divisor / view.sigma;
    float bin = (value - node.minimum) / (node.maximum - node.minimum)
            * (float) (node.bins - 1)
        + 0.5f;
    if (!(bin > 0))
      return 0;
    return bin < (float) (node.bins - 1) ? (int) bin : node.bins - 1;
  }
};

#endif
