// SPDX-License-Identifier: LGPL-2.1-or-later
// Two kernels over the window positions of all levels. The first decides stage
// 0 at every position and leaves a bit each. From the bits the second works out
// which positions the scan visits (a reject at stage 0 skips the next one),
// gathers the survivors of a tile, and drives them through the other stages,
// closing up the list after each.
#include "waldboost/pyramid.cuh"
#include "waldboost/waldboost.h"

#include <algorithm>
#include <stdlib.h>
#include <string.h>
#include <tuple>

#define DENSE_WARPS 8
#define TILE_WORDS 64 // 2048 positions: an index fits 16 bits
#define TILE_THREADS 128
#define FEW 32 // windows left that no longer pay for closing up the list
#define FIRST_HITS 512 // that the one readback brings

// Device copies of the model's arrays.
struct DeviceModel {
  int32_t n_stages;
  const CuvWeak *weak;
  const CuvGridNode *nodes;
  const float *leaves;
  const int32_t *stage_first;
};

// Stage 0 of most models, small enough to be passed to a kernel by value: what
// all threads read alike then comes from constant memory.
#define FEW_WEAK 32
struct FirstStage {
  int32_t stage_first[2];
  CuvWeak weak[FEW_WEAK];
  CuvGridNode nodes[FEW_WEAK];
  float leaves[2 * FEW_WEAK];
};

// What comes back: counters, then hits.
struct Block {
  uint32_t n_hits, pad;
  unsigned long long windows, stage_0;
  CuvWaldboostHit hits[CUV_WALDBOOST_MAX_HITS];
};
#define BLOCK_HEAD offsetof (Block, hits)

struct _CuvWaldboostCuda {
  CuvArena arena;
  CuvPyramid pyramid;
  DeviceModel model;
  FirstStage first; // if it fits: stage_first[1] > 0
  int n_dense, n_tiles;
  CuvTile *dense, *tiles; // level, first word
  uint32_t *passed;       // a bit per position: stage 0 passed
  Block *block, *pinned;
  uint32_t *found; // pinned, for find_first()
  cudaEvent_t done;
  cudaStream_t stream;
  int (*launch_dense) (CuvWaldboostCuda *self);
  int (*launch_survivors) (CuvWaldboostCuda *self, int first, int n);
};

// ---- kernels ----

// One window, and where its sums are.
template <typename Sum> struct Window {
  const Sum *at;
  int pitch;
  unsigned half, shift;

  // the i-th window of a row of windows; with step 2 its column 2i is element i
  __device__
  Window (const Sum *sums, const CuvIntegralLevel &level, int i, int row)
      : pitch (level.pitch), half (level.pitch / 2),
        shift (level.plan.step == 2)
  {
    at = sums + level.first + (int64_t) row * level.plan.step * level.pitch + i;
  }

  __device__ unsigned
  column (unsigned x) const
  {
    return (x & shift) * half + (x >> shift);
  }
};

// The code of one node. All in 32 bits: 16-bit arithmetic costs twice as much.
template <typename Sum>
static __device__ unsigned
lbp_code (const Window<Sum> &window, const CuvGridNode &node)
{
  unsigned column[4], sum[4][4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    column[i] = window.column (node.x + i * node.width);
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const Sum *row = window.at + (node.y + j * node.height) * window.pitch;

#pragma unroll
    for (int i = 0; i < 4; i++)
      sum[j][i] = row[column[i]];
  }
  // a difference's sign bit is shifted in for each neighbour
#define BLOCK(j, i)                                                            \
  (int) (Sum) (sum[j + 1][i + 1] - sum[j][i + 1] - sum[j + 1][i] + sum[j][i])
  int centre = BLOCK (1, 1);
  unsigned below = 0;
#define NEIGHBOUR(j, i)                                                        \
  below = __funnelshift_l ((unsigned) (BLOCK (j, i) - centre), below, 1)
  NEIGHBOUR (0, 0);
  NEIGHBOUR (0, 1);
  NEIGHBOUR (0, 2);
  NEIGHBOUR (1, 2);
  NEIGHBOUR (2, 2);
  NEIGHBOUR (2, 1);
  NEIGHBOUR (2, 0);
  NEIGHBOUR (1, 0);
#undef NEIGHBOUR
#undef BLOCK
  return ~below & 255;
}

