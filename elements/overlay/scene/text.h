/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Renders text to coverage masks with Pango and Cairo, and caches them. */
#ifndef CUV_TEXT_H
#define CUV_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include "draw.h"

/* Maximum number of cached masks; the least recently used one is dropped. */
#define CUV_TEXT_MAX_MASKS 256
#define CUV_TEXT_MAX_LENGTH 128 /* characters; longer text is cut */
#define CUV_TEXT_MAX_WIDTH 2048 /* pixels */

typedef struct _CuvText CuvText;

/* width x height coverage values 0..255; height is that of a line. */
typedef struct {
  int32_t width, height;
  size_t stride;
  const uint8_t *coverage;
  CuvMaskPlace place;
} CuvTextMask;

CuvText *cuv_text_new (void);
void cuv_text_free (CuvText *self);

/* Returns NULL, or why the Pango description cannot be used. */
const char *cuv_text_font_problem (const char *font);

/* Sets the font, a Pango description; pixels is the size if the description has
 * none. A different description empties the cache. */
void cuv_text_set_font (CuvText *self, const char *font, int pixels);

/* Renders the mask of a line of text, ellipsized to max_width pixels. It
 * belongs to self and is valid until the next call. Returns NULL if text is
 * empty, or out of memory. */
CuvTextMask *cuv_text_render (CuvText *self, const char *text, int max_width);

#endif
