// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions that build the tables of the kernels for OpenCV cascades (host
// code).
#ifndef CUV_WALDBOOST_CASCADE_HOST_TABLES_CUH
#define CUV_WALDBOOST_CASCADE_HOST_TABLES_CUH

#include "waldboost/cascade/window-pair-kernels.cuh"

static void
lay_out_node (CuvCascadeLbpNode *to, const CuvGridNode &node,
    const CuvFeatureLayout &layout)
{
  to->corners = cuv_lay_out_grid (node, layout);
}

static void
lay_out_node (CuvCascadeHaarNode *to, const CuvHaarNode &node,
    const CuvFeatureLayout &layout)
{
  to->corners = cuv_lay_out_haar (node, layout);
  to->threshold = node.threshold;
}

// Returns the table CuvCascade.lookup.
static std::vector<uint32_t>
lay_out_lookup (const std::vector<CuvGridNode> &nodes)
{
  std::vector<uint32_t> lookup (8 * nodes.size (), 0);

  for (size_t i = 0; i < nodes.size (); i++) {
    for (int code = 0; code < 256; code++) {
      int below = ~code & 255;

      if (nodes[i].subset[code >> 5] >> (code & 31) & 1)
        lookup[8 * i + (below >> 5)] |= 1u << (31 - (below & 31));
    }
  }
  return lookup;
}

static CuvCascadePairNode
lay_out_pair (const CuvGridNode &node, const CuvFeatureLayout &layout)
{
  const CuvGridCorners corners = cuv_lay_out_grid (node, layout);
  const bool small = node.width * node.height <= CUV_WALDBOOST_SMALL_BLOCK;

  return { { corners.row[0], corners.row[1], corners.row[2], corners.row[3] },
    { corners.column[1], corners.column[2], corners.column[3] }, small };
}

// Returns the table of CuvCascadePairPatterns: like lookup, but indexed by the
// pattern itself.
static std::vector<uint32_t>
lay_out_patterns (const std::vector<CuvGridNode> &nodes)
{
  std::vector<uint32_t> patterns (CUV_CASCADE_PATTERN_WORDS * nodes.size (), 0);

  for (size_t i = 0; i < nodes.size (); i++) {
    for (int code = 0; code < 256; code++) {
      if (nodes[i].subset[code >> 5] >> (code & 31) & 1)
        patterns[CUV_CASCADE_PATTERN_WORDS * i + code / 32] |= 1u
            << (31 - code % 32);
    }
  }
  return patterns;
}

// Sorts stumps with two rectangles before those with three, so that threads of
// a warp, each with its own stump, rarely diverge over the third.
static void
sort_stumps (CuvCascadeHaarNode *begin, CuvCascadeHaarNode *end)
{
  std::stable_partition (begin, end, [] (const CuvCascadeHaarNode &node) {
    return node.corners.weight[2] == 0;
  });
}

// Appends the table of the 2^n combinations of n stumps' decisions: a bit is
// set if the sum, computed as in the reference, passes the stage.
static void
tabulate (std::vector<uint32_t> *passes, const std::vector<float> &left,
    const std::vector<float> &right, float threshold)
{
  const int n = (int) left.size ();
  const size_t first = passes->size ();

  passes->resize (first + ((1 << n) + 31) / 32, 0);
  for (int decisions = 0; decisions < 1 << n; decisions++) {
    double sum = 0;

    for (int i = 0; i < n; i++)
      sum += decisions >> (n - 1 - i) & 1 ? left[i] : right[i];
    if (!(sum < (double) threshold))
      (*passes)[first + decisions / 32] |= 1u << decisions % 32;
  }
}

// Returns whether all sums of leaves are exact in double: multiples of the
// lowest bit of any leaf, and below 2^53 times that bit.
static bool
sums_are_exact (const CuvWaldboostModel *model)
{
  int finest = 0;
  double sum = 0;

  for (int i = 0; i < model->n_leaves; i++) {
    int exponent;

    if (model->leaves[i] == 0)
      continue;
    frexpf (model->leaves[i], &exponent);
    finest = exponent - 24 < finest ? exponent - 24 : finest;
    sum += fabs ((double) model->leaves[i]);
  }
  return ldexp (sum, -finest) < ldexp (1, 53);
}

static const CuvGridNode *
nodes_of (const CuvWaldboostModel *model, const CuvCascadeLbpNode *)
{
  return model->nodes;
}

static const CuvHaarNode *
nodes_of (const CuvWaldboostModel *model, const CuvCascadeHaarNode *)
{
  return model->haar_nodes;
}

// Returns whether packing keeps all values.
template <typename Node>
static bool
survive_packing (const std::vector<Node> &nodes, const CuvFeatureLayout &layout)
{
  return std::all_of (nodes.begin (), nodes.end (), [&] (const Node &node) {
    const Node after = cuv_cascade_unpack (
        cuv_cascade_pack (node, layout), layout.pitch * layout.size);

    return memcmp (&after.corners, &node.corners, sizeof node.corners) == 0;
  });
}

// Adds the tables of CuvCascadePackedNodes.
template <typename Node>
static void
add_packed (CuvPyramidTables *tables, const std::vector<Node> &nodes,
    const CuvFeatureLayout &layout, size_t *features_at, size_t *branches_at)
{
  std::vector<typename Node::Packed> features;
  std::vector<uint2> branches;

  for (const Node &node : nodes) {
    features.push_back (cuv_cascade_pack (node, layout));
    branches.push_back (
        make_uint2 ((uint32_t) node.left.child, (uint32_t) node.right.child));
  }
  *features_at = tables->add (features);
  *branches_at = tables->add (branches);
}

// Adds the table of CuvCascadeWideNodes.
template <typename Node>
static size_t
add_columns (CuvPyramidTables *tables, const std::vector<Node> &nodes)
{
  const size_t n = nodes.size (), n_words = sizeof (Node) / 16;
  std::vector<uint4> columns (n * n_words);

  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < n_words; i++)
      memcpy (&columns[i * n + k], (const uint8_t *) &nodes[k] + 16 * i, 16);
  }
  return tables->add (columns);
}

#endif
