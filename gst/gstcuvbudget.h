/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvBudget: limits the work of one frame in elements that work on each of
 * its objects, of which there may be any number of any size. */
#ifndef GST_CUV_BUDGET_H
#define GST_CUV_BUDGET_H

#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

/* An object takes at least this part of a frame's budget. */
#define GST_CUV_BUDGET_MAX_OBJECTS 1024

typedef struct {
  guint64 pixels, left; /* of this frame */
  guint taken, left_out;
  gboolean warned;
} GstCuvBudget;

/* Starts a frame, whose objects may together have so many pixels. */
CUV_API void gst_cuv_budget_begin (GstCuvBudget *self, guint64 pixels);

/* Whether an object of so many pixels is within the budget, as the first always
 * is; else it is left out, and so are all after it. */
CUV_API gboolean gst_cuv_budget_take (GstCuvBudget *self, guint64 pixels);

/* Ends the frame. Posts a warning, once, if objects were left out. */
CUV_API void gst_cuv_budget_end (GstCuvBudget *self, GstElement *element);

G_END_DECLS

#endif
