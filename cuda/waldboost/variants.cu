// SPDX-License-Identifier: LGPL-2.1-or-later
// WaldBoost models on the GPU: the model's tables and the launches.
#include <algorithm>
#include <math.h>
#include <type_traits>
#include "waldboost/codes.cuh"
#include "waldboost/planes-scan.cuh"

#define MAX_LISTED (1 << 22) // windows that the lists of a frame hold
#define N_COUNTS 64          // lists that one after another fill

// ---- the model on the device ----

static void
lay_out_code (CuvGridCode *to, const CuvGridNode &node,
    const CuvWaldboostModel &model, const CuvLayout &layout)
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
lay_out_code (CuvHaarCode *to, const CuvHaarNode &node,
    const CuvWaldboostModel &, const CuvLayout &layout)
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

// ---- segments ----

// Those of the plan, where survivors are counted; and where the variant is up
// to us more of them while many windows are left.
static std::vector<Segment>
schedule (const CuvWaldboostPlan &plan, const std::vector<int32_t> &finer)
{
  std::vector<Segment> segments;
  size_t next = 0;

  for (int s = 0; s < plan.n_segments; s++) {
    const int end = plan.segment_end[s];

    for (; next < finer.size () && finer[next] <= end; next++) {
      if (finer[next] < end)
        segments.push_back (Segment{ finer[next], -1 });
    }
    segments.push_back (Segment{ end, s });
  }
  return segments;
}

// ---- the scanner ----

class WaldBoostScanner : public CuvScanner
{
public:
  explicit WaldBoostScanner (const CuvWaldboostModel *model);
  ~WaldBoostScanner ();
  int set_plan (const CuvWaldboostPlan &plan, CuvPyramid *pyramid,
      CuvTables *tables) override;
  int submit (const CuvPyramid &pyramid, const CuvHits &hits,
      const CuvRows &rows, cudaStream_t stream) override;

private:
  struct Run; // what a launch needs
  void add_nodes (CuvTables *tables, int pitch);
  void halve_last (const CuvPyramid &pyramid, std::vector<CuvTile> *tiles);
  void tile_levels (const CuvPyramid &pyramid, CuvTables *tables);
  int reserve_lists ();
  template <typename Acc>
  WaldBoost<Acc> device_model (const CuvPyramid &pyramid) const;
  template <typename Acc> int submit_as (const Run &run);
  template <typename Acc, typename Access>
  int run (const Run &run, const Access &access);
  template <typename Acc, typename Access, int threads>
  int run_blocks (const Run &run, const Access &access);
  template <typename Acc, typename Access, int threads>
  int run_segments (const Run &run, const Access &access);
  template <typename Acc> FrameList<Acc> frame_list (int i) const;
  template <typename Acc, typename Access, int threads>
  int run_list (const Run &run, const Access &access, const CuvTile *tiles,
      int n_tiles, int s);
  template <typename Acc, typename Planes> int run_planes (const Run &run);
  template <typename Sum, CuvCode code>
  CuvIntegralAccess<Sum, code> access (const CuvPyramid &pyramid) const;

  CuvWaldboostModel model; // its pointers are not ours to follow
  std::vector<CuvGridNode> grid;
  std::vector<CuvHaarNode> haar;
  std::vector<CuvWeak> weak;
  std::vector<float> leaves;
  std::vector<int32_t> fixed_leaves;
  std::vector<Segment> segments;
  CuvRearrangement variant;
  bool narrow, by_planes;
  BlockShape shape;
  int n_tiles, n_processors;
  int n_high, n_blocks; // by planes: tiles of all rows; blocks, 0 = not known
  CuvBuffer lists[2] = {}, counts = {};
  size_t nodes_at[2], thresholds_at, leaves_at, segments_at, tiles_at;
  CuvPlanes planes;
};

struct WaldBoostScanner::Run {
  const CuvPyramid &pyramid;
  const CuvHits &hits;
  const CuvRows &rows;
  cudaStream_t stream;
};

