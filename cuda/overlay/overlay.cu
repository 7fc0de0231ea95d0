// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws a list of primitives on a frame. A block draws a tile of cells (the
// pixels that share chroma samples), one cell per thread. Where many lines
// meet, one warp limits the speed, so a line must take few instructions.
#include "cuv-cuda.cuh"
#include "cuv-wait.h"
#include "overlay/fill-means.cuh"
#include "overlay/fill-types.h"
#include "overlay/overlay.h"
#include "overlay/primitive-upload.cuh"

#include <new>
#include <stdio.h>

#define CUV_OVERLAY_TILE_X 32 // cells of a block's tile
#define CUV_OVERLAY_TILE_Y 8
#define CUV_OVERLAY_WARP_X 8 // cells of a warp's part of it
#define CUV_OVERLAY_WARP_Y 4
#define CUV_OVERLAY_THREADS (CUV_OVERLAY_TILE_X * CUV_OVERLAY_TILE_Y)

static_assert (
    sizeof (CuvPrimitive) == 80, "primitives must be laid out as in draw.c");

struct _CuvOverlayCuda {
  CuvOverlayListMemory memory;
  cudaEvent_t done;
  CuvWait wait;
  bool pending; // a submit has not been waited for
};

// The pixels of a tile, half open.
struct Tile {
  int x0, y0, x1, y1;
};

// ---- which primitives touch a tile ----

// Whether all pixels of the tile are outside the strip |cross| <= low, which
// contains the line and its caps. The cross product is linear: its extremes
// over a tile are at the corners.
static __device__ bool
strip_misses (const CuvPrimitive *p, const Tile &tile)
{
  const int32_t dx = p->line.bx - p->line.ax, dy = p->line.by - p->line.ay;
  const int32_t vx0 = tile.x0 * CUV_OVERLAY_UNIT - p->line.ax;
  const int32_t vx1 = (tile.x1 - 1) * CUV_OVERLAY_UNIT - p->line.ax;
  const int32_t vy0 = tile.y0 * CUV_OVERLAY_UNIT - p->line.ay;
  const int32_t vy1 = (tile.y1 - 1) * CUV_OVERLAY_UNIT - p->line.ay;
  const int64_t smallest =
      cuv_product (dx, vy0) - cuv_product (dy, dy > 0 ? vx1 : vx0);
  const int64_t largest =
      cuv_product (dx, vy1) - cuv_product (dy, dy > 0 ? vx0 : vx1);

  return p->line.length2 != 0
      && (smallest > p->line.low || largest < -p->line.low);
}

static __device__ bool
touches (const CuvPrimitive *p, const Tile &tile)
{
  // | instead of ||, so that all four are read at once
  if ((p->x0 >= tile.x1) | (p->x1 <= tile.x0) | (p->y0 >= tile.y1)
      | (p->y1 <= tile.y0))
    return false;
  if (p->kind == CUV_OVERLAY_PRIMITIVE_RECT)
    return tile.x0 < p->hole.x0 || tile.x1 > p->hole.x1 || tile.y0 < p->hole.y0
        || tile.y1 > p->hole.y1;
  return p->kind != CUV_OVERLAY_PRIMITIVE_LINE || !strip_misses (p, tile);
}

