/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Local derivative patterns: the C reference.
 *
 * B. Zhang, Y. Gao, S. Zhao, J. Liu, Local Derivative Pattern Versus Local
 * Binary Pattern: Face Recognition With High-Order Local Pattern Descriptor,
 * IEEE Transactions on Image Processing 2010.
 *
 * The first derivative of grey values I in a direction d is I(p) - I(p + d),
 * the k-th that of the one before. A code of order n says of the eight
 * neighbours of p whose derivative of order n - 1 has the sign of p's: bit 7 is
 * the one above to the left, and so on clockwise to bit 0, the one to the left;
 * a bit is 0 if both derivatives are above 0 or both below. */
#ifndef CUV_LDP_H
#define CUV_LDP_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-frame.h"
#include "ldp/ldp-code.h"
#include "ldp/ldp-types.h"

/* ---- shapes ---- */

/* What histograms a picture of width x height, both 1 .. CUV_LDP_MAX_SIZE, has.
 * Returns NULL, or what is wrong. */
const char *cuv_ldp_shape_init (
    CuvLdpShape *self, const CuvLdpParams *params, int width, int height);

/* How many counts all histograms have. */
size_t cuv_ldp_n_counts (const CuvLdpShape *self);

/* How many codes each histogram of a block counts. */
uint32_t cuv_ldp_total (const CuvLdpShape *self, int column, int row);

/* The pixels that a block counts: from x[0] and y[0] to before x[1] and y[1].
 */
void cuv_ldp_block (
    const CuvLdpShape *self, int column, int row, int x[2], int y[2]);

/* ---- pictures ---- */

/* The grey values of a rectangle, made width x height, row by row. Each way by
 * weights of whole numbers: if it becomes smaller, pixels by how much of them
 * is covered, else the two nearest by their distance. The sum is rounded once,
 * halves up. */
void cuv_ldp_picture (const CuvFrame *frame, const CuvLdpRect *rect, int width,
    int height, uint8_t *picture);

/* Its row y. */
void cuv_ldp_picture_row (const CuvFrame *frame, const CuvLdpRect *rect,
    int width, int height, int y, uint8_t *row);

/* ---- codes: cuv_ldp_code () of ldp/ldp-code.h ---- */

/* Makes the rectangle of a frame grey, each pixel as bright as the code in a
 * direction of the pixel of the picture, of the shape's size, that is there;
 * black where codes are not counted. */
void cuv_ldp_draw (const CuvFrame *frame, const CuvLdpRect *rect,
    const CuvLdpShape *shape, const uint8_t *picture, int direction);

/* The histograms of a picture of the shape's size: cuv_ldp_n_counts(). */
void cuv_ldp_describe (
    const CuvLdpShape *self, const uint8_t *picture, uint32_t *counts);

/* Counts of cuv_ldp_count_size() bytes, maybe not aligned, as four bytes each.
 */
void cuv_ldp_widen (
    const CuvLdpShape *shape, const void *counts, uint32_t *wide);

/* ---- likeness ---- */

/* How much alike the histograms of two pictures of the same parameters are,
 * with as many blocks: the mean, over histograms that have counted something in
 * both pictures, of the sum over bins of the smaller share. 1 if all of them
 * are the same, 0 if none has anything in common. */
double cuv_ldp_similarity (const CuvLdpShape *a, const uint32_t *counts_a,
    const CuvLdpShape *b, const uint32_t *counts_b);

#endif
