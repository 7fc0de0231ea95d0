// SPDX-License-Identifier: LGPL-2.1-or-later
// Scans OpenCV cascades on the GPU: chooses the kernels (submit(),
// scan_tiles()) and launches them.
#include <type_traits>
#include "waldboost/cascade/cascade-plan.cuh"
#include "waldboost/cascade/window-pair-kernels.cuh"

template <typename Node> class CascadeScanner : public CuvScanner
{
public:
  explicit CascadeScanner (const CuvWaldboostModel *model) : plan (model)
  {
  }

  int
  set_plans (const CuvWaldboostSearch *search, CuvPyramid *pyramid,
      CuvPyramidTables *tables) override
  {
    return plan.set_plan (*search->plan, pyramid, tables);
  }

  // Chooses by format of the integral images and of the nodes; waldboost.h has
  // the choice as a table.
  int
  submit (const CuvPyramid &pyramid, int, const CuvScanHits &hits,
      const CuvScanRows &rows, cudaStream_t stream) override
  {
    const Run run = { pyramid, hits, rows, stream };

    if (plan.tiles_of (rows.level).n () == 0)
      return 0;
    if (!plan.tiled)
      return scan_windows<Wide, uint32_t, false, false, false> (run);
    if constexpr (Node::haar)
      return plan.packed ? scan_tiles<Packed, uint32_t> (run)
                         : scan_tiles<Wide, uint32_t> (run);
    else
      return plan.paired ? scan_pairs (run)
                         : scan_tiles<Packed, uint32_t> (run);
  }

private:
  using Wide = CuvCascadeWideNodes<Node>;
  using Packed = CuvCascadePackedNodes<Node>;

  // the arguments of submit()
  struct Run {
    const CuvPyramid &pyramid;
    const CuvScanHits &hits;
    const CuvScanRows &rows;
    cudaStream_t stream;
  };

  // Chooses for tiles in shared memory, by shape of the trees and of the tiles.
  template <typename Nodes, typename Sum>
  int
  scan_tiles (const Run &run)
  {
    if (!plan.model.stumps)
      return scan_windows<Nodes, Sum, false, true, false> (run);
    if (plan.fixed)
      return scan_windows<Nodes, Sum, true, true, Node::haar> (run);
    return scan_windows<Nodes, Sum, true, true, false> (run);
  }

  // Launches the kernels that evaluate one window per thread at a time.
  template <typename Nodes, typename Sum, bool stumps, bool tiled, bool fixed>
  int
  scan_windows (const Run &run)
  {
    auto dense = dense_kernel<Nodes, Sum, stumps, tiled, fixed>;
    auto survivors = survivor_kernel<Nodes, Sum, stumps, tiled>;
    const auto range = plan.tiles_of (run.rows.level);
    const CuvPyramidTile *tiles =
        run.pyramid.template table<CuvPyramidTile> (plan.tiles_at)
        + range.first;
    const int n = range.n ();
    const CuvCascade<Nodes> cascade =
        plan.template device_cascade<Nodes> (run.pyramid);
    uint32_t *passed_bits = (uint32_t *) plan.passed.data;
    uint32_t *no_skip_bits =
        Node::haar ? (uint32_t *) plan.no_skip.data : passed_bits;

    // drivers before 530 accept at most this size of arguments
    static_assert (sizeof tiles + sizeof (CuvPyramidLevel *)
            + sizeof (CuvCascadeImages) + sizeof plan.shape + sizeof cascade
            + sizeof plan.first + sizeof passed_bits + sizeof no_skip_bits
            + sizeof run.hits
        <= 4096);
    if (run.rows.level < 0) {
      if (cuv_cuda_allow_shared ((const void *) dense, plan.shared_bytes) != 0
          || cuv_cuda_allow_shared ((const void *) survivors, plan.shared_bytes)
              != 0)
        return -1;
      dense<<<n, CUV_CASCADE_THREADS, plan.shared_bytes, run.stream>>> (tiles,
          run.pyramid.levels (), plan.images (run.pyramid), plan.shape, cascade,
          plan.first, passed_bits, no_skip_bits, run.hits);
      CUV_CUDA_LAUNCHED (dense_kernel);
    }
    survivors<<<n, CUV_CASCADE_THREADS, plan.shared_bytes, run.stream>>> (tiles,
        run.pyramid.levels (), plan.images (run.pyramid), plan.shape, cascade,
        run.rows, passed_bits, no_skip_bits, run.hits);
    CUV_CUDA_LAUNCHED (survivor_kernel);
    return 0;
  }

  // Launches the kernel that evaluates pairs of windows: twice, because levels
  // with split columns have larger tiles.
  int
  scan_pairs (const Run &run)
  {
    auto kernel = pair_kernel<Packed>;
    const auto range = plan.tiles_of (run.rows.level);
    const CuvCascade<Packed> cascade =
        plan.template device_cascade<Packed> (run.pyramid);

    if (cuv_cuda_allow_shared ((const void *) kernel, plan.shared_bytes) != 0)
      return -1;
    if (++plan.n_scans == 0)
      plan.n_scans = 1; // 0: no scan
    for (bool split : { true, false }) {
      const int first =
          split ? range.first : std::max (range.first, plan.n_split);
      const int n =
          (split ? std::min (range.end, plan.n_split) : range.end) - first;

      if (n <= 0)
        continue;
      kernel<<<n, CUV_CASCADE_THREADS,
          split ? plan.shared_bytes : plan.unsplit_bytes, run.stream>>> (
          run.pyramid.template table<CuvPyramidTile> (plan.tiles_at) + first,
          run.pyramid.levels (),
          run.pyramid.template image<const uint8_t> (
              CUV_WALDBOOST_IMAGE_PICTURES),
          plan.shape, cascade, plan.pairs,
          run.pyramid.template table<uint32_t> (plan.patterns_at), run.rows,
          (CuvCascadeTrace *) plan.traces.data + first, plan.n_scans, run.hits);
      CUV_CUDA_LAUNCHED (pair_kernel);
    }
    return 0;
  }

  CuvCascadePlan<Node> plan;
};

CuvScanner *
cuv_cascade_scanner_new (const CuvWaldboostModel *model)
{
  if (model->feature == CUV_FEATURE_HAAR)
    return new CascadeScanner<CuvCascadeHaarNode> (model);
  return new CascadeScanner<CuvCascadeLbpNode> (model);
}
