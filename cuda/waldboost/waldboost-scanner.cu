// SPDX-License-Identifier: LGPL-2.1-or-later
// Scans WaldBoost models on the GPU: chooses the kernel (choose(),
// submit_as()), fills its tables and launches it. plane_kernel is the fastest,
// for small blocks and steps of 1; variants/ does everything else, and any
// rearrangement that is requested.
#include <algorithm>
#include <math.h>
#include <stdio.h>
#include <type_traits>
#include "waldboost/planes/plane-kernel.cuh"
#include "waldboost/variants/feature-codes.cuh"
#include "waldboost/variants/launch-variants.cuh"

// ---- the model on the device ----

static void
lay_out_code (CuvVariantGridCode *to, const CuvGridNode &node,
    const CuvWaldboostModel &model, const CuvFeatureLayout &layout)
{
  const unsigned area = node.width * node.height;
  auto corners = [&] (int block, int32_t corner[4]) {
    int x = node.x + block % 3 * node.width;
    int y = node.y + block / 3 * node.height;

    corner[0] = layout.at (x, y);
    corner[1] = layout.at (x + node.width, y);
    corner[2] = layout.at (x, y + node.height);
    corner[3] = layout.at (x + node.width, y + node.height);
  };

  to->corners = cuv_lay_out_grid (node, layout);
  corners (node.a, to->a);
  corners (node.b, to->b);
  if (model.block_value != CUV_BLOCK_SUM && area > 1) {
    to->reciprocal = (uint32_t) ((1ull << 32) / area + 1);
    to->bias = model.block_value == CUV_BLOCK_MEAN_ROUND ? area / 2 : 0;
  }
}

static void
lay_out_code (CuvVariantHaarCode *to, const CuvHaarNode &node,
    const CuvWaldboostModel &, const CuvFeatureLayout &layout)
{
  to->corners = cuv_lay_out_haar (node, layout);
  to->divisor = node.divisor;
  to->minimum = node.minimum;
  to->maximum = node.maximum;
  to->bins = node.bins;
}

static CuvCodeRules
rules_of (const CuvWaldboostModel &model)
{
  const bool lrp = model.feature == CUV_FEATURE_LRP;

  return CuvCodeRules{ model.inclusive, lrp ? 10 : -1, lrp ? 0 : 8,
    model.window_width, model.window_height, model.least_sigma };
}

template <typename Code, typename Node>
static std::vector<Code>
lay_out_codes (const std::vector<Node> &nodes, const std::vector<CuvWeak> &weak,
    const CuvWaldboostModel &model, const CuvFeatureLayout &layout)
{
  std::vector<Code> codes (weak.size (), Code{});

  for (size_t k = 0; k < weak.size (); k++) {
    lay_out_code (&codes[k], nodes[weak[k].first_node], model, layout);
    codes[k].first_leaf = weak[k].first_leaf;
  }
  return codes;
}

// ---- segments ----

// Divides the plan's segments, after which survivors are counted, at further
// ends (finer), after which survivors are only compacted.
static std::vector<CuvWaldboostSegment>
schedule (const CuvWaldboostPlan &plan, const std::vector<int32_t> &finer)
{
  std::vector<CuvWaldboostSegment> segments;
  size_t next = 0;

  for (int s = 0; s < plan.n_segments; s++) {
    const int end = plan.segment_end[s];

    for (; next < finer.size () && finer[next] <= end; next++) {
      if (finer[next] < end)
        segments.push_back (CuvWaldboostSegment{ finer[next], -1 });
    }
    segments.push_back (CuvWaldboostSegment{ end, s });
  }
  return segments;
}

// ---- the scanner ----

class WaldBoostScanner : public CuvScanner
{
public:
  explicit WaldBoostScanner (const CuvWaldboostModel *original)
      : model (*original)
  {
    if (model.nodes != nullptr)
      grid.assign (model.nodes, model.nodes + model.n_nodes);
    else
      haar.assign (model.haar_nodes, model.haar_nodes + model.n_nodes);
    weak.assign (model.weak, model.weak + model.n_weak);
    leaves.assign (model.leaves, model.leaves + model.n_leaves);
    if (model.arithmetic == CUV_SUM_FIXED)
      fixed_leaves.assign (
          model.fixed_leaves, model.fixed_leaves + model.n_leaves);
    narrow =
        haar.empty () && (int64_t) model.max_block_area * 255 <= UINT16_MAX;
    n_processors = cuv_cuda_multiprocessors ();
  }

