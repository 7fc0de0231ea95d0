/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes objects to metadata and to the bus message. */
#ifndef GST_WALDBOOST_OBJECTS_H
#define GST_WALDBOOST_OBJECTS_H

#include <gst/video/video.h>
#include "gstcuvmeta.h"
#include "waldboost.h"

G_BEGIN_DECLS

typedef struct {
  CuvWaldboostBox box; /* frame pixels */
  gint parent_id;      /* id of the object it was found in, -1 = the frame */
} GstWaldboostObject;

/* Shared by all objects of an analysis; immutable, a boxed type. Allocated with
 * g_atomic_rc_box_new0(). */
typedef struct {
  gchar *label, *model_file;
  gint label_id;
  gboolean no_confidence; /* cuv_model_has_one_score() */
} GstWaldboostOrigin;

GType gst_waldboost_origin_get_type (void);
void gst_waldboost_origin_unref (GstWaldboostOrigin *self);

/* NAN if the model gives none. */
gdouble gst_waldboost_confidence (
    const GstWaldboostOrigin *origin, gfloat score);

/* Attaches the objects to the buffer, and lists them in message unless it is
 * NULL. present: scratch, an array of GstCuvObject. age: nanoseconds since held
 * results were new, otherwise 0. */
void gst_waldboost_attach_objects (const GArray *objects, GArray *present,
    const GstWaldboostOrigin *origin, GstBuffer *buffer,
    const GstVideoInfo *info, GstStructure *message, GstClockTime age);

G_END_DECLS

#endif
