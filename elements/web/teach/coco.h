/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Annotations in COCO's format. Members that others added are preserved. For
 * one thread. */
#ifndef CUV_TEACH_COCO_H
#define CUV_TEACH_COCO_H

#include "teach/example.h"

G_BEGIN_DECLS

typedef struct {
  JsonNode *root;
  JsonArray *images, *annotations, *categories;      /* of root */
  gint64 last_image, last_annotation, last_category; /* greatest ids */
} CuvCoco;

/* Parses a text that is not trusted. Returns NULL, or what is wrong, to be
 * freed. Call cuv_coco_clear() in either case. */
gchar *cuv_coco_parse (CuvCoco *self, const gchar *text);
void cuv_coco_clear (CuvCoco *self);
/* Returns the text, to be freed. */
gchar *cuv_coco_write (const CuvCoco *self);

/* Returns id and file_name of an image; i: below the length of images. */
gint64 cuv_coco_image (const CuvCoco *self, guint i, const gchar **name);

/* Whether there are ids for another image with this many boxes. */
gboolean cuv_coco_has_room (const CuvCoco *self, guint n_boxes);
/* Adds an image and returns its id. */
gint64 cuv_coco_add_image (
    CuvCoco *self, const gchar *name, gint width, gint height);
void cuv_coco_add_box (
    CuvCoco *self, gint64 image, const gchar *label, const CuvTeachBox *box);
void cuv_coco_remove_image (CuvCoco *self, gint64 image);
void cuv_coco_remove_boxes (CuvCoco *self, gint64 image);

typedef struct {
  const gchar *label;
  guint pictures, boxes;
} CuvTeachCount;

/* Counts images and boxes by label. Returns an array of CuvTeachCount, sorted,
 * to be unreffed, and the number of images without boxes. Valid until an image
 * is removed. */
GArray *cuv_coco_count (const CuvCoco *self, guint *without_boxes);

/* Returns the text without these images, a set of ids as pointers; to be freed.
 */
gchar *cuv_coco_write_without (const CuvCoco *self, GHashTable *images);

G_END_DECLS

#endif