WaldBoostScanner::WaldBoostScanner (const CuvWaldboostModel *of) : model (*of)
{
  if (of->nodes != nullptr)
    grid.assign (of->nodes, of->nodes + of->n_nodes);
  else
    haar.assign (of->haar_nodes, of->haar_nodes + of->n_nodes);
  weak.assign (of->weak, of->weak + of->n_weak);
  leaves.assign (of->leaves, of->leaves + of->n_leaves);
  if (of->arithmetic == CUV_SUM_FIXED)
    fixed_leaves.assign (of->fixed_leaves, of->fixed_leaves + of->n_leaves);
  narrow = haar.empty () && (int64_t) of->max_block_area * 255 <= UINT16_MAX;
  n_processors = cuv_cuda_multiprocessors ();
}

WaldBoostScanner::~WaldBoostScanner ()
{
  cuv_buffer_clear (&lists[0]);
  cuv_buffer_clear (&lists[1]);
  cuv_buffer_clear (&counts);
}

// ---- planning ----

template <typename Code, typename Node>
static std::vector<Code>
lay_out_codes (const std::vector<Node> &nodes, const std::vector<CuvWeak> &weak,
    const CuvWaldboostModel &model, const CuvLayout &layout)
{
  std::vector<Code> codes (weak.size (), Code{});

  for (size_t k = 0; k < weak.size (); k++) {
    lay_out_code (&codes[k], nodes[weak[k].first_node], model, layout);
    codes[k].first_leaf = weak[k].first_leaf;
  }
  return codes;
}

void
WaldBoostScanner::add_nodes (CuvTables *tables, int pitch)
{
  const int size = narrow ? sizeof (uint16_t) : sizeof (uint32_t);
  const CuvLayout layouts[2] = { { false, 0, pitch, size },
    { true, pitch / 2, pitch, size } };

  for (int s = 0; s < 2; s++)
    nodes_at[s] = haar.empty ()
        ? tables->add (
            lay_out_codes<CuvGridCode> (grid, weak, model, layouts[s]))
        : tables->add (
            lay_out_codes<CuvHaarCode> (haar, weak, model, layouts[s]));
}

// A tile a processor, so that all have work to the end.
void
WaldBoostScanner::halve_last (
    const CuvPyramid &pyramid, std::vector<CuvTile> *tiles)
{
  n_high = std::max (0, (int) tiles->size () - n_processors);
  const std::vector<CuvTile> last (tiles->begin () + n_high, tiles->end ());

  tiles->resize (n_high);
  for (CuvTile tile : last) {
    tiles->push_back (tile);
    tile.y += shape.height / 2;
    if (tile.y < pyramid.host_levels[tile.level].plan.n_y)
      tiles->push_back (tile);
  }
}

void
WaldBoostScanner::tile_levels (const CuvPyramid &pyramid, CuvTables *tables)
{
  std::vector<CuvTile> tiles;

  for (int i = 0; i < pyramid.n_levels; i++) {
    const CuvWaldboostLevel &level = pyramid.host_levels[i].plan;

    for (int y = 0; y < level.n_y; y += shape.height) {
      for (int x = 0; x < level.n_x; x += shape.width)
        tiles.push_back (CuvTile{ i, x, y });
    }
  }
  if (by_planes)
    halve_last (pyramid, &tiles);
  n_tiles = (int) tiles.size ();
  tiles_at = tables->add (tiles);
}

int
WaldBoostScanner::reserve_lists ()
{
  if (variant != CUV_REARRANGE_GLOBAL && variant != CUV_REARRANGE_HYBRID
      && variant != CUV_REARRANGE_PREFIX_SUM)
    return 0;
  for (CuvBuffer &list : lists) {
    if (cuv_buffer_reserve (&list, MAX_LISTED * sizeof (Entry<int32_t>)) != 0)
      return -1;
  }
  return cuv_buffer_reserve (&counts, N_COUNTS * sizeof (uint32_t));
}