  int
  set_plans (const CuvWaldboostSearch *search, CuvPyramid *pyramid,
      CuvPyramidTables *tables) override
  {
    const CuvWaldboostPlan &plan = *search->plan;
    CuvPyramidNeeds needs = {};
    const bool fixed = model.arithmetic == CUV_SUM_FIXED;
    std::vector<int32_t> fixed_thresholds;
    std::vector<float> thresholds;

    if (plan.n_segments > CUV_WALDBOOST_SEGMENTS)
      return reject (plan);
    choose (plan);
    shape.width = shape.height = plan.block_size != 0 ? plan.block_size : 16;
    variants.shape = shape;
    if (by_planes)
      shape = planes.shape;
    needs.sums = !by_planes;
    needs.narrow = narrow;
    needs.squares = !haar.empty ();
    needs.tilted = model.tilted;
    needs.common_pitch = true;
    cuv_pyramid_set_plan (pyramid, tables, needs, &plan, 0);
    if (!by_planes)
      add_nodes (tables, pyramid->host_levels[0].pitch);
    segments = schedule (plan,
        plan.rearrangement == CUV_REARRANGE_AUTO && !by_planes
            ? std::vector<int32_t>{ 1, 2, 4, 8, 16, 32, 64, 128 }
            : std::vector<int32_t> ());
    for (const CuvWeak &w : weak) {
      fixed_thresholds.push_back (w.fixed_threshold);
      thresholds.push_back (w.threshold);
    }
    if (by_planes && fixed)
      planes.add_tables (tables, grid, weak, fixed_thresholds, fixed_leaves);
    else if (by_planes)
      planes.add_tables (tables, grid, weak, thresholds, leaves);
    segments_at = tables->add (segments);
    thresholds_at =
        fixed ? tables->add (fixed_thresholds) : tables->add (thresholds);
    leaves_at = fixed ? tables->add (fixed_leaves) : tables->add (leaves);
    tile_levels (*pyramid, tables);
    n_blocks = 0;
    return variants.reserve ();
  }

  int
  submit (const CuvPyramid &pyramid, int, const CuvScanHits &hits,
      const CuvScanRows &rows, cudaStream_t stream) override
  {
    const Run run = { pyramid, hits, rows, stream };

    if (n_tiles == 0)
      return 0;
    return model.arithmetic == CUV_SUM_FIXED ? submit_as<int32_t> (run)
                                             : submit_as<float> (run);
  }

private:
  // the arguments of submit()
  struct Run {
    const CuvPyramid &pyramid;
    const CuvScanHits &hits;
    const CuvScanRows &rows;
    cudaStream_t stream;
  };

  // ---- the choice of the kernel; waldboost.h has a table of it ----

  void
  choose (const CuvWaldboostPlan &plan)
  {
    const bool is_auto = plan.rearrangement == CUV_REARRANGE_AUTO;

    by_planes = is_auto && planes.fit (model, grid, plan);
    variants.variant = is_auto ? CUV_REARRANGE_BALLOT : plan.rearrangement;
  }

  template <typename Acc>
  int
  submit_as (const Run &r)
  {
    const bool pattern = model.feature == CUV_FEATURE_LBP;

    if (by_planes)
      return pattern ? run_planes<Acc, CuvPatternPlanes<Acc>> (r)
                     : run_planes<Acc, CuvRankPlanes<Acc>> (r);
    if (!haar.empty ())
      return run_variant<Acc, uint32_t, CUV_VARIANT_CODE_HAAR> (r);
    if (narrow)
      return pattern ? run_variant<Acc, uint16_t, CUV_VARIANT_CODE_PATTERN> (r)
                     : run_variant<Acc, uint16_t, CUV_VARIANT_CODE_RANKS> (r);
    return pattern ? run_variant<Acc, uint32_t, CUV_VARIANT_CODE_PATTERN> (r)
                   : run_variant<Acc, uint32_t, CUV_VARIANT_CODE_RANKS> (r);
  }

  // ---- planning ----

  // Records that the plan has too many segments. Returns -1.
  static int
  reject (const CuvWaldboostPlan &plan)
  {
    char text[80];

    snprintf (text, sizeof text,
        "%d segments of weak classifiers; at most %d are supported",
        plan.n_segments, CUV_WALDBOOST_SEGMENTS);
    return cuv_cuda_record (cudaErrorInvalidValue, text);
  }

  void
  add_nodes (CuvPyramidTables *tables, int pitch)
  {
    const int size = narrow ? sizeof (uint16_t) : sizeof (uint32_t);
    const CuvFeatureLayout layouts[2] = { { false, 0, pitch, size },
      { true, pitch / 2, pitch, size } };

    for (int s = 0; s < 2; s++)
      nodes_at[s] = haar.empty ()
          ? tables->add (
              lay_out_codes<CuvVariantGridCode> (grid, weak, model, layouts[s]))
          : tables->add (lay_out_codes<CuvVariantHaarCode> (
              haar, weak, model, layouts[s]));
  }

