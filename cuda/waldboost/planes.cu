// SPDX-License-Identifier: LGPL-2.1-or-later
#include "waldboost/planes.cuh"

// Wider windows' planes would not fit shared memory, nor a row a warp.
#define MAX_WINDOW_WIDTH 64
#define MAX_SHARED (48 << 10)

static int
plane_of (const CuvGridNode &node)
{
  return node.width > 2 || node.height > 2
      ? -1
      : node.width - 1 + 2 * (node.height - 1);
}

bool
CuvPlanes::fit (const CuvWaldboostModel &model,
    const std::vector<CuvGridNode> &grid, const CuvWaldboostPlan &plan)
{
  int n = 0;
  bool used[CUV_N_PLANES] = {};

  for (int i = 0; i < plan.n_levels; i++) {
    if (plan.levels[i].n_x > 0 && plan.levels[i].step != 1)
      return false;
  }
  for (const CuvGridNode &node : grid) {
    if (plane_of (node) < 0)
      return false;
    used[plane_of (node)] = true;
  }
  if (grid.empty () || model.window_width > MAX_WINDOW_WIDTH)
    return false;
  planes.pitch = (shape.width + model.window_width - 1 + 7) / 8 * 8;
  planes.rows = shape.height + model.window_height - 1;
  for (int p = 0; p < CUV_N_PLANES; p++) {
    const bool mean = model.block_value != CUV_BLOCK_SUM;

    planes.first[p] = used[p] ? n++ * planes.pitch * planes.rows : -1;
    planes.shift[p] = mean ? (p & 1) + (p >> 1) : 0;
    planes.bias[p] =
        model.block_value == CUV_BLOCK_MEAN_ROUND && planes.shift[p] > 0
        ? 0x10001u << (planes.shift[p] - 1)
        : 0;
  }
  shared_bytes =
      ((size_t) n * planes.pitch * planes.rows * sizeof (uint16_t) + 15) / 16
      * 16;
  return shared_bytes <= MAX_SHARED;
}

void
CuvPlanes::add_tables (CuvTables *tables, const std::vector<CuvGridNode> &grid,
    const std::vector<CuvWeak> &weak)
{
  std::vector<CuvPlaneCode> nodes;

  for (const CuvWeak &w : weak) {
    const CuvGridNode &node = grid[w.first_node];
    CuvPlaneCode code = {};

    code.row = node.height * planes.pitch;
    code.column = node.width;
    code.offset =
        planes.first[plane_of (node)] + node.y * planes.pitch + node.x;
    code.a = node.a / 3 * code.row + node.a % 3 * code.column;
    code.b = node.b / 3 * code.row + node.b % 3 * code.column;
    code.first_leaf = w.first_leaf;
    nodes.push_back (code);
  }
  nodes_at = tables->add (nodes);
}
