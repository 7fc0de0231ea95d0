// SPDX-License-Identifier: LGPL-2.1-or-later
// Lists edge pixels so that neighbours in the frame are neighbours in the list:
// a warp then votes for nearby cells, which do not conflict in shared memory.
#include "hough/votes.cuh"

// words of a row that a block lists; each warp lists one word of 32 rows
#define CUV_HOUGH_LIST_WORDS 8
#define CUV_HOUGH_LIST_ROWS 32

// Reserves n list entries for each thread; returns the index of the first.
static __device__ unsigned
cuv_hough_list_reserve (unsigned n, unsigned *n_edges)
{
  __shared__ unsigned ends[CUV_HOUGH_LIST_WORDS], first;
  const int warp = cuv_warp_of_thread ();
  const unsigned end = cuv_inclusive_scan (n);
  unsigned sum = 0, before = 0;

  if (threadIdx.x % 32 == 31)
    ends[warp] = end;
  __syncthreads ();
  for (int i = 0; i < CUV_HOUGH_LIST_WORDS; i++) {
    sum += ends[i];
    before += i < warp ? ends[i] : 0;
  }
  if (threadIdx.x == 0)
    first = sum > 0 ? atomicAdd (n_edges, sum) : 0;
  __syncthreads ();
  return first + before + end - n;
}

// Resolves and loads the edges of a word.
static __device__ __forceinline__ unsigned
load_edges (const CuvHoughMaps &maps, int word, int y)
{
  const size_t at = (size_t) y * cuv_map_pitch (maps) + word;

  if (word >= cuv_map_pitch (maps))
    return 0;
  const unsigned undecided = __ldcg (&maps.undecided[at]);
  unsigned edges = __ldcg (&maps.edges[at]);

  if (undecided != 0) {
    edges = cuv_final_edges (maps, edges, undecided, word * 32, y);
    maps.edges[at] = edges;
  }
  return edges;
}

// Block: CUV_HOUGH_LIST_WORDS x CUV_HOUGH_LIST_ROWS words of the map, loaded
// row by row (coalesced), listed column by column. Also clears the accumulator,
// n_fours times four cells.
static __global__ void
__launch_bounds__ (CUV_HOUGH_LIST_WORDS *CUV_HOUGH_LIST_ROWS) list_kernel (
    CuvHoughMaps maps, CuvHoughEdges edges, uint4 *cells, size_t n_fours)
{
  __shared__ unsigned words[CUV_HOUGH_LIST_ROWS][CUV_HOUGH_LIST_WORDS + 1];
  const int block = blockIdx.y * gridDim.x + blockIdx.x;
  const int n_threads =
      gridDim.x * gridDim.y * CUV_HOUGH_LIST_WORDS * CUV_HOUGH_LIST_ROWS;
  const int x0 = blockIdx.x * CUV_HOUGH_LIST_WORDS,
            y0 = blockIdx.y * CUV_HOUGH_LIST_ROWS;

  cuv_pdl_trigger ();
  for (size_t i =
           block * CUV_HOUGH_LIST_WORDS * CUV_HOUGH_LIST_ROWS + threadIdx.x;
       i < n_fours; i += n_threads)
    cells[i] = make_uint4 (0, 0, 0, 0);
  cuv_pdl_wait ();
  if (block == 0 && threadIdx.x == 0)
    maps.counters->listed_ns = cuv_nanoseconds ();
  words[threadIdx.x / CUV_HOUGH_LIST_WORDS]
       [threadIdx.x % CUV_HOUGH_LIST_WORDS] =
           load_edges (maps, x0 + threadIdx.x % CUV_HOUGH_LIST_WORDS,
               y0 + threadIdx.x / CUV_HOUGH_LIST_WORDS);
  __syncthreads ();
  const int row = threadIdx.x % CUV_HOUGH_LIST_ROWS,
            column = threadIdx.x / CUV_HOUGH_LIST_ROWS;
  unsigned bits = words[row][column];
  unsigned *to = edges.pixels
      + cuv_hough_list_reserve (__popc (bits), &maps.counters->n_edges);

  static_assert (
      CUV_HOUGH_LIST_ROWS == 32, "each warp lists one column of words");
  for (; bits != 0; bits &= bits - 1)
    *to++ =
        (unsigned) (y0 + row) << 16 | ((x0 + column) * 32 + __ffs (bits) - 1);
}

int
cuv_list_submit (const CuvHoughMaps &maps, const CuvHoughEdges &edges,
    unsigned *cells, size_t n_cells, cudaStream_t stream)
{
  const dim3 grid (cuv_div_up (cuv_map_pitch (maps), CUV_HOUGH_LIST_WORDS),
      maps.tiles_y * (CUV_HOUGH_TILE_HEIGHT / CUV_HOUGH_LIST_ROWS));

  return cuv_launch_dependent ("list_kernel", grid,
      CUV_HOUGH_LIST_WORDS * CUV_HOUGH_LIST_ROWS, 0, stream, list_kernel, maps,
      edges, (uint4 *) cells, n_cells / 4);
}
