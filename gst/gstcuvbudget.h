/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvBudget: limits the work for one frame in elements that process each
 * object, since frames may have any number of objects of any size. */
#ifndef GST_CUV_BUDGET_H
#define GST_CUV_BUDGET_H

#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

/* A frame's budget is for at most this many objects. */
#define GST_CUV_BUDGET_MAX_OBJECTS 1024

typedef struct {
  guint64 pixels, left;  /* the budget of this frame, and what is left of it */
  guint taken, left_out; /* objects */
  gboolean warned;
} GstCuvBudget;

/* Starts a frame, whose objects may have this many pixels in total. */
CUV_API void gst_cuv_budget_begin (GstCuvBudget *self, guint64 pixels);

/* Whether an object of this many pixels is within the budget, as the first one
 * always is. If not, it and all later ones are left out. */
CUV_API gboolean gst_cuv_budget_take (GstCuvBudget *self, guint64 pixels);

/* Ends the frame. Posts a warning, once, if objects were left out. */
CUV_API void gst_cuv_budget_end (GstCuvBudget *self, GstElement *element);

G_END_DECLS

#endif
