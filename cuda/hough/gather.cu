// SPDX-License-Identifier: LGPL-2.1-or-later
// Votes counted by the cells: each looks at all its pixels, so that the time
// does not depend on the frame.
#include "hough/votes.cuh"

#define THREADS 256

// ---- the map turned over ----

// A warp turns 32 x 32 pixels: column x of the map is row x.
static __global__ void
turn_kernel (CuvMaps maps, unsigned *turned)
{
  const int pitch = cuv_map_pitch (maps), lane = threadIdx.x % 32;
  const int i = (blockIdx.x * THREADS + threadIdx.x) / 32;
  const int x = i % pitch, y = i / pitch; // in 32 pixels

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  if (y >= maps.tiles_y)
    return;
  const unsigned word =
      __ldcg (&maps.edges[((size_t) y * 32 + lane) * pitch + x]);

  static_assert (CUV_TILE_HEIGHT == 32, "a word for each tile");
  for (int bit = 0; bit < 32; bit++) {
    const unsigned column = __ballot_sync (~0u, word >> bit & 1);

    if (lane == bit)
      turned[((size_t) x * 32 + bit) * maps.tiles_y + y] = column;
  }
}

// ---- cells ----

// The least v with v * d >= n, for n that changes little from line to line.
struct Quotient {
  int d, v, rest; // v * d - n, below d

  __device__
  Quotient (long long n, int divisor)
      : d (divisor)
  {
    v = (int) cuv_divide_up (n, d);
    rest = (int) ((long long) v * d - n);
  }

  __device__ void
  add (int change)
  {
    rest -= change;
    for (; rest < 0; rest += d)
      v++;
    for (; rest >= d; rest -= d)
      v--;
  }
};

static __device__ __forceinline__ int
count_bits (const unsigned *line, int first, int end)
{
  int n = 0;

  for (int word = first >> 5; first < end; word++) {
    const int last = min (end, 32 * word + 32); // of this word
    const unsigned bits = __ldcg (&line[word]) >> (first & 31);

    n +=
        __popc (last - first < 32 ? bits & ((1u << (last - first)) - 1) : bits);
    first = last;
  }
  return n;
}

// Grid: cells x rows.
static __global__ void
__launch_bounds__ (THREADS) gather_kernel (CuvVoteSpace space, CuvMaps maps,
    const unsigned *turned, unsigned *accumulator)
{
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const CuvVoteRow row = space.rows[blockIdx.y];
  const bool across = abs (row.dx) >= abs (row.dy);
  const int d = across ? row.dx : row.dy, other = across ? row.dy : row.dx;
  const int n_lines = across ? maps.height : maps.width;
  const int n = across ? maps.width : maps.height;
  const int pitch = across ? cuv_map_pitch (maps) : maps.tiles_y;
  const unsigned *line = across ? maps.edges : turned;
  unsigned votes = 0;

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  if (i >= row.n_cells)
    return;
  // pixels v of a line are the cell's if low <= v * d < low + 65536
  const long long low = 65536LL * (row.first_cell + i) - row.offset;
  Quotient first (d > 0 ? low : 1 - low - 65536, abs (d));
  Quotient end (d > 0 ? low + 65536 : 1 - low, abs (d));

  for (int k = 0; k < n_lines; k++, line += pitch) {
    votes += count_bits (line, max (first.v, 0), min (end.v, n));
    first.add (d > 0 ? -other : other);
    end.add (d > 0 ? -other : other);
  }
  accumulator[row.start + i] = votes;
}

int
cuv_vote_gather_submit (const CuvVoteSpace &space, const CuvMaps &maps,
    unsigned *turned, unsigned *cells, cudaStream_t stream)
{
  const int blocks =
      cuv_div_up (cuv_map_pitch (maps) * maps.tiles_y, THREADS / 32);
  const dim3 grid (cuv_div_up (space.most_cells, THREADS), space.n_rows);

  if (cuv_launch_early (
          "turn_kernel", blocks, THREADS, 0, stream, turn_kernel, maps, turned)
      != 0)
    return -1;
  return cuv_launch_early ("gather_kernel", grid, THREADS, 0, stream,
      gather_kernel, space, maps, turned, cells);
}
