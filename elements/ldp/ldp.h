/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Local derivative patterns: describes the texture of a picture by histograms,
 * and compares pictures by them.
 *
 * B. Zhang, Y. Gao, S. Zhao, J. Liu, Local Derivative Pattern Versus Local
 * Binary Pattern: Face Recognition With High-Order Local Pattern Descriptor,
 * IEEE Transactions on Image Processing 2010.
 *
 * The first derivative of grey values I in a direction d is I(p) - I(p + d),
 * the k-th derivative is the difference of (k - 1)-th derivatives. The code of
 * order n of a pixel p compares its derivative of order n - 1 with those of its
 * eight neighbours: a bit is 0 if both are above 0 or both below, otherwise 1.
 * Bit 7 is the neighbour above left, then clockwise to bit 0, the one to the
 * left.
 *
 * A frame: gstldpdescriptor.c -> backend.c -> cpu/ldp-cpu.c, or
 * cuda/ldp/ldp.cu if it is in CUDA memory -> histograms as metadata
 * (shared/gstldpmeta.c). gstldpindexsink.c stores them or its own (index/);
 * gstldpretrieve.c compares its own with an index: retrieval/backend.c ->
 * cpu/ldp-match.c, cuda/ldp/match.cu or both. Programs (tools/search) compare
 * packed histograms by scan/, without frames.
 *
 *   plugin.c                registers the elements
 *   gstldpdescriptor.c      the element ldpdescriptor
 *   gstldpindexsink.c       the element ldpindexsink
 *   gstldpretrieve.c        the element ldpretrieve
 *   gstldpindex.c           the index of ldpretrieve
 *   gstldpmatches.c         its results as metadata
 *   shared/                 for all three elements:
 *     gstldpregions.c         parameters, and the regions to describe
 *     gstldpmeta.c            descriptors as metadata
 *   indexsink/              for ldpindexsink:
 *     gstldpentries.c         entries and their thumbnails
 *     gstldpnamer.c           their names
 *   backend.c               descriptors of frames, on the CPU or the GPU
 *   retrieval/backend.c     retrieval of similar pictures, on either or both
 *   scan/backend.c          comparing packed histograms, on the CPU or the GPU
 *   reference/              the definition, in plain C:
 *     layout.c                blocks, histograms and bins of a descriptor
 *     descriptor.c            resizing, codes, histograms, drawing
 *     similarity.c            histogram intersection
 *   ../../cuda/ldp/ldp-code.h, ldp-resize.h: one pixel, for gcc and nvcc
 *   cpu/                    the same made fast:
 *     ldp-cpu.c               resizing and descriptors, on threads
 *     ldp-match.c             similarity to many pictures, and the k best
 *     ldp-dsp.c               function table of the inner loops, in C
 *     x86/ldp-dsp-avx2.c      and in AVX2
 *   index/                  files (docs/definitions/ldp-index.md):
 *     ldpindex-read.c         the reader
 *     ldpindex-load.c         reads and checks header and commit slots
 *     ldpindex-write.c        the writer: appends, or rewrites a file
 *     ldpindex-file.c         creates, locks, renames and syncs files
 *     ldpindex-info.c         parameters, sizes, packing of counts
 *     ldpindex-format.c       bytes, checksums, errors
 */
#ifndef CUV_LDP_H
#define CUV_LDP_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-frame.h"
#include "ldp/ldp-code.h"
#include "ldp/ldp-types.h"

/* ---- layout of a descriptor ---- */

/* Computes the layout for pictures of width x height, each 1 ..
 * CUV_LDP_MAX_SIZE. Unused parameters become 0, so that equal layouts compare
 * equal. Returns NULL, or the problem and what to do, which is valid until the
 * thread's next call. */
const char *cuv_ldp_layout_init (
    CuvLdpLayout *self, const CuvLdpParams *params, int width, int height);

/* Formats such a problem. */
const char *cuv_ldp_problem (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

/* Returns the number of counts of all histograms. */
size_t cuv_ldp_n_counts (const CuvLdpLayout *self);

/* Returns the number of codes in each histogram of a block of the first scale;
 * cuv_ldp_scale() returns the layouts of the others. */
uint32_t cuv_ldp_total (const CuvLdpLayout *self, int column, int row);

/* Finds the pixels that a block counts: x[0] to x[1] - 1, y[0] to y[1] - 1. */
void cuv_ldp_block (
    const CuvLdpLayout *self, int column, int row, int x[2], int y[2]);

/* Converts counts of cuv_ldp_count_size() bytes, possibly unaligned, to 32
 * bits. */
void cuv_ldp_convert_counts (
    const CuvLdpLayout *layout, const void *counts, uint32_t *to);

/* ---- pictures ---- */

/* Computes the grey values of a rectangle resized to width x height, row by
 * row. Weights are integers on each axis: reducing averages the covered pixels
 * by area, enlarging interpolates linearly between the two nearest. The sum is
 * rounded once, halves up. */
void cuv_ldp_resize (const CuvFrame *frame, const CuvLdpRect *rect, int width,
    int height, uint8_t *picture);

/* ---- codes: cuv_ldp_code () of ldp/ldp-code.h ---- */

/* Draws codes of one direction as grey values into a rectangle of the frame.
 * Each pixel shows the nearest one of the picture, which has the layout's size;
 * it is black where codes are not counted. */
void cuv_ldp_draw (const CuvFrame *frame, const CuvLdpRect *rect,
    const CuvLdpLayout *layout, const uint8_t *picture, int direction);

/* Computes the cuv_ldp_n_counts() counts of a picture of the layout's size.
 * Each scale is the one before, resized to half its width and height, rounded
 * down to at least one pixel. Returns false if out of memory. */
bool cuv_ldp_describe (
    const CuvLdpLayout *self, const uint8_t *picture, uint32_t *counts);

/* ---- similarity ---- */

/* Returns the similarity, 0 .. 1, of two pictures with the same parameters and
 * number of blocks: the mean, over histograms that are not empty in both
 * pictures, of the intersection of the normalised histograms. */
double cuv_ldp_similarity (const CuvLdpLayout *a, const uint32_t *counts_a,
    const CuvLdpLayout *b, const uint32_t *counts_b);

#endif
