/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random rectangles of frames, and their results by the C reference. */
#ifndef LDP_INPUTS_H
#define LDP_INPUTS_H

#include "cuvcheck.h"
#include "ldp.h"
#include "cpu/ldp-match.h"

typedef struct {
  CuvCheckFrame frame;
  CuvLdpRect rect;
  CuvLdpLayout layout;
  uint32_t *wanted;
} LdpInput;

/* Makes a random rectangle of a frame, resized or not, with random parameters.
 */
void ldp_input_init (LdpInput *self, const char *format, CuvCheckFill fill,
    int width, int height);
void ldp_input_clear (LdpInput *self);

/* Calls `check` for all formats and many sizes. */
void ldp_each_input (void (*check) (const LdpInput *input));

/* Computes the counts of the resized rectangle in an orientation; see
 * cuv_ldp_turn(). free() them. */
uint32_t *ldp_input_turn (const LdpInput *self, int orientation);

/* Compares counts of cuv_ldp_count_size() bytes each with the expected ones. */
bool ldp_counts_equal (
    const CuvLdpLayout *layout, const void *counts, const uint32_t *wanted);

/* Returns the frame with the codes of a direction drawn into the rectangle;
 * free it. */
CuvCheckFrame ldp_input_draw (const LdpInput *self, int direction);

/* Returns whether two frames of the same format and size are equal. */
bool ldp_frames_equal (const CuvCheckFrame *a, const CuvCheckFrame *b);

enum { LDP_PICTURES = 9, LDP_N_KINDS = 8 };

/* Pictures of one layout: two are equal, some are partly flat. */
typedef struct {
  CuvLdpLayout layout;
  uint32_t *counts[LDP_PICTURES];
  uint8_t *packed; /* `stride` bytes per picture */
  size_t stride;
} LdpPictures;

/* Makes pictures of one of LDP_N_KINDS layouts. */
void ldp_pictures_init (LdpPictures *self, int kind);
void ldp_pictures_clear (LdpPictures *self);

#endif