  // Halves the height of the last tiles, one per multiprocessor, so that all
  // blocks end at about the same time.
  void
  halve_last (const CuvPyramid &pyramid, std::vector<CuvPyramidTile> *tiles)
  {
    n_high = std::max (0, (int) tiles->size () - n_processors);
    const std::vector<CuvPyramidTile> last (
        tiles->begin () + n_high, tiles->end ());

    tiles->resize (n_high);
    for (CuvPyramidTile tile : last) {
      tiles->push_back (tile);
      tile.y += shape.height / 2;
      if (tile.y < pyramid.host_levels[tile.level].plan.n_y)
        tiles->push_back (tile);
    }
  }

  void
  tile_levels (const CuvPyramid &pyramid, CuvPyramidTables *tables)
  {
    std::vector<CuvPyramidTile> tiles;

    for (int i = 0; i < pyramid.n_levels; i++) {
      const CuvWaldboostLevel &level = pyramid.host_levels[i].plan;

      for (int y = 0; y < level.n_y; y += shape.height) {
        for (int x = 0; x < level.n_x; x += shape.width)
          tiles.push_back (CuvPyramidTile{ i, x, y });
      }
    }
    if (by_planes)
      halve_last (pyramid, &tiles);
    n_tiles = (int) tiles.size ();
    tiles_at = tables->add (tiles);
  }

  // ---- launching ----
  template <typename Acc>
  CuvWaldboostDevice<Acc>
  device_model (const CuvPyramid &pyramid) const
  {
    CuvWaldboostDevice<Acc> device = {};

    device.n_weak = model.n_weak;
    device.n_segments = (int) segments.size ();
    device.final_threshold = std::is_same<Acc, float>::value
        ? (Acc) model.final_threshold
        : (Acc) model.fixed_final_threshold;
    device.score_scale = ldexp (1., -model.fixed_bits);
    device.segments = pyramid.table<CuvWaldboostSegment> (segments_at);
    device.thresholds = pyramid.table<Acc> (thresholds_at);
    device.leaves = pyramid.table<Acc> (leaves_at);
    return device;
  }

  template <typename Acc, typename Planes>
  int
  run_planes (const Run &run)
  {
    const Planes access = { planes.on_device<Acc> (
        run.pyramid, rules_of (model)) };
    auto kernel = plane_kernel<Planes, Acc>;
    const size_t shared = access.shared_bytes
        + CuvPlaneRun<Planes, Acc>::max_listed
            * (sizeof (Acc) + sizeof (uint16_t));

    if (n_blocks == 0) {
      int at_once = 1;

      if (cuv_cuda_allow_shared ((const void *) kernel, shared) != 0)
        return -1;
      CUV_CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (
          &at_once, kernel, CUV_PLANE_THREADS, shared));
      n_blocks = std::min (n_tiles, at_once * n_processors);
    }
    return cuv_launch_dependent ("plane_kernel", n_blocks, CUV_PLANE_THREADS,
        shared, run.stream, kernel,
        run.pyramid.table<CuvPyramidTile> (tiles_at), n_tiles, n_high,
        run.pyramid.levels (), access, planes.first_nodes,
        device_model<Acc> (run.pyramid), planes.n_dense, run.rows, run.hits);
  }

  template <typename Acc, typename Sum, CuvVariantCode code>
  int
  run_variant (const Run &r) const
  {
    using Access = CuvVariantAccess<Sum, code>;
    using Node = typename Access::Node;
    const CuvVariantScan<Acc> scan = { r.pyramid.table<CuvPyramidTile> (
                                           tiles_at),
      n_tiles, r.pyramid.levels (), segments, device_model<Acc> (r.pyramid),
      r.rows, r.hits, n_processors, r.stream };

    const Access access = { r.pyramid.image<const Sum> (
                                CUV_WALDBOOST_IMAGE_SUMS),
      r.pyramid.image<const uint32_t> (CUV_WALDBOOST_IMAGE_SQUARES),
      r.pyramid.image<const uint32_t> (CUV_WALDBOOST_IMAGE_TILTED),
      { r.pyramid.table<Node> (nodes_at[0]),
          r.pyramid.table<Node> (nodes_at[1]) },
      rules_of (model) };

    return variants.run (scan, access);
  }

  CuvWaldboostModel model; // its pointers may dangle: use the copies below
  std::vector<CuvGridNode> grid;
  std::vector<CuvHaarNode> haar;
  std::vector<CuvWeak> weak;
  std::vector<float> leaves;
  std::vector<int32_t> fixed_leaves;
  std::vector<CuvWaldboostSegment> segments;
  CuvVariants variants;
  bool narrow;                  // block sums fit 16 bits
  bool by_planes;               // by planes, otherwise by variants
  CuvWaldboostBlockShape shape; // of a tile
  int n_tiles, n_processors;
  // with planes: tiles of full height; blocks, 0 = unknown
  int n_high, n_blocks;
  // offsets in the plan's tables
  size_t nodes_at[2], thresholds_at, leaves_at, segments_at, tiles_at;
  CuvPlanes planes;
};

CuvScanner *
cuv_waldboost_scanner_new (const CuvWaldboostModel *model)
{
  return new WaldBoostScanner (model);
}
