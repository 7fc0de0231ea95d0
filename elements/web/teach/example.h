/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a page wants to be kept: boxes of a label in a frame. Knows no elements
 * and no files.
 *
 *   {"frame": 123, "label": "cup", "boxes": [[10, 20, 30, 40.5]],
 *     "part": [0, 0, 100, 100]}
 *
 * Numbers are pixels of the frame: x and y of the upper left corner, width,
 * height. */
#ifndef CUV_TEACH_EXAMPLE_H
#define CUV_TEACH_EXAMPLE_H

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define CUV_TEACH_MAX_BOXES 64
#define CUV_TEACH_MAX_LABEL 40

typedef struct {
  gdouble x, y, width, height;
} CuvTeachBox;

typedef struct {
  gint64 frame;
  gchar label[CUV_TEACH_MAX_LABEL + 1];
  CuvTeachBox boxes[CUV_TEACH_MAX_BOXES];
  guint n_boxes;
  CuvTeachBox part; /* width 0: the whole frame */
} CuvTeachExample;

/* Whether a text is a label: a part of file names, too. */
gboolean cuv_teach_is_label (const gchar *text);
/* Returns NULL, or why the text is not a label, to be freed. */
gchar *cuv_teach_label_problem (const gchar *text);

/* Reads an object that is not trusted. Returns NULL, or what is wrong, to be
 * freed. */
gchar *cuv_teach_example_parse (CuvTeachExample *self, JsonNode *node);

/* Clips the part to the frame and the boxes to the part. Returns NULL, or which
 * of them is too small, to be freed. */
gchar *cuv_teach_example_clip (CuvTeachExample *self, gint width, gint height);

G_END_DECLS

#endif