int
WaldBoostScanner::set_plan (
    const CuvWaldboostPlan &plan, CuvPyramid *pyramid, CuvTables *tables)
{
  CuvPyramidNeeds needs = {};
  const bool fixed = model.arithmetic == CUV_SUM_FIXED;
  std::vector<int32_t> fixed_thresholds;
  std::vector<float> thresholds;

  if (plan.n_segments > CUV_WALDBOOST_SEGMENTS)
    return cuv_cuda_record (cudaErrorInvalidValue, "too many segments");
  variant = plan.rearrangement;
  by_planes = variant == CUV_REARRANGE_AUTO && planes.fit (model, grid, plan);
  if (variant == CUV_REARRANGE_AUTO)
    variant = CUV_REARRANGE_BALLOT;
  shape.width = shape.height = plan.block_size != 0 ? plan.block_size : 16;
  if (by_planes)
    shape = planes.shape;
  needs.sums = !by_planes;
  needs.narrow = narrow;
  needs.squares = !haar.empty ();
  needs.tilted = model.tilted;
  needs.common_pitch = true;
  if (cuv_pyramid_set_plan (pyramid, tables, needs, &plan, 0) != 0)
    return -1;
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
  return reserve_lists ();
}

// ---- launching ----

template <typename Acc>
WaldBoost<Acc>
WaldBoostScanner::device_model (const CuvPyramid &pyramid) const
{
  WaldBoost<Acc> device = {};

  device.n_weak = model.n_weak;
  device.n_segments = (int) segments.size ();
  device.final_threshold = std::is_same<Acc, float>::value
      ? (Acc) model.final_threshold
      : (Acc) model.fixed_final_threshold;
  device.score_scale = ldexp (1., -model.fixed_bits);
  device.segments = pyramid.table<Segment> (segments_at);
  device.thresholds = pyramid.table<Acc> (thresholds_at);
  device.leaves = pyramid.table<Acc> (leaves_at);
  return device;
}

template <typename Acc, typename Access, int threads>
int
WaldBoostScanner::run_blocks (const Run &run, const Access &access)
{
  auto kernel = block_kernel<Access, Acc, threads>;
  const size_t shared = 2 * (size_t) (shape.width * shape.height)
      * (sizeof (Acc) + sizeof (uint16_t));
  int blocks = 1;

  if (cuv_cuda_allow_shared ((const void *) kernel, shared) != 0)
    return -1;
  CUV_CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (
      &blocks, kernel, threads, shared));
  kernel<<<std::min (n_tiles, blocks * n_processors), threads, shared,
      run.stream>>> (run.pyramid.table<CuvTile> (tiles_at), n_tiles,
      run.pyramid.levels (), shape, access, device_model<Acc> (run.pyramid),
      variant, run.rows, run.hits);
  CUV_CUDA_LAUNCHED (block_kernel);
  return 0;
}

template <typename Acc>
FrameList<Acc>
WaldBoostScanner::frame_list (int i) const
{
  return { (Entry<Acc> *) lists[i % 2].data, (uint32_t *) counts.data + i };
}

// Drives the windows of a list on from segment s.
template <typename Acc, typename Access, int threads>
int
WaldBoostScanner::run_list (const Run &run, const Access &access,
    const CuvTile *tiles, int n_tiles, int s)
{
  const int blocks = 8 * n_processors, n = (int) segments.size ();
  const WaldBoost<Acc> device = device_model<Acc> (run.pyramid);

  for (int i = 0; s < n; s++, i++) {
    const FrameList<Acc> from = frame_list<Acc> (i);
    const int first = s > 0 ? segments[s - 1].end : 0;

    if (s > 0 && segments[s].end - first >= LONG_SEGMENT) {
      finish_kernel<Access, Acc, threads>
          <<<blocks, threads, 0, run.stream>>> (tiles, run.pyramid.levels (),
              shape, access, device, run.rows, run.hits, s, from);
      CUV_CUDA_LAUNCHED (finish_kernel);
      return 0;
    }
    segment_kernel<Access, Acc, threads>
        <<<s == 0 ? n_tiles : blocks, threads, 0, run.stream>>> (tiles, n_tiles,
            run.pyramid.levels (), shape, access, device, variant, run.rows,
            run.hits, s, from, frame_list<Acc> (i + 1));
    CUV_CUDA_LAUNCHED (segment_kernel);
  }
  return 0;
}

// So many tiles at a time that the lists hold all their windows.
template <typename Acc, typename Access, int threads>
int
WaldBoostScanner::run_segments (const Run &run, const Access &access)
{
  const int at_once = MAX_LISTED / threads;

  for (int t = 0; t < n_tiles; t += at_once) {
    CUV_CUDA_TRY (cudaMemsetAsync (
        counts.data, 0, N_COUNTS * sizeof (uint32_t), run.stream));
    if (run_list<Acc, Access, threads> (run, access,
            run.pyramid.table<CuvTile> (tiles_at) + t,
            std::min (at_once, n_tiles - t), 0)
        != 0)
      return -1;
  }
  return 0;
}

