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
  CuvWaldboostBox box; /* frame pixels */
  gint parent_id;      /* id of the object it was found in, -1 = the frame */
  gint model;          /* number of the model that found it */
} GstWaldboostObject;

/* NAN if the model gives none. */
gdouble gst_waldboost_confidence (
    const GstWaldboostOrigin *origin, gfloat score);

/* Attaches the objects to the buffer, and lists them in message unless it is
 * NULL. present: scratch, an array of GstCuvObject. age: nanoseconds since held
 * results were new, otherwise 0. */
void gst_waldboost_attach_objects (const GArray *objects, GArray *present,
    const GstWaldboostOrigins *origins, GstBuffer *buffer,
    const GstVideoInfo *info, GstStructure *message, GstClockTime age);

G_END_DECLS

#endif
