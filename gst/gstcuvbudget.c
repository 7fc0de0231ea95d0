/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvbudget.h"

void
gst_cuv_budget_begin (GstCuvBudget *self, guint64 pixels)
{
  self->pixels = self->left = pixels;
  self->taken = self->left_out = 0;
}

gboolean
gst_cuv_budget_take (GstCuvBudget *self, guint64 pixels)
{
  const guint64 cost = MAX (pixels, self->pixels / GST_CUV_BUDGET_MAX_OBJECTS);

  if (self->left_out > 0 || (self->taken > 0 && cost > self->left)) {
    self->left_out++;
    return FALSE;
  }
  self->taken++;
  self->left -= MIN (cost, self->left);
  return TRUE;
}

void
gst_cuv_budget_end (GstCuvBudget *self, GstElement *element)
{
  if (self->left_out == 0 || self->warned)
    return;
  self->warned = TRUE;
  GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
      ("Only the first %u of %u objects of a frame are used: the limit is %d "
       "objects or %" G_GUINT64_FORMAT " pixels in all. Select objects by "
       "label, or remove those that overlap.",
          self->taken, self->taken + self->left_out, GST_CUV_BUDGET_MAX_OBJECTS,
          self->pixels),
      (NULL));
}