// Copies those of the primitives first .. first + CUV_OVERLAY_THREADS - 1 that
// touch the tile to the list, in order, and returns their number. Called by all
// threads of the block.
static __device__ int
gather (const CuvPrimitive *primitives, int n, int first, const Tile &tile,
    CuvPrimitive *list)
{
  __shared__ int warp_count[CUV_OVERLAY_THREADS / 32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int index = first + threadIdx.x, before = 0, total = 0;
  bool mine = index < n && touches (&primitives[index], tile);
  unsigned votes = __ballot_sync (0xffffffffu, mine);

  if (!__syncthreads_or (mine))
    return 0;
  if (lane == 0)
    warp_count[warp] = __popc (votes);
  __syncthreads ();
  for (int w = 0; w < CUV_OVERLAY_THREADS / 32; w++) {
    before += w < warp ? warp_count[w] : 0;
    total += warp_count[w];
  }
  if (mine)
    list[before + __popc (votes & ((1u << lane) - 1))] = primitives[index];
  __syncthreads ();
  return total;
}

// ---- a cell: the pixels that share chroma samples ----

// XS, YS: subsampling of all components but the first; N: components.
template <int XS, int YS, int N> struct Cell {
  static constexpr int W = 1 << XS, H = 1 << YS;

  uint8_t value[N][H][W]; // in registers: unrolling makes every index constant
  int x, y, w, h;         // first pixel, and how many are in the frame
  bool changed;

  static constexpr __device__ bool
  shared_sample (int k)
  {
    return k > 0 && W * H > 1;
  }

  __device__ uint8_t *
  at (const CuvFrame &frame, int k, int i, int j) const
  {
    const CuvComponent &c = frame.component[k];

    return c.data + (int64_t) ((y + j) >> c.ysub) * c.stride
        + (int64_t) ((x + i) >> c.xsub) * c.step;
  }

  // Calls f on every sample of the cell.
  template <typename F>
  static __device__ void
  each (F f)
  {
#pragma unroll
    for (int k = 0; k < N; k++) {
#pragma unroll
      for (int j = 0; j < H; j++) {
#pragma unroll
        for (int i = 0; i < W; i++) {
          if (!shared_sample (k) || i + j == 0)
            f (k, i, j);
        }
      }
    }
  }

  __device__ bool
  is_in_frame (int k, int i, int j) const
  {
    return shared_sample (k) ? w > 0 && h > 0 : i < w && j < h;
  }

  __device__ void
  load (const CuvFrame &frame)
  {
    each ([&] (int k, int i, int j) {
      value[k][j][i] = is_in_frame (k, i, j) ? *at (frame, k, i, j) : 0;
    });
  }

  __device__ void
  store (const CuvFrame &frame)
  {
    each ([&] (int k, int i, int j) {
      if (is_in_frame (k, i, j))
        *at (frame, k, i, j) = value[k][j][i];
    });
  }

  // Computes the coverages of a line if the cell is between its ends; otherwise
  // returns false. From pixel to pixel the cross product changes by constants.
  __device__ bool
  between_ends (const CuvPrimitive *p, int coverage[H][W]) const
  {
    const CuvLinePixel first = cuv_line_pixel (p, x, y);
    const int64_t reach = cuv_product (
        CUV_OVERLAY_UNIT, (W - 1) * first.dx + (H - 1) * abs (first.dy));

    if (first.along <= reach || first.along >= p->line.length2 - reach)
      return false;
#pragma unroll
    for (int j = 0; j < H; j++) {
#pragma unroll
      for (int i = 0; i < W; i++) {
        const int64_t c = first.cross
            + cuv_product (CUV_OVERLAY_UNIT, j * first.dx - i * first.dy);

        coverage[j][i] = c >= -p->line.low && c <= p->line.high ? 255 : 0;
      }
    }
    return true;
  }

  __device__ void
  draw (const CuvPrimitive *p, const uint8_t *bytes)
  {
    int coverage[H][W], sum = 0;

    if (p->kind != CUV_OVERLAY_PRIMITIVE_LINE || !between_ends (p, coverage)) {
#pragma unroll
      for (int j = 0; j < H; j++) {
#pragma unroll
        for (int i = 0; i < W; i++)
          coverage[j][i] = cuv_primitive_coverage (p, bytes, x + i, y + j);
      }
    }
#pragma unroll
    for (int j = 0; j < H; j++) {
#pragma unroll
      for (int i = 0; i < W; i++) {
        coverage[j][i] = i < w && j < h ? coverage[j][i] : 0;
        sum += coverage[j][i];
      }
    }
    if (sum == 0)
      return;
    changed = true;
    each ([&] (int k, int i, int j) {
      bool shared = shared_sample (k);
      uint32_t weight = p->alpha * (shared ? sum : coverage[j][i]);

      value[k][j][i] = cuv_overlay_blend (
          value[k][j][i], weight, p->colour[k] * weight, shared ? w * h : 1);
    });
  }

  // Replaces samples with at least one hidden pixel.
  __device__ void
  fill (const CuvPrimitive *p, const uint8_t *means, const CuvFrame &frame)
  {
    bool hidden[H][W], any = false;

#pragma unroll
    for (int j = 0; j < H; j++) {
#pragma unroll
      for (int i = 0; i < W; i++) {
        hidden[j][i] = i < w && j < h && cuv_fill_covers (p, x + i, y + j);
        any = any || hidden[j][i];
      }
    }
    if (!any)
      return;
    changed = true;
    each ([&] (int k, int i, int j) {
      const CuvComponent &c = frame.component[k];

      if (shared_sample (k) || hidden[j][i])
        value[k][j][i] = cuv_fill_sample (p, means, &c, k,
            ((x + i) >> c.xsub) - (p->fill.left >> c.xsub),
            ((y + j) >> c.ysub) - (p->fill.top >> c.ysub));
    });
  }

  __device__ void
  draw_picture (const CuvPrimitive *p, const uint8_t *bytes)
  {
    uint32_t colour[H][W], weight[H][W], sum = 0; // colour: four bytes

#pragma unroll
    for (int j = 0; j < H; j++) {
#pragma unroll
      for (int i = 0; i < W; i++) {
        bool reached = cuv_primitive_reaches (p, x + i, y + j);

        colour[j][i] = reached
            ? *(const uint32_t *) cuv_picture_pixel (p, bytes, x + i, y + j)
            : 0;
        weight[j][i] = reached ? 255 * p->alpha : 0;
        sum += weight[j][i];
      }
    }
    if (sum == 0)
      return;
    changed = true;
    each ([&] (int k, int i, int j) {
      uint32_t weighted = 0;

#pragma unroll
      for (int c = 0; c < H * W; c++)
        weighted += shared_sample (k) || c == j * W + i
            ? (colour[c / W][c % W] >> 8 * k & 255) * weight[c / W][c % W]
            : 0;
      value[k][j][i] = cuv_overlay_blend (value[k][j][i],
          shared_sample (k) ? sum : weight[j][i], weighted,
          shared_sample (k) ? w * h : 1);
    });
  }
};

// ---- kernel ----

// A block draws a tile of CUV_OVERLAY_TILE_X x CUV_OVERLAY_TILE_Y cells; the
// tile of the first block begins at cell (cell_x, cell_y) of the frame. It
// tests CUV_OVERLAY_THREADS primitives at a time, one per thread; its warps
// test those that touch the tile, and draw those that touch their part of it.
template <int XS, int YS, int N>
static __global__ void
__launch_bounds__ (CUV_OVERLAY_THREADS)
    overlay_kernel (const CuvFrame frame, const CuvPrimitive *primitives, int n,
        const uint8_t *bytes, const uint8_t *means, int cell_x, int cell_y)
{
  __shared__ CuvPrimitive list[CUV_OVERLAY_THREADS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Cell<XS, YS, N> cell;
  Tile tile, part;
  bool loaded = false;

  tile.x0 = (cell_x + blockIdx.x * CUV_OVERLAY_TILE_X) << XS;
  tile.y0 = (cell_y + blockIdx.y * CUV_OVERLAY_TILE_Y) << YS;
  tile.x1 = min (tile.x0 + (CUV_OVERLAY_TILE_X << XS), frame.width);
  tile.y1 = min (tile.y0 + (CUV_OVERLAY_TILE_Y << YS), frame.height);
  part.x0 = tile.x0
      + (warp % (CUV_OVERLAY_TILE_X / CUV_OVERLAY_WARP_X) * CUV_OVERLAY_WARP_X
          << XS);
  part.y0 = tile.y0
      + (warp / (CUV_OVERLAY_TILE_X / CUV_OVERLAY_WARP_X) * CUV_OVERLAY_WARP_Y
          << YS);
  part.x1 = min (part.x0 + (CUV_OVERLAY_WARP_X << XS), frame.width);
  part.y1 = min (part.y0 + (CUV_OVERLAY_WARP_Y << YS), frame.height);
  cell.x = part.x0 + (lane % CUV_OVERLAY_WARP_X << XS);
  cell.y = part.y0 + (lane / CUV_OVERLAY_WARP_X << YS);
  cell.w = min (cell.W, max (frame.width - cell.x, 0));
  cell.h = min (cell.H, max (frame.height - cell.y, 0));
  cell.changed = false;
  for (int first = 0; first < n; first += CUV_OVERLAY_THREADS) {
    const int n_here = gather (primitives, n, first, tile, list);

    for (int base = 0; base < n_here; base += 32) {
      const int i = base + lane;
      unsigned mine =
          __ballot_sync (~0u, i < n_here && touches (&list[i], part));

      if (mine != 0 && !loaded)
        cell.load (frame);
      loaded = loaded || mine != 0;
      for (; mine != 0; mine &= mine - 1) {
        const CuvPrimitive *p = &list[base + __ffs (mine) - 1];

        if (p->kind == CUV_OVERLAY_PRIMITIVE_FILL)
          cell.fill (p, means, frame);
        else if (p->kind == CUV_OVERLAY_PRIMITIVE_PICTURE)
          cell.draw_picture (p, bytes);
        else
          cell.draw (p, bytes);
      }
    }
  }
  if (cell.changed)
    cell.store (frame);
}

typedef void (*Kernel) (CuvFrame, const CuvPrimitive *, int, const uint8_t *,
    const uint8_t *, int, int);

static const struct {
  int xsub, ysub, n_components;
  Kernel kernel;
} kernels[] = {
  { 1, 1, 3, overlay_kernel<1, 1, 3> },
  { 1, 0, 3, overlay_kernel<1, 0, 3> },
  { 0, 0, 1, overlay_kernel<0, 0, 1> },
  { 0, 0, 3, overlay_kernel<0, 0, 3> },
  { 0, 0, 4, overlay_kernel<0, 0, 4> },
};

// ---- launcher ----

static int
find_kernel (const CuvFrame *frame)
{
  const CuvComponent *c = &frame->component[frame->n_components > 1 ? 1 : 0];

  for (int i = 0; i < (int) (sizeof kernels / sizeof *kernels); i++) {
    if (kernels[i].xsub == c->xsub && kernels[i].ysub == c->ysub
        && kernels[i].n_components == frame->n_components)
      return i;
  }
  return -1;
}

// Records that no kernel supports the frame. Returns -1.
static int
cuv_overlay_reject (const CuvFrame *frame)
{
  const CuvComponent *c = &frame->component[frame->n_components > 1 ? 1 : 0];
  char text[120];

  snprintf (text, sizeof text,
      "overlay: unsupported frame: %d components with 1/%d x 1/%d chroma "
      "samples",
      frame->n_components, 1 << c->xsub, 1 << c->ysub);
  return cuv_cuda_record (cudaErrorInvalidValue, text);
}

// Returns the bounding box of all primitives, clipped to the frame.
static Tile
bounds (const CuvOverlayList *list, const CuvFrame *frame)
{
  Tile box = { frame->width, frame->height, 0, 0 };

  for (int i = 0; i < list->n_primitives; i++) {
    const CuvPrimitive *p = &list->primitives[i];

    box.x0 = p->x0 < box.x0 ? p->x0 : box.x0;
    box.y0 = p->y0 < box.y0 ? p->y0 : box.y0;
    box.x1 = p->x1 > box.x1 ? p->x1 : box.x1;
    box.y1 = p->y1 > box.y1 ? p->y1 : box.y1;
  }
  box.x0 = box.x0 > 0 ? box.x0 : 0;
  box.y0 = box.y0 > 0 ? box.y0 : 0;
  box.x1 = box.x1 < frame->width ? box.x1 : frame->width;
  box.y1 = box.y1 < frame->height ? box.y1 : frame->height;
  return box;
}

static int
cuv_overlay_launch (const CuvOverlayList *list,
    const CuvOverlayDeviceList &on_device, const CuvFrame *frame, int k,
    cudaStream_t stream)
{
  const size_t sums = cuv_fill_sums_bytes (list, frame);
  const CuvOverlayFillMemory memory = { on_device.primitives,
    on_device.scratch + sums, (unsigned *) on_device.scratch };
  Tile box = bounds (list, frame);
  dim3 grid;

  if (box.x0 >= box.x1 || box.y0 >= box.y1)
    return 0;
  if (cuv_fill_launch_means (list, &memory, frame, stream) != 0)
    return -1;
  box.x0 >>= kernels[k].xsub;
  box.y0 >>= kernels[k].ysub;
  box.x1 = ((box.x1 - 1) >> kernels[k].xsub) + 1;
  box.y1 = ((box.y1 - 1) >> kernels[k].ysub) + 1;
  grid = dim3 (cuv_div_up (box.x1 - box.x0, CUV_OVERLAY_TILE_X),
      cuv_div_up (box.y1 - box.y0, CUV_OVERLAY_TILE_Y));
  kernels[k].kernel<<<grid, CUV_OVERLAY_THREADS, 0, stream>>> (*frame,
      on_device.primitives, list->n_primitives, on_device.bytes, memory.means,
      box.x0, box.y0);
  CUV_CUDA_LAUNCHED (overlay_kernel);
  return 0;
}

static int
submit_list (CuvOverlayCuda *self, const CuvOverlayList *list,
    const CuvFrame *frame, int k, cudaStream_t stream)
{
  CuvOverlayDeviceList on_device;

  if (cuv_overlay_list_upload (&self->memory, list, &on_device, stream) != 0
      || cuv_overlay_launch (list, on_device, frame, k, stream) != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->done, stream));
  return 0;
}

static int
wait (CuvOverlayCuda *self)
{
  if (!self->pending)
    return 0;
  self->pending = false;
  return cuv_wait_event (&self->wait, self->done);
}

static int
cuv_overlay_init (CuvOverlayCuda *self)
{
  const CuvOverlayList empty = {};
  cudaFuncAttributes attributes;

  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    CUV_CUDA_TRY (
        cudaFuncGetAttributes (&attributes, (const void *) kernels[i].kernel));
  CUV_CUDA_TRY (cudaEventCreateWithFlags (&self->done, cudaEventDisableTiming));
  return cuv_overlay_list_reserve (&self->memory, &empty, 0);
}

// ---- entries ----

extern "C" CuvOverlayCuda *
cuv_overlay_cuda_new (void)
{
  CuvOverlayCuda *self = new (std::nothrow) CuvOverlayCuda ();

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  if (cuv_overlay_init (self) == 0)
    return self;
  cuv_overlay_cuda_free (self);
  return nullptr;
}

extern "C" void
cuv_overlay_cuda_free (CuvOverlayCuda *self)
{
  if (self == nullptr)
    return;
  wait (self);
  if (self->done != nullptr)
    cuv_cuda_record (cudaEventDestroy (self->done), "cudaEventDestroy");
  cuv_arena_clear (&self->memory.arena);
  delete self;
}

extern "C" int
cuv_overlay_cuda_submit (CuvOverlayCuda *self, const CuvOverlayList *list,
    const CuvFrame *frame, CuvCudaStream stream_handle)
{
  cudaStream_t stream = (cudaStream_t) stream_handle;
  size_t scratch = cuv_fill_sums_bytes (list, frame) + (size_t) list->n_means;
  int k = find_kernel (frame);

  if (k < 0)
    return cuv_overlay_reject (frame);
  if (wait (self) != 0)
    return -1;
  if (cuv_overlay_list_reserve (&self->memory, list, scratch) != 0)
    return -1;
  if (list->n_primitives == 0)
    return 0;
  if (submit_list (self, list, frame, k, stream) != 0) {
    cudaStreamSynchronize (stream); // the list and the frame are still in use
    return -1;
  }
  self->pending = true;
  return 0;
}

extern "C" int
cuv_overlay_cuda_collect (CuvOverlayCuda *self)
{
  return wait (self);
}
