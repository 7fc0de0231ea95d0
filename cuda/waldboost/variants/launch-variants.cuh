// SPDX-License-Identifier: LGPL-2.1-or-later
// Chooses the kernel of a variant (block-kernel.cuh or segment-kernels.cuh) and
// its number of threads, and launches it.
#ifndef CUV_WALDBOOST_VARIANTS_LAUNCH_VARIANTS_CUH
#define CUV_WALDBOOST_VARIANTS_LAUNCH_VARIANTS_CUH

#include <algorithm>
#include <vector>
#include "waldboost/variants/segment-kernels.cuh"

// maximum number of windows in a list in global memory
#define CUV_VARIANT_MAX_LISTED (1 << 22)
#define CUV_VARIANT_N_COUNTS 64 // counters, for the lists after each segment

// The arguments of a scan that do not depend on the variant.
template <typename Acc> struct CuvVariantScan {
  const CuvPyramidTile *tiles;
  int n_tiles;
  const CuvPyramidLevel *levels;
  const std::vector<CuvWaldboostSegment>
      &segments; // the model's segments, on the host
  CuvWaldboostDevice<Acc> model;
  const CuvScanRows &rows;
  const CuvScanHits &hits;
  int n_processors;
  cudaStream_t stream;
};

class CuvVariants
{
public:
  CuvRearrangement variant;
  CuvWaldboostBlockShape shape; // tile of a block: 8, 16 or 32 windows square

  ~CuvVariants ()
  {
    cuv_buffer_clear (&lists[0]);
    cuv_buffer_clear (&lists[1]);
    cuv_buffer_clear (&counts);
  }

  // Allocates the memory of the variant. Returns 0 or -1.
  int
  reserve ()
  {
    if (in_blocks ())
      return 0;
    for (CuvBuffer &list : lists) {
      if (cuv_buffer_reserve (
              &list, CUV_VARIANT_MAX_LISTED * sizeof (CuvVariantEntry<int32_t>))
          != 0)
        return -1;
    }
    return cuv_buffer_reserve (
        &counts, CUV_VARIANT_N_COUNTS * sizeof (uint32_t));
  }

  template <typename Acc, typename Access>
  int
  run (const CuvVariantScan<Acc> &scan, const Access &access) const
  {
    return shape.width == 8 ? run_as<64> (scan, access)
        : shape.width == 32 ? run_as<1024> (scan, access)
                            : run_as<256> (scan, access);
  }

private:
  bool
  in_blocks () const
  {
    return variant == CUV_REARRANGE_NONE || variant == CUV_REARRANGE_SHARED
        || variant == CUV_REARRANGE_BALLOT;
  }

  template <int threads, typename Acc, typename Access>
  int
  run_blocks (const CuvVariantScan<Acc> &scan, const Access &access) const
  {
    auto kernel = block_kernel<Access, Acc, threads>;
    const size_t shared = 2 * (size_t) (shape.width * shape.height)
        * (sizeof (Acc) + sizeof (uint16_t));
    int blocks = 1;

    if (cuv_cuda_allow_shared ((const void *) kernel, shared) != 0)
      return -1;
    CUV_CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (
        &blocks, kernel, threads, shared));
    kernel<<<std::min (scan.n_tiles, blocks * scan.n_processors), threads,
        shared, scan.stream>>> (scan.tiles, scan.n_tiles, scan.levels, shape,
        access, scan.model, variant, scan.rows, scan.hits);
    CUV_CUDA_LAUNCHED (block_kernel);
    return 0;
  }

  template <typename Acc>
  CuvVariantFrameList<Acc>
  frame_list (int i) const
  {
    return { (CuvVariantEntry<Acc> *) lists[i % 2].data,
      (uint32_t *) counts.data + i };
  }

  // Scans some tiles with one launch per segment; from the first long segment
  // on, one launch evaluates all remaining segments.
  template <int threads, typename Acc, typename Access>
  int
  run_list (const CuvVariantScan<Acc> &scan, const Access &access,
      const CuvPyramidTile *tiles, int n_tiles) const
  {
    const int blocks = 8 * scan.n_processors, n = (int) scan.segments.size ();

    for (int s = 0; s < n; s++) {
      const CuvVariantFrameList<Acc> from = frame_list<Acc> (s);
      const int first = s > 0 ? scan.segments[s - 1].end : 0;

      if (s > 0 && scan.segments[s].end - first >= CUV_VARIANT_LONG_SEGMENT) {
        finish_kernel<Access, Acc, threads>
            <<<blocks, threads, 0, scan.stream>>> (tiles, scan.levels, shape,
                access, scan.model, scan.rows, scan.hits, s, from);
        CUV_CUDA_LAUNCHED (finish_kernel);
        return 0;
      }
      segment_kernel<Access, Acc, threads>
          <<<s == 0 ? n_tiles : blocks, threads, 0, scan.stream>>> (tiles,
              n_tiles, scan.levels, shape, access, scan.model, variant,
              scan.rows, scan.hits, s, from, frame_list<Acc> (s + 1));
      CUV_CUDA_LAUNCHED (segment_kernel);
    }
    return 0;
  }

  // Scans as many tiles at a time as fit a list even if no window is rejected.
  template <int threads, typename Acc, typename Access>
  int
  run_segments (const CuvVariantScan<Acc> &scan, const Access &access) const
  {
    const int at_once = CUV_VARIANT_MAX_LISTED / threads;

    for (int t = 0; t < scan.n_tiles; t += at_once) {
      CUV_CUDA_TRY (cudaMemsetAsync (counts.data, 0,
          CUV_VARIANT_N_COUNTS * sizeof (uint32_t), scan.stream));
      if (run_list<threads> (scan, access, scan.tiles + t,
              std::min (at_once, scan.n_tiles - t))
          != 0)
        return -1;
    }
    return 0;
  }

  template <int threads, typename Acc, typename Access>
  int
  run_as (const CuvVariantScan<Acc> &scan, const Access &access) const
  {
    return in_blocks () ? run_blocks<threads> (scan, access)
                        : run_segments<threads> (scan, access);
  }

  CuvBuffer lists[2] = {}, counts = {};
};

#endif