template <typename Sum, bool stumps, typename Model>
static __device__ float
leaf_of (const Model &model, const CuvWeak &weak, const Window<Sum> &window)
{
  int child = 0;

  do {
    const CuvGridNode &node = model.nodes[weak.first_node + child];
    unsigned code = lbp_code (window, node);

    child = node.subset[code >> 5] >> (code & 31) & 1 ? node.left : node.right;
  } while (!stumps && child > 0);
  return model.leaves[weak.first_leaf - child];
}

// Runs one stage; margin is how far its sum ends above the threshold.
template <typename Sum, bool stumps, typename Model>
static __device__ bool
stage_passes (
    const Model &model, int stage, const Window<Sum> &window, double *margin)
{
  int end = model.stage_first[stage + 1];
  double sum = 0;

  for (int k = model.stage_first[stage]; k < end; k++) {
    sum += leaf_of<Sum, stumps> (model, model.weak[k], window);
    if (sum < model.weak[k].threshold)
      return false;
  }
  *margin = sum - (double) model.weak[end - 1].threshold;
  return true;
}

// One thread per position, a warp per word.
template <typename Sum, bool stumps, typename Model>
static __global__ void
dense_kernel (const CuvTile *tiles, const CuvIntegralLevel *levels,
    const Sum *integral, const __grid_constant__ Model model, uint32_t *passed)
{
  const CuvTile tile = tiles[blockIdx.x];
  const CuvIntegralLevel level = levels[tile.level];
  int word = tile.x + threadIdx.y;
  int row = word / level.words;
  int i = (word - row * level.words) * 32 + threadIdx.x;
  bool ok = row < level.plan.n_y && i < level.plan.n_x;
  double margin;

  if (ok)
    ok = stage_passes<Sum, stumps> (
        model, 0, Window<Sum> (integral, level, i, row), &margin);
  unsigned bits = __ballot_sync (~0u, ok);
  if (threadIdx.x == 0 && row < level.plan.n_y)
    passed[level.first_word + word] = bits;
}

// Whether the scan visits the first position of a word: it does if the last
// position that passed lies an even number of positions before the next one.
// Words without any leave it as it was.
static __device__ bool
visits_first (const uint32_t *row_start, const uint32_t *word)
{
  while (word > row_start) {
    uint32_t before = *--word;

    if (before != 0)
      return __clz (before) % 2 == 0;
  }
  return true;
}

// The positions of a word that the scan visits.
static __device__ uint32_t
visited_bits (const uint32_t *row_start, const uint32_t *word, int n_valid)
{
  uint32_t passed = *word, visited = 0;
  bool visit = visits_first (row_start, word);

  for (int i = 0; i < n_valid; i++) {
    visited |= (uint32_t) visit << i;
    visit = !(visit && !(passed >> i & 1));
  }
  return visited;
}

// Counts what this tile's words visit and lists the survivors of stage 0.
static __device__ void
list_survivors (const CuvTile &tile, const CuvIntegralLevel &level,
    const uint32_t *passed, uint16_t *list, int *n_list, Block *block)
{
  int word = tile.x + threadIdx.x;
  uint32_t visited = 0, alive = 0;
  int row = word / level.words, at;

  if (threadIdx.x >= TILE_WORDS)
    return;
  if (row < level.plan.n_y) {
    const uint32_t *row_start = passed + level.first_word + row * level.words;
    int column = word - row * level.words;

    visited = visited_bits (
        row_start, row_start + column, min (32, level.plan.n_x - column * 32));
    alive = visited & row_start[column];
  }
  at = atomicAdd (n_list, __popc (alive));
  for (uint32_t bits = alive; bits != 0; bits &= bits - 1)
    list[at++] = (uint16_t) (threadIdx.x * 32 + __ffs (bits) - 1);
  unsigned n_visited = __reduce_add_sync (~0u, __popc (visited));
  unsigned n_alive = __reduce_add_sync (~0u, __popc (alive));
  if (threadIdx.x % 32 == 0) {
    atomicAdd (&block->windows, n_visited);
    atomicAdd (&block->stage_0, n_alive);
  }
}