template <typename Acc, typename Planes>
int
WaldBoostScanner::run_planes (const Run &run)
{
  const Planes access = { planes.on_device<Acc> (
      run.pyramid, rules_of (model)) };
  auto kernel = plane_kernel<Planes, Acc>;
  const size_t shared = access.shared_bytes
      + PlaneRun<Planes, Acc>::max_listed * (sizeof (Acc) + sizeof (uint16_t));

  if (n_blocks == 0) {
    int at_once = 1;

    if (cuv_cuda_allow_shared ((const void *) kernel, shared) != 0)
      return -1;
    CUV_CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (
        &at_once, kernel, CUV_PLANE_THREADS, shared));
    n_blocks = std::min (n_tiles, at_once * n_processors);
  }
  return cuv_launch_early ("plane_kernel", n_blocks, CUV_PLANE_THREADS, shared,
      run.stream, kernel, run.pyramid.table<CuvTile> (tiles_at), n_tiles,
      n_high, run.pyramid.levels (), access, planes.first_nodes (),
      device_model<Acc> (run.pyramid), planes.n_asked_all (), run.rows,
      run.hits);
}

template <typename Acc, typename Access>
int
WaldBoostScanner::run (const Run &run, const Access &access)
{
  const bool in_blocks = variant == CUV_REARRANGE_NONE
      || variant == CUV_REARRANGE_SHARED || variant == CUV_REARRANGE_BALLOT;

  if (shape.width == 8)
    return in_blocks ? run_blocks<Acc, Access, 64> (run, access)
                     : run_segments<Acc, Access, 64> (run, access);
  if (shape.width == 32)
    return in_blocks ? run_blocks<Acc, Access, 1024> (run, access)
                     : run_segments<Acc, Access, 1024> (run, access);
  return in_blocks ? run_blocks<Acc, Access, 256> (run, access)
                   : run_segments<Acc, Access, 256> (run, access);
}

template <typename Sum, CuvCode code>
CuvIntegralAccess<Sum, code>
WaldBoostScanner::access (const CuvPyramid &pyramid) const
{
  using Access = CuvIntegralAccess<Sum, code>;
  using Node = typename Access::Node;

  return Access{ (const Sum *) pyramid.sums.data,
    (const uint32_t *) pyramid.squares.data,
    (const uint32_t *) pyramid.tilted.data,
    { pyramid.table<Node> (nodes_at[0]), pyramid.table<Node> (nodes_at[1]) },
    rules_of (model) };
}

template <typename Acc>
int
WaldBoostScanner::submit_as (const Run &r)
{
  const bool pattern = model.feature == CUV_FEATURE_LBP;

  if (by_planes)
    return pattern ? run_planes<Acc, CuvPatternPlanes<Acc>> (r)
                   : run_planes<Acc, CuvRankPlanes<Acc>> (r);
  if (!haar.empty ())
    return run<Acc> (r, access<uint32_t, CUV_CODE_HAAR> (r.pyramid));
  if (narrow)
    return pattern
        ? run<Acc> (r, access<uint16_t, CUV_CODE_PATTERN> (r.pyramid))
        : run<Acc> (r, access<uint16_t, CUV_CODE_RANKS> (r.pyramid));
  return pattern ? run<Acc> (r, access<uint32_t, CUV_CODE_PATTERN> (r.pyramid))
                 : run<Acc> (r, access<uint32_t, CUV_CODE_RANKS> (r.pyramid));
}

int
WaldBoostScanner::submit (const CuvPyramid &pyramid, const CuvHits &hits,
    const CuvRows &rows, cudaStream_t stream)
{
  const Run run = { pyramid, hits, rows, stream };

  if (n_tiles == 0)
    return 0;
  return model.arithmetic == CUV_SUM_FIXED ? submit_as<int32_t> (run)
                                           : submit_as<float> (run);
}

CuvScanner *
cuv_waldboost_scanner_new (const CuvWaldboostModel *model)
{
  return new WaldBoostScanner (model);
}
