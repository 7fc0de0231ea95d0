// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels of the principal components have in common.
#ifndef CUV_PCA_STATE_CUH
#define CUV_PCA_STATE_CUH

#include "cuv-cuda.cuh"
#include "pca/pca-basis.h"

#define CUV_PCA_WARPS 4      // of a pass that needs no more
#define CUV_PCA_MAX_WARPS 12 // each has a part of the sums, and many registers
#define CUV_PCA_SIDE 32      // bands across a part
#define CUV_PCA_MAX_BLOCKS 1024

#define CUV_PCA_FEW 31 // bands of integers that pca-few.cu has

// Of sums over few bands there are some copies, which blocks share: those that
// add to the same ones wait for each other.
#define CUV_PCA_FEW_COPIES 4
#define CUV_PCA_COPIES(n) ((n) <= CUV_PCA_FEW ? CUV_PCA_FEW_COPIES : 1)

// What a pass over the pixels does with each of them.
enum { CUV_PCA_SUM = 1 << 0, CUV_PCA_COUNT = 1 << 1, CUV_PCA_PAINT = 1 << 2 };

// What is learnt, in device memory.
struct CuvPcaKnown {
  CuvPcaMoments moments;
  CuvPcaBasis basis;
  CuvPcaScratch scratch; // where it is too large for shared memory
  int32_t has_limits;
  CuvPcaLimits limits;
  CuvPcaGains gains, bin_gains; // to bytes, to bins
};

// What the host is told of a frame, in its own memory.
struct CuvPcaReport {
  int64_t pixels;
  CuvPcaUpdate update;
  int32_t is_known;
  CuvPcaMode mode; // behind it are CUV_PCA_TOLD (n) numbers
};

// Numbers side by side: of a basis, which the host is told, those of all frames
// so far, which are kept, and of a frame.
#define CUV_PCA_TOLD(n) ((n) * ((n) + 3))
#define CUV_PCA_KEPT(n) (CUV_PCA_TOLD (n) + (n) * ((n) + 1))
#define CUV_PCA_NUMBERS(n) (CUV_PCA_KEPT (n) + (n) * ((n) + 1))

static __host__ __device__ inline void
cuv_pca_place_moments (CuvPcaMoments *self, int n, double *numbers)
{
  self->n = n;
  self->mean = numbers;
  self->covariance = numbers + n;
}

static __host__ __device__ inline void
cuv_pca_place_basis (CuvPcaBasis *self, int n, double *numbers)
{
  self->n = n;
  self->mean = numbers;
  self->deviation = numbers + n;
  self->values = numbers + 2 * n;
  self->vectors = numbers + 3 * n;
}

// The bands that count, in few bytes: a pass is a kernel's parameter, which
// 4 KiB may have.
struct CuvPcaPassBands {
  int n;
  uint16_t index[CUV_CUBE_MAX_BANDS];
};

struct CuvPcaPass {
  CuvCube cube;
  CuvPcaPassBands bands;
  int tasks;
  bool has_ignore;
  double ignore;
  unsigned ignore_word; // of integers, side by side
  bool knows_cube;      // a pass of this frame was before: the cube is there
  bool backwards;       // from the image's last tile to its first
  int n_side;           // parts of the sums across
  int first_part;       // of this launch
  const CuvPcaKnown *known;
  uint8_t *picture;
  int64_t stride;
  CuvPcaSum *sums;   // of integers, in copies; of floats n_blocks times
  CuvPcaSum *pivots; // of the bands, of floats; null where nothing is summed up
  unsigned long long *bins, *left_out; // left_out: null where sums count