static __device__ void
add_hit (Block *block, int level, int x, int y, double margin)
{
  unsigned at = atomicAdd (&block->n_hits, 1u);

  if (at < CUV_WALDBOOST_MAX_HITS)
    block->hits[at] = CuvWaldboostHit{ level, x, y, (float) margin };
}

// Block: one tile. Two lists in turn: the windows alive before and after a
// stage, as indices into the tile.
template <typename Sum, bool stumps>
static __global__ void
__launch_bounds__ (TILE_THREADS, 10) survivor_kernel (const CuvTile *tiles,
    const CuvIntegralLevel *levels, const Sum *integral, DeviceModel model,
    const uint32_t *passed, Block *block)
{
  __shared__ uint16_t lists[2][TILE_WORDS * 32];
  __shared__ int counts[3];
  const CuvTile tile = tiles[blockIdx.x];
  const CuvIntegralLevel level = levels[tile.level];
  // a model of one stage has it run again here, for the score
  int stage = min (1, model.n_stages - 1);

  if (threadIdx.x < 3)
    counts[threadIdx.x] = 0;
  __syncthreads ();
  list_survivors (tile, level, passed, lists[0], &counts[0], block);
  __syncthreads ();

  for (int turn = 0;; turn++, stage++) {
    const uint16_t *list = lists[turn % 2];
    int n = counts[turn % 3];
    bool last = n <= FEW || stage == model.n_stages - 1;

    if (n == 0)
      return;
    for (int k = threadIdx.x; k < n; k += TILE_THREADS) {
      int word = tile.x + list[k] / 32;
      int row = word / level.words;
      int i = (word - row * level.words) * 32 + list[k] % 32;
      Window<Sum> window (integral, level, i, row);
      double margin;
      bool ok = stage_passes<Sum, stumps> (model, stage, window, &margin);

      if (last) {
        for (int s = stage + 1; ok && s < model.n_stages; s++)
          ok = stage_passes<Sum, stumps> (model, s, window, &margin);
        if (ok)
          add_hit (block, tile.level, i * level.plan.step,
              row * level.plan.step, margin);
      } else if (ok) {
        lists[(turn + 1) % 2][atomicAdd (&counts[(turn + 1) % 3], 1)] = list[k];
      }
    }
    if (last)
      return;
    // the count after next; nobody reads or adds to it in this turn
    if (threadIdx.x == 0)
      counts[(turn + 2) % 3] = 0;
    __syncthreads ();
  }
}

// ---- launchers ----

template <typename Sum, bool stumps, typename Model>
static int
launch_dense_of (CuvWaldboostCuda *self, const Model &model)
{
  dense_kernel<Sum, stumps, Model>
      <<<self->n_dense, dim3 (32, DENSE_WARPS), 0, self->stream>>> (self->dense,
          self->pyramid.levels, (const Sum *) self->pyramid.integral, model,
          self->passed);
  CUV_CUDA_LAUNCHED (dense_kernel);
  return 0;
}

template <typename Sum, bool stumps>
static int
launch_dense (CuvWaldboostCuda *self)
{
  if (stumps && self->first.stage_first[1] > 0)
    return launch_dense_of<Sum, true> (self, self->first);
  return launch_dense_of<Sum, stumps> (self, self->model);
}

template <typename Sum, bool stumps>
static int
launch_survivors (CuvWaldboostCuda *self, int first, int n)
{
  CUV_CUDA_TRY (cudaMemsetAsync (self->block, 0, BLOCK_HEAD, self->stream));
  survivor_kernel<Sum, stumps>
      <<<n, TILE_THREADS, 0, self->stream>>> (self->tiles + first,
          self->pyramid.levels, (const Sum *) self->pyramid.integral,
          self->model, self->passed, self->block);
  CUV_CUDA_LAUNCHED (survivor_kernel);
  return 0;
}

// The kernels for the model and the sums at hand.
template <typename Sum, bool stumps>
static void
choose (CuvWaldboostCuda *self)
{
  self->launch_dense = launch_dense<Sum, stumps>;
  self->launch_survivors = launch_survivors<Sum, stumps>;
}

// ---- entries ----

