// SPDX-License-Identifier: LGPL-2.1-or-later
// Nodes of OpenCV cascades, in registers and in memory. Even if all threads of
// a warp read the same address, a load costs more the more bytes it returns, so
// nodes are packed where their values fit.
#ifndef CUV_WALDBOOST_CASCADE_PACKED_NODES_CUH
#define CUV_WALDBOOST_CASCADE_PACKED_NODES_CUH

#include <algorithm>
#include <math.h>
#include <string.h>
#include "waldboost/features.cuh"

// The successor of a node: a leaf in a stump, a child in a tree.
union CuvCascadeBranch {
  float leaf;
  int32_t child;
};

struct alignas (16) CuvCascadeLbpNode {
  static const bool haar = false;
  static const bool tabled = true; // short stages use CuvCascade.passes
  using Packed = uint2;
  CuvGridCorners corners;
  CuvCascadeBranch left, right;
  int32_t number, pad; // index of the node
};

struct alignas (16) CuvCascadeHaarNode {
  static const bool haar = true;
  static const bool tabled = false;
  using Packed = uint4;
  CuvHaarCorners corners;
  CuvCascadeBranch left, right;
  int32_t number;
  float threshold;
};

// ---- packing; offsets in elements ----

// An element of a cascade's integral images: uint32_t or CuvPairSum.
#define CUV_CASCADE_ELEMENT_BYTES ((int) sizeof (uint32_t))

// Packs a grid into two words: offset of the first corner, distance of the next
// row; offsets of the second and third column. The fourth column is as far from
// the third as the second from the first, even in split rows, where these
// distances are 2 block widths.
static inline uint2
cuv_cascade_pack (const CuvCascadeLbpNode &node, const CuvFeatureLayout &layout)
{
  const CuvGridCorners &c = node.corners;
  auto in_elements = [&] (int32_t bytes) {
    return (uint32_t) (bytes / layout.size);
  };

  return make_uint2 (
      in_elements (c.row[0]) | in_elements (c.row[1] - c.row[0]) << 16,
      (in_elements (c.column[1]) & 0xffff) | in_elements (c.column[2]) << 16);
}

static inline __host__ __device__ CuvCascadeLbpNode
cuv_cascade_unpack (const uint2 &packed, int)
{
  const int size = CUV_CASCADE_ELEMENT_BYTES;
  const int first = (int) (packed.x & 0xffff), down = (int) (packed.x >> 16);
  const int second = (int16_t) packed.y, third = (int) packed.y >> 16;
  CuvCascadeLbpNode node = {};

  for (int j = 0; j < 4; j++)
    node.corners.row[j] = (first + j * down) * size;
  node.corners.column[1] = second * size;
  node.corners.column[2] = third * size;
  node.corners.column[3] = (second + third) * size;
  return node;
}

// A rectangle in one word, from the lowest bit: weight (negated in the first
// rectangle), offset of the first corner, height, distance of the second
// corner.
#define CUV_CASCADE_WEIGHT_BITS 4
#define CUV_CASCADE_OFFSET_BITS 13
#define CUV_CASCADE_HEIGHT_BITS 6
#define CUV_CASCADE_HEIGHT_AT                                                  \
  (CUV_CASCADE_WEIGHT_BITS + CUV_CASCADE_OFFSET_BITS)
#define CUV_CASCADE_ACROSS_AT (CUV_CASCADE_HEIGHT_AT + CUV_CASCADE_HEIGHT_BITS)

static inline uint4
cuv_cascade_pack (
    const CuvCascadeHaarNode &node, const CuvFeatureLayout &layout)
{
  const int size = layout.size, pitch = layout.pitch * size;
  uint32_t words[4];

  for (int k = 0; k < 3; k++) {
    const int32_t *corner = node.corners.corner[k];

    words[k] = (uint32_t) std::min (15.f, fabsf (node.corners.weight[k]))
        | (uint32_t) (corner[0] / size) << CUV_CASCADE_WEIGHT_BITS
        | (uint32_t) ((corner[2] - corner[0]) / pitch) << CUV_CASCADE_HEIGHT_AT
        | (uint32_t) ((corner[1] - corner[0]) / size) << CUV_CASCADE_ACROSS_AT;
  }
  memcpy (&words[3], &node.threshold, sizeof words[3]);
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

// Unpacks a node. pitch: bytes per row.
static inline __host__ __device__ CuvCascadeHaarNode
cuv_cascade_unpack (const uint4 &packed, int pitch)
{
  const uint32_t words[3] = { packed.x, packed.y, packed.z };
  const int size = CUV_CASCADE_ELEMENT_BYTES;
  CuvCascadeHaarNode node = {};

  for (int k = 0; k < 3; k++) {
    const uint32_t word = words[k];
    const int weight = word & ((1 << CUV_CASCADE_WEIGHT_BITS) - 1);
    const int height =
        word >> CUV_CASCADE_HEIGHT_AT & ((1 << CUV_CASCADE_HEIGHT_BITS) - 1);
    const int across = ((int) word >> CUV_CASCADE_ACROSS_AT) * size;
    int32_t *corner = node.corners.corner[k];

    node.corners.weight[k] = (float) (k == 0 ? -weight : weight);
    corner[0] = (int) (word >> CUV_CASCADE_WEIGHT_BITS
                    & ((1 << CUV_CASCADE_OFFSET_BITS) - 1))
        * size;
    corner[1] = corner[0] + across;
    corner[2] = corner[0] + height * pitch;
    corner[3] = corner[2] + across;
  }
  memcpy (&node.threshold, &packed.w, sizeof node.threshold);
  return node;
}

// ---- tables ----

// Unpacked nodes, split into columns of 16 bytes: threads that read adjacent
// nodes then read adjacent memory.
template <typename Of> struct CuvCascadeWideNodes {
  using Node = Of;
  static const bool packed = false;
  const uint4 *columns;
  int32_t n;

  __device__ __forceinline__ Node
  operator[] (int k) const
  {
    union {
      Node node;
      uint4 words[sizeof (Node) / 16];
    } converted;

#pragma unroll
    for (size_t i = 0; i < sizeof converted / 16; i++)
      converted.words[i] = __ldg (columns + i * n + k);
    return converted.node;
  }
};

// Packed nodes, used if survive_packing() returns true.
template <typename Of> struct CuvCascadePackedNodes {
  using Node = Of;
  static const bool packed = true;
  const typename Node::Packed *features;
  const uint2 *branches;
  int32_t pitch; // of the tile, in bytes

  __device__ __forceinline__ Node
  operator[] (int k) const
  {
    Node node = cuv_cascade_unpack (__ldg (features + k), pitch);
    const uint2 branch = __ldg (branches + k);

    node.left.child = (int) branch.x;
    node.right.child = (int) branch.y;
    node.number = k;
    return node;
  }
};

#endif
