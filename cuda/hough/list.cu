// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of edge pixels. Neighbours in the picture are neighbours in the
// list: a warp of them votes for cells that are close together, which shared
// memory takes at once.
#include "hough/hysteresis.cuh"
#include "hough/votes.cuh"

#define WORDS 8 // a block's, across; each warp 32 rows of one
#define ROWS 32

// ---- directions ----

static __device__ __forceinline__ int
clamp (int v, int end)
{
  return min (max (v, 0), end - 1);
}

// The grey value that Canny saw; beyond the border its pixels.
static __device__ int
grey_at (const CuvFrame &frame, bool blurred, int x, int y)
{
  int sum = 128;

  x = clamp (x, frame.width);
  y = clamp (y, frame.height);
  if (!blurred)
    return cuv_frame_grey (&frame, x, y);
  for (int j = -2; j <= 2; j++) {
    for (int i = -2; i <= 2; i++) {
      const int wx = i == 0 ? 6 : abs (i) == 1 ? 4 : 1;
      const int wy = j == 0 ? 6 : abs (j) == 1 ? 4 : 1;

      sum += wx * wy
          * cuv_frame_grey (
              &frame, clamp (x + i, frame.width), clamp (y + j, frame.height));
    }
  }
  return sum >> 8;
}

// The last group that does not begin after a direction.
static __device__ int
find_group (const CuvVoteSpace &space, int gx, int gy)
{
  const bool turn = gx < 0 || (gx == 0 && gy > 0);
  const int x = turn ? -gx : gx, y = turn ? -gy : gy;
  int first = 0, end = space.n_groups;

  while (end - first > 1) {
    const int g = (first + end) / 2;
    const short2 boundary = __ldg (&space.boundaries[g]);

    if (boundary.x * y - boundary.y * x >= 0)
      first = g;
    else
      end = g;
  }
  return first;
}

static __device__ int
group_of (const CuvVoteSpace &space, const CuvFrame &frame, bool blurred, int x,
    int y)
{
  int at[9];

  for (int i = 0; i < 9; i++)
    at[i] = grey_at (frame, blurred, x + i % 3 - 1, y + i / 3 - 1);
  return find_group (space,
      at[2] + 2 * at[5] + at[8] - at[0] - 2 * at[3] - at[6],
      at[6] + 2 * at[7] + at[8] - at[0] - 2 * at[1] - at[2]);
}

// Those of a block's edges, which are n from first on. Adds up what they vote.
static __device__ __forceinline__ void
find_groups (const CuvMaps &maps, const CuvEdges &edges,
    const CuvVoteSpace &space, const CuvFrame &frame, bool blurred,
    unsigned first, unsigned n)
{
  unsigned votes = 0;

  for (unsigned i = first + threadIdx.x; i < first + n; i += blockDim.x) {
    const unsigned pixel = edges.pixels[i];
    const int group =
        group_of (space, frame, blurred, pixel & 0xffff, pixel >> 16);

    edges.groups[i] = (uint16_t) group;
    votes += __ldg (&space.group_rows[group]);
  }
  votes = cuv_running_sum (votes);
  if (threadIdx.x % 32 == 31 && votes > 0)
    atomicAdd (&maps.counters->n_votes, (unsigned long long) votes);
}

// ---- the list ----

struct Share {
  unsigned first, n; // the block's
  unsigned before;   // how many of those before this thread's
};

// Where a thread's n edges are in the list.
static __device__ Share
reserve (unsigned n, unsigned *n_edges)
{
  __shared__ unsigned ends[WORDS], first;
  const int warp = cuv_warp_of_thread ();
  const unsigned end = cuv_running_sum (n);
  Share share = { 0, 0, end - n };

  if (threadIdx.x % 32 == 31)
    ends[warp] = end;
  __syncthreads ();
  for (int i = 0; i < WORDS; i++) {
    share.n += ends[i];
    share.before += i < warp ? ends[i] : 0;
  }
  if (threadIdx.x == 0)
    first = share.n > 0 ? atomicAdd (n_edges, share.n) : 0;
  __syncthreads ();
  share.first = first;
  return share;
}

// The edges of a word, which are decided now.
static __device__ __forceinline__ unsigned
load_edges (const CuvMaps &maps, int word, int y)
{
  const size_t at = (size_t) y * cuv_map_pitch (maps) + word;

  if (word >= cuv_map_pitch (maps))
    return 0;
  const unsigned undecided = __ldcg (&maps.undecided[at]);
  unsigned edges = __ldcg (&maps.edges[at]);

  if (undecided != 0) {
    edges = cuv_decide (maps, edges, undecided, word * 32, y);
    maps.edges[at] = edges;
  }
  return edges;
}

// Grid: WORDS x ROWS words of the map.
static __global__ void
__launch_bounds__ (WORDS * 32)
    list_kernel (CuvMaps maps, CuvEdges edges, CuvVoteSpace space,
        CuvFrame frame, bool blurred, uint4 *cells, size_t n_fours)
{
  const int block = blockIdx.y * gridDim.x + blockIdx.x;
  const int n_threads = gridDim.x * gridDim.y * WORDS * 32;
  const int word = blockIdx.x * WORDS + cuv_warp_of_thread ();
  const int y = blockIdx.y * ROWS + threadIdx.x % 32;

  cuv_let_next_kernel_start ();
  for (size_t i = block * WORDS * 32 + threadIdx.x; i < n_fours; i += n_threads)
    cells[i] = make_uint4 (0, 0, 0, 0);
  cuv_wait_for_previous_kernel ();
  if (block == 0 && threadIdx.x == 0)
    maps.counters->listed = cuv_nanoseconds ();
  unsigned bits = load_edges (maps, word, y);
  const Share share = reserve (__popc (bits), &maps.counters->n_edges);
  unsigned *to = edges.pixels + share.first + share.before;

  for (; bits != 0; bits &= bits - 1)
    *to++ = (unsigned) y << 16 | (word * 32 + __ffs (bits) - 1);
  if (edges.groups != nullptr) {
    __syncthreads ();
    find_groups (maps, edges, space, frame, blurred, share.first, share.n);
  }
}

int
cuv_list_submit (const CuvMaps &maps, const CuvEdges &edges,
    const CuvVoteSpace &space, const CuvFrame &frame,
    const CuvCannyParams &params, unsigned *cells, size_t n_cells,
    cudaStream_t stream)
{
  const dim3 grid (cuv_div_up (cuv_map_pitch (maps), WORDS),
      maps.tiles_y * (CUV_TILE_HEIGHT / ROWS));

  return cuv_launch_early ("list_kernel", grid, WORDS * 32, 0, stream,
      list_kernel, maps, edges, space, frame, params.blur != 0, (uint4 *) cells,
      n_cells / 4);
}
