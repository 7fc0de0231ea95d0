// SPDX-License-Identifier: LGPL-2.1-or-later
// State between frames; arguments and launchers of all kernels. A pass is a
// kernel over all pixels, see cuv_pca_pass_plan().
#ifndef CUV_PCA_STATE_CUH
#define CUV_PCA_STATE_CUH

#include "cuv-cuda.cuh"
#include "pca/eigen/basis.h"

// The matrix of sums is computed in square parts, on and above the diagonal, of
// CUV_PCA_SIDE bands each side; a warp holds one part in registers.
#define CUV_PCA_SIDE 32
#define CUV_PCA_WARPS 4         // per block, unless there are more parts
#define CUV_PCA_MAX_WARPS 12    // per block, limited by registers for sums
#define CUV_PCA_MAX_BLOCKS 1024 // for a pass that sums floats

// maximum number of bands of pca-31-bands.cu; one more row is for the counts
#define CUV_PCA_MATRIX_BANDS 31

// Sums of up to CUV_PCA_MATRIX_BANDS bands have several copies, each shared by
// some of the blocks, to reduce contention of atomics.
#define CUV_PCA_SUM_COPIES 4
#define CUV_PCA_COPIES(n) ((n) <= CUV_PCA_MATRIX_BANDS ? CUV_PCA_SUM_COPIES : 1)

// Work of a pass on each pixel, as flags.
enum { CUV_PCA_SUM = 1 << 0, CUV_PCA_COUNT = 1 << 1, CUV_PCA_PAINT = 1 << 2 };

// State from frame to frame, in device memory.
struct CuvPcaDeviceState {
  CuvPcaMoments moments;
  CuvPcaBasis basis;
  CuvPcaScratch scratch;        // used if it does not fit shared memory
  int64_t left_out;             // pixels excluded from the sums of the last
                                // frame
  int32_t has_limits;           // boolean: limits are known
  CuvPcaLimits limits;          // running averages
  CuvPcaGains gains, bin_gains; // for pictures, for histograms
};

// A frame's result in host memory.
struct CuvPcaReport {
  int64_t pixels; // valid
  CuvPcaUpdate update;
  int32_t is_known; // whether the basis is known
  CuvPcaMode mode;  // followed by CUV_PCA_BASIS_DOUBLES (n) numbers
};

// Numbers of doubles in contiguous memory. The history, which is kept from
// frame to frame, consists of basis and running moments. In the state, the
// frame's moments follow it.
#define CUV_PCA_HISTORY_DOUBLES(n)                                             \
  (CUV_PCA_BASIS_DOUBLES (n) + CUV_PCA_MOMENTS_DOUBLES (n))
#define CUV_PCA_STATE_DOUBLES(n)                                               \
  (CUV_PCA_HISTORY_DOUBLES (n) + CUV_PCA_MOMENTS_DOUBLES (n))

// Selected bands in compact form: CuvPcaPass is a kernel parameter, limited to
// 4 KiB.
struct CuvPcaPassBands {
  int n;
  uint16_t index[CUV_CUBE_MAX_BANDS];
};

// Arguments of a pass.
struct CuvPcaPass {
  CuvCube cube;
  CuvPcaPassBands bands;
  int tasks; // CUV_PCA_SUM, ...
  bool has_ignore;
  double ignore;
  unsigned ignore_word; // for integers: the ignore value, repeated in each
                        // sample of the word
  bool cube_is_ready;   // an earlier kernel of the frame has waited for it
  bool is_summed;       // the frame has been summed: state->left_out is known
  bool backwards;       // from the last tile to the first
  int n_side;           // parts of the sums, per side of the matrix
  int first_part;       // first part of the sums in this launch
  const CuvPcaDeviceState *state;
  uint8_t *picture;  // 4 bytes per pixel
  int64_t stride;    // bytes per row of the picture
  CuvPcaSum *sums;   // integers: CUV_PCA_COPIES of them; floats: one per block
  CuvPcaSum *pivots; // of float bands; null unless summing
  unsigned long long *bins;     // CUV_PCA_SHOWN histograms
  unsigned long long *left_out; // counts excluded pixels; null if sums do