static void
copy_first_stage (FirstStage *first, const CuvWaldboostModel *model)
{
  int n = model->stage_first[1];

  if (!model->stumps || n > FEW_WEAK)
    return;
  for (int k = 0; k < n; k++) {
    CuvWeak weak = model->weak[k];

    first->nodes[k] = model->nodes[weak.first_node];
    first->leaves[2 * k] = model->leaves[weak.first_leaf];
    first->leaves[2 * k + 1] = model->leaves[weak.first_leaf + 1];
    weak.first_node = k;
    weak.first_leaf = 2 * k;
    first->weak[k] = weak;
  }
  first->stage_first[1] = n;
}

static int
upload_model (CuvWaldboostCuda *self, const CuvWaldboostModel *model)
{
  CuvArena *arena = &self->arena;
  DeviceModel *device = &self->model;

  copy_first_stage (&self->first, model);
  device->n_stages = model->n_stages;
  device->weak = (const CuvWeak *) cuv_arena_upload (
      arena, model->weak, model->n_weak * sizeof *model->weak);
  device->nodes = (const CuvGridNode *) cuv_arena_upload (
      arena, model->nodes, model->n_nodes * sizeof *model->nodes);
  device->leaves = (const float *) cuv_arena_upload (
      arena, model->leaves, model->n_leaves * sizeof *model->leaves);
  device->stage_first = (const int32_t *) cuv_arena_upload (arena,
      model->stage_first, (model->n_stages + 1) * sizeof *model->stage_first);
  return device->weak && device->nodes && device->leaves && device->stage_first
      ? 0
      : -1;
}

// Cuts every level's words into tiles of so many; uploads them.
static CuvTile *
upload_tiles (CuvWaldboostCuda *self, int tile_words, int *n_tiles)
{
  const CuvPyramid *pyramid = &self->pyramid;
  CuvTile *tiles = nullptr, *device;
  int n = 0;

  for (int pass = 0; pass < 2; pass++) {
    n = 0;
    for (int i = 0; i < pyramid->n_levels; i++) {
      const CuvIntegralLevel *level = &pyramid->levels_host[i];

      for (int w = 0; w < level->words * level->plan.n_y;
           w += tile_words, n++) {
        if (pass == 1)
          tiles[n] = CuvTile{ i, w, 0 };
      }
    }
    if (pass == 0)
      tiles = (CuvTile *) calloc (n, sizeof *tiles);
  }
  device =
      (CuvTile *) cuv_arena_upload (&self->arena, tiles, n * sizeof *tiles);
  free (tiles);
  *n_tiles = n;
  return device;
}

static int
init (CuvWaldboostCuda *self, const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan)
{
  const CuvIntegralLevel *last;
  size_t words;

  if (cuv_pyramid_init (&self->pyramid, &self->arena, model, plan) != 0
      || upload_model (self, model) != 0)
    return -1;
  if (self->pyramid.narrow)
    model->stumps ? choose<uint16_t, true> (self)
                  : choose<uint16_t, false> (self);
  else
    model->stumps ? choose<uint32_t, true> (self)
                  : choose<uint32_t, false> (self);
  last = &self->pyramid.levels_host[plan->n_levels - 1];
  words = last->first_word + (size_t) last->words * last->plan.n_y;
  self->dense = upload_tiles (self, DENSE_WARPS, &self->n_dense);
  self->tiles = upload_tiles (self, TILE_WORDS, &self->n_tiles);
  self->passed =
      (uint32_t *) cuv_arena_alloc (&self->arena, words * sizeof *self->passed);
  self->block = (Block *) cuv_arena_alloc (&self->arena, sizeof (Block));
  // twice the hits, so that find_first() has room for a last lot
  self->pinned = (Block *) cuv_arena_pinned (&self->arena,
      sizeof (Block) + CUV_WALDBOOST_MAX_HITS * sizeof (CuvWaldboostHit));
  self->found =
      (uint32_t *) cuv_arena_pinned (&self->arena, sizeof *self->found);
  if (!self->dense || !self->tiles || !self->passed || !self->block
      || !self->pinned || !self->found)
    return -1;
  CUV_CUDA_TRY (cudaEventCreateWithFlags (&self->done, cudaEventDisableTiming));
  return 0;
}

