/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text as coverage masks, by Pango and Cairo. */
#ifndef CUV_TEXT_H
#define CUV_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define CUV_TEXT_MAX_MASKS 256  /* kept; the one not used for longest goes */
#define CUV_TEXT_MAX_LENGTH 128 /* characters; longer text is cut */
#define CUV_TEXT_MAX_WIDTH 2048 /* pixels */

typedef struct _CuvText CuvText;

/* width x height coverage values 0..255; height is that of a line of text. */
typedef struct {
  int32_t width, height;
  size_t stride;
  const uint8_t *coverage;
} CuvTextMask;

CuvText *cuv_text_new (void);
void cuv_text_free (CuvText *self);

/* NULL, or why this is no font to use. */
const char *cuv_text_font_problem (const char *font);

/* The font (a Pango description) of what is rendered from now on; pixels is its
 * size if the description gives none. A new description empties the cache. */
void cuv_text_set_font (CuvText *self, const char *font, int pixels);

/* The mask of a line of text, which ends in an ellipsis where it is wider than
 * so many pixels; belongs to self, until the next call. NULL if there is
 * nothing to see or no memory. */
const CuvTextMask *cuv_text_render (
    CuvText *self, const char *text, int max_width);

#endif