  // set by cuv_pca_pass_plan()
  int width, height;    // pixels; an image without gaps between rows is one row
  bool up_to_31, video; // the kernel is that of pca-31-bands.cu, pca-video.cu
  int warps;            // up_to_31: per block
  // up_to_31: the band of each row of a matrix operand; -1: none, n: counts
  int8_t band_of_slot[32];
  bool packed;         // tiles are packed, see pca-tile.cuh
  bool paints_uint4;   // the picture allows 16-byte stores
  int64_t low;         // packed: bytes from band 0 to the first selected
  int span;            // bytes of a pixel from there
  int unit;            // bytes per copy
  int64_t sample_step; // sample step of the cube if a unit is one sample
  int pixels;          // pixels of a tile
  int tiles_across, n_tiles;
  int pitch, counts_at, tile_bytes; // layout of a tile, bytes
  int n_buffers;                    // buffers for tiles, 1 or 2
  int apart; // packed: pixels between adjacent lanes, 1 or 8
};

static_assert (
    sizeof (CuvPcaPass) <= 4096, "kernel parameters are limited to 4096 bytes");

// Return sizes of tile_kernel: the parts of the sums that this launch computes;
// the warps of a block that share the pixels of a part; threads per block.
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

// Maximum number of pixels per block whose sums of 2 x 255^2 fit in 32 bits.
#define CUV_PCA_BLOCK_PIXELS (32 << 10)

// Arguments of the kernels of pca-learn.cu.
struct CuvPcaLearn {
  int n; // bands
  CuvPcaDeviceState *state;
  double *numbers;             // CUV_PCA_STATE_DOUBLES (n), on the device
  const CuvPcaSum *partial;    // floats: sums of n_partial blocks
  CuvPcaSum *sums, *last_sums; // of this frame; a copy for tests
  int n_partial, is_exact;     // is_exact: boolean, sums are integers
  CuvPcaLearning learning;
  CuvPcaDisplay display;
  int counts; // boolean: percentiles need gains for histograms
  unsigned long long *bins, *left_out;
  int64_t n_pixels;
  double limits_weight; // weight of new limits
  CuvPcaReport *report; // host memory
  double *reported;     // host memory, CUV_PCA_BASIS_DOUBLES (n)
};

// Functions that return an int return 0 or -1.

// Plans a pass's tiles and number of blocks from its cube, bands and tasks.
int cuv_pca_pass_plan (CuvPcaPass *pass, int *n_blocks);

int cuv_pca_pass_submit (
    const CuvPcaPass &pass, int n_blocks, cudaStream_t stream);
// Plan one kernel each; called by cuv_pca_pass_plan(). The first two return
// false if their kernel cannot do the pass.
bool cuv_pca_video_plan (CuvPcaPass *pass, int *n_blocks);
bool cuv_pca_31_bands_plan (CuvPcaPass *pass, int *n_blocks);
int cuv_pca_tiles_plan (CuvPcaPass *pass, int *n_blocks);
int cuv_pca_video_submit (
    const CuvPcaPass &pass, int n_blocks, cudaStream_t stream);
int cuv_pca_31_bands_submit (
    const CuvPcaPass &pass, int n_blocks, cudaStream_t stream);
int cuv_pca_tiles_submit (
    const CuvPcaPass &pass, int n_blocks, cudaStream_t stream);

// Finds pass.pivots of a cube of floats.
int cuv_pca_pivots_submit (const CuvPcaPass &pass, cudaStream_t stream);

// Updates basis, gains and report from the sums, which it zeroes. It reads the
// previous state without waiting: the first kernel of a frame must therefore
// wait before it triggers the next launch.
int cuv_pca_learn_submit (const CuvPcaLearn &learn, cudaStream_t stream);
// Updates limits and gains from the histograms, which it zeroes.
int cuv_pca_limits_submit (const CuvPcaLearn &learn, cudaStream_t stream);
// Recomputes gains after a change of the display.
int cuv_pca_gains_submit (const CuvPcaLearn &learn, cudaStream_t stream);
// Reports a frame without an update.
int cuv_pca_report_submit (const CuvPcaLearn &learn, cudaStream_t stream);

#endif
