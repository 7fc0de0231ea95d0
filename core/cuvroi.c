/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "cuvroi.h"

#include <stddef.h>
#include <stdio.h>

bool
cuv_roi_parse (const char *text, CuvRoi *roi)
{
  CuvRoi r = { 0 };
  char end;

  if (text != NULL && *text != '\0'
      && (sscanf (text, "%9d , %9d , %9d , %9d %c", &r.left, &r.top, &r.right,
              &r.bottom, &end)
              != 4
          || r.left < 0 || r.top < 0 || r.right <= r.left || r.bottom <= r.top))
    return false;
  *roi = r;
  return true;
}

static int
roi_clamp (int value, int low, int high)
{
  return value < low ? low : value > high ? high : value;
}

CuvRoi
cuv_roi_intersect (const CuvRoi *a, const CuvRoi *b)
{
  CuvRoi both = { roi_clamp (a->left, b->left, b->right),
    roi_clamp (a->top, b->top, b->bottom),
    roi_clamp (a->right, b->left, b->right),
    roi_clamp (a->bottom, b->top, b->bottom) };

  return both;
}

CuvRoi
cuv_roi_in_frame (const CuvRoi *roi, int width, int height)
{
  CuvRoi whole = { 0, 0, width, height };

  return roi->right == 0 ? whole : cuv_roi_intersect (roi, &whole);
}

CuvFrame
cuv_frame_crop (const CuvFrame *frame, const CuvRoi *roi)
{
  CuvFrame part = *frame;

  part.width = roi->right - roi->left;
  part.height = roi->bottom - roi->top;
  for (int i = 0; i < part.n_components; i++) {
    CuvComponent *c = &part.component[i];

    c->data += (int64_t) (roi->top >> c->ysub) * c->stride
        + (int64_t) (roi->left >> c->xsub) * c->step;
  }
  return part;
}
