/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes objects to metadata and to the bus message. */
#ifndef GST_WALDBOOST_OBJECTS_H
#define GST_WALDBOOST_OBJECTS_H

#include <gst/video/video.h>
#include "gstcuvmeta.h"
#include "gstwaldboostorigins.h"
#include "waldboost.h"

G_BEGIN_DECLS

typedef struct {
  CuvWaldboostBox box; /* in frame pixels */
  /* id of the object in which it was found; -1: the frame */
  gint parent_id;
  gint model; /* index of the model that found it */
} GstWaldboostObject;

/* Returns the confidence, or NAN if the model's scores do not express one. */
gdouble gst_waldboost_confidence (
    const GstWaldboostOrigin *origin, gfloat score);

/* Writes the objects and, unless message is NULL, lists them in message.
 * present: scratch memory, an array of GstCuvObject. age: nanoseconds since
 * held results were new, otherwise 0. */
void gst_waldboost_attach_objects (const GArray *objects, GArray *present,
    const GstWaldboostOrigins *origins, GstCuvWriter *writer,
    GstStructure *message, GstClockTime age);

G_END_DECLS

#endif