extern "C" CuvWaldboostCuda *
cuv_waldboost_cuda_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  CuvWaldboostCuda *self = (CuvWaldboostCuda *) calloc (1, sizeof *self);

  if (init (self, model, plan) == 0)
    return self;
  cuv_waldboost_cuda_free (self);
  return nullptr;
}

extern "C" void
cuv_waldboost_cuda_free (CuvWaldboostCuda *self)
{
  if (self == nullptr)
    return;
  if (self->done != nullptr)
    cuv_cuda_record (cudaEventDestroy (self->done), "cudaEventDestroy");
  cuv_pyramid_clear (&self->pyramid);
  cuv_arena_clear (&self->arena);
  free (self);
}

extern "C" int
cuv_waldboost_cuda_submit (
    CuvWaldboostCuda *self, const CuvFrame *frame, CuvCudaStream stream)
{
  self->stream = (cudaStream_t) stream;
  if (cuv_pyramid_submit (&self->pyramid, frame, self->stream) != 0
      || self->launch_dense (self) != 0
      || self->launch_survivors (self, 0, self->n_tiles) != 0)
    return -1;
  CUV_CUDA_TRY (cudaMemcpyAsync (self->pinned, self->block,
      BLOCK_HEAD + FIRST_HITS * sizeof (CuvWaldboostHit),
      cudaMemcpyDeviceToHost, self->stream));
  CUV_CUDA_TRY (cudaEventRecord (self->done, self->stream));
  return 0;
}

// Blocks finish in any order: the result's order is by level, y, x.
static void
sort_hits (CuvWaldboostHit *hits, uint32_t n)
{
  std::sort (
      hits, hits + n, [] (const CuvWaldboostHit &a, const CuvWaldboostHit &b) {
        return std::tie (a.level, a.y, a.x) < std::tie (b.level, b.y, b.x);
      });
}

// Brings hits from index first on and waits for them.
static int
fetch (CuvWaldboostCuda *self, uint32_t first, uint32_t n, CuvWaldboostHit *to)
{
  CUV_CUDA_TRY (cudaMemcpyAsync (to, self->block->hits + first, n * sizeof *to,
      cudaMemcpyDeviceToHost, self->stream));
  CUV_CUDA_TRY (cudaStreamSynchronize (self->stream));
  return 0;
}

// More hits than fit: which of them came first is chance. So they are found
// again, a few tiles at a time, until the first so many in order are there.
static int
find_first (CuvWaldboostCuda *self)
{
  const int few = CUV_WALDBOOST_MAX_HITS / (TILE_WORDS * 32);
  CuvWaldboostHit *hits = self->pinned->hits;
  uint32_t n = 0, found;

  for (int tile = 0; n < CUV_WALDBOOST_MAX_HITS; tile += few) {
    int rest = self->n_tiles - tile;

    if (self->launch_survivors (self, tile, rest < few ? rest : few) != 0)
      return -1;
    CUV_CUDA_TRY (cudaMemcpyAsync (self->found, &self->block->n_hits,
        sizeof found, cudaMemcpyDeviceToHost, self->stream));
    CUV_CUDA_TRY (cudaStreamSynchronize (self->stream));
    found = *self->found;
    if (fetch (self, 0, found, hits + n) != 0)
      return -1;
    sort_hits (hits + n, found);
    n += found;
  }
  return 0;
}

extern "C" int
cuv_waldboost_cuda_collect (CuvWaldboostCuda *self, CuvWaldboostResult *result)
{
  Block *pinned = self->pinned;
  uint32_t n;

  CUV_CUDA_TRY (cudaEventSynchronize (self->done));
  n = pinned->n_hits;
  if (n > CUV_WALDBOOST_MAX_HITS) {
    n = CUV_WALDBOOST_MAX_HITS;
    if (find_first (self) != 0)
      return -1;
  } else {
    if (n > FIRST_HITS
        && fetch (self, FIRST_HITS, n - FIRST_HITS, pinned->hits + FIRST_HITS)
            != 0)
      return -1;
    sort_hits (pinned->hits, n);
  }
  result->hits = pinned->hits;
  result->n_hits = (int32_t) n;
  result->overflow = (int32_t) (pinned->n_hits - n);
  result->windows = pinned->windows;
  result->survivors = (const uint64_t *) &pinned->stage_0;
  return 0;
}