  // planned
  int width, height;       // in pixels; an image without gaps is one row
  bool few, video;         // see pca-few.cu, pca-video.cu
  int warps;               // few: of a block
  int8_t band_of_slot[32]; // few: of those in registers; -1: none
  bool packed;             // tiles are
  bool paints_fours;       // the picture's rows are of 16 bytes each
  int64_t low; // packed: from band 0 to a pixel's first byte that counts
  int span;    // and how many bytes it has from there
  int unit;    // bytes that are copied at once
  int64_t sample_step; // of the cube, where a unit is one sample
  int pixels;          // of a tile
  int tiles_across, n_tiles;
  int pitch, counts_at, tile_bytes; // of a tile
  int n_buffers;                    // for tiles
  int apart; // packed: pixels from a lane's to the next lane's, 1 or 8
};

// Parts of the sums that this launch has, the warps that share each of them,
// and its threads.
static __host__ __device__ inline int
cuv_pca_parts_here (const CuvPcaPass &pass)
{
  const int left = pass.n_side * (pass.n_side + 1) / 2 - pass.first_part;

  return left < CUV_PCA_MAX_WARPS ? left : CUV_PCA_MAX_WARPS;
}

static __host__ __device__ inline int
cuv_pca_shares (const CuvPcaPass &pass)
{
  return pass.n_side == 1 ? CUV_PCA_WARPS
                          : CUV_PCA_MAX_WARPS / cuv_pca_parts_here (pass);
}

static inline int
cuv_pca_threads (const CuvPcaPass &pass)
{
  const int warps = cuv_pca_parts_here (pass) * cuv_pca_shares (pass);

  return 32 * (warps > CUV_PCA_WARPS ? warps : CUV_PCA_WARPS);
}

// Pixels of a block: 2 x 255^2 times as much is within 32 bits.
#define CUV_PCA_BLOCK_PIXELS (32 << 10)

struct CuvPcaLearn {
  int n;
  CuvPcaKnown *known;
  double *numbers;          // CUV_PCA_NUMBERS (n)
  const CuvPcaSum *partial; // of floats, n_partial times
  CuvPcaSum *sums, *last_sums;
  int n_partial, is_exact;
  CuvPcaLearning learning;
  CuvPcaDisplay display;
  int counts; // percentiles: gains to bins are needed, too
  unsigned long long *bins, *left_out;
  int64_t n_pixels;
  double limits_share; // of new limits among those that are known
  CuvPcaReport *report;
  double *told; // in the host's memory, CUV_PCA_TOLD (n)
};

// All return 0 or -1.

// How large a pass's tiles are and how many blocks it takes, from cube, bands
// and tasks.
int cuv_pca_pass_plan (CuvPcaPass *pass, int *n_blocks);

// Whether tiles of the smallest size fit into shared memory.
bool cuv_pca_pass_fits (int n, CuvCubeFormat format);

int cuv_pca_pass_submit (
    const CuvPcaPass &pass, int n_blocks, cudaStream_t stream);
// The same for a pass over integers of few bands, or over the pixels of a video
// frame, if it is one: where bands are is planned.
bool cuv_pca_few_plan (CuvPcaPass *pass, int *n_blocks);
int cuv_pca_few_submit (
    const CuvPcaPass &pass, int n_blocks, cudaStream_t stream);
bool cuv_pca_video_plan (CuvPcaPass *pass, int *n_blocks);
int cuv_pca_video_submit (
    const CuvPcaPass &pass, int n_blocks, cudaStream_t stream);

// Finds pass.pivots of a cube of floats.
int cuv_pca_pivots_submit (const CuvPcaPass &pass, cudaStream_t stream);

// From sums to the basis, gains and the report; sums are 0 afterwards. What is
// known is read at once: passes that sum up let it start when their own wait
// has ended.
int cuv_pca_learn_submit (const CuvPcaLearn &learn, cudaStream_t stream);
// From bins to limits and gains; bins are 0 afterwards.
int cuv_pca_limits_submit (const CuvPcaLearn &learn, cudaStream_t stream);
// Gains for another display.
int cuv_pca_gains_submit (const CuvPcaLearn &learn, cudaStream_t stream);
// The report of a frame that taught nothing.
int cuv_pca_report_submit (const CuvPcaLearn &learn, cudaStream_t stream);

#endif
