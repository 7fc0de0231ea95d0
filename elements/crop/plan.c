/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans a picture: which pixels of the frame it shows, where, and its size. */
#include "crop.h"

#include <math.h>

static int
clamp_size (double value, int low, int high)
{
  return value <= low ? low : value >= high ? high : (int) value;
}

/* Plans one dimension of the source, which begins at a multiple of align. */
static void
plan_side (double start, double size, double margin, int frame, int align,
    int *source_start, int *source_size)
{
  const int low = clamp_size (floor (start - margin * size + 0.5), 0, frame);
  const int high =
      clamp_size (floor (start + size + margin * size + 0.5), 0, frame);

  *source_start = low - low % align;
  *source_size = high - *source_start;
}

/* Returns the size that is not given, so that the source's aspect ratio is
 * kept. */
static int
follow (int given, int given_source, int source)
{
  const int most =
      clamp_size (CUV_CROP_RATIO * (double) given, 1, CUV_CROP_MAX);

  return clamp_size (
      floor ((double) source * given / given_source + 0.5), 1, most);
}

static void
plan_size (CuvCropPlan *plan, const CuvCropRequest *request)
{
  const CuvCropRect *source = &plan->source;

  plan->width = request->width;
  plan->height = request->height;
  if (request->width == 0)
    plan->width = request->height == 0
        ? source->width
        : follow (request->height, source->height, source->width);
  if (request->height == 0)
    plan->height = request->width == 0
        ? source->height
        : follow (request->width, source->width, source->height);
}

static void
plan_dest (CuvCropPlan *plan, bool add_borders)
{
  const double scale_x = (double) plan->width / plan->source.width;
  const double scale_y = (double) plan->height / plan->source.height;
  CuvCropRect *dest = &plan->dest;

  *dest = (CuvCropRect){ 0, 0, plan->width, plan->height };
  if (!add_borders)
    return;
  if (scale_x > scale_y)
    dest->width =
        clamp_size (floor (plan->source.width * scale_y + 0.5), 1, plan->width);
  else
    dest->height = clamp_size (
        floor (plan->source.height * scale_x + 0.5), 1, plan->height);
  dest->x = (plan->width - dest->width) / 2;
  dest->y = (plan->height - dest->height) / 2;
}

bool
cuv_crop_plan (CuvCropPlan *plan, const CuvCropRequest *request, unsigned x,
    unsigned y, unsigned w, unsigned h, int frame_width, int frame_height)
{
  CuvCropRect *source = &plan->source;

  if (w == 0 || h == 0 || x >= (unsigned) frame_width
      || y >= (unsigned) frame_height)
    return false;
  plan_side (x, w, request->margin, frame_width, request->align_x, &source->x,
      &source->width);
  plan_side (y, h, request->margin, frame_height, request->align_y, &source->y,
      &source->height);
  plan_size (plan, request);
  plan_dest (
      plan, request->add_borders && request->width > 0 && request->height > 0);
  return true;
}

static void
map_side (int source_start, int source_size, int dest_start, int dest_size,
    double start, double size, int *mapped_start, int *mapped_size)
{
  const double scale = (double) dest_size / source_size;
  const int end = dest_start + dest_size;
  const int low =
      clamp_size (floor ((start - source_start) * scale + dest_start + 0.5),
          dest_start, end - 1);
  const int high = clamp_size (
      floor ((start + size - source_start) * scale + dest_start + 0.5), low + 1,
      end);

  *mapped_start = low;
  *mapped_size = high - low;
}

CuvCropRect
cuv_crop_map (
    const CuvCropPlan *plan, unsigned x, unsigned y, unsigned w, unsigned h)
{
  CuvCropRect mapped;

  map_side (plan->source.x, plan->source.width, plan->dest.x, plan->dest.width,
      x, w, &mapped.x, &mapped.width);
  map_side (plan->source.y, plan->source.height, plan->dest.y,
      plan->dest.height, y, h, &mapped.y, &mapped.height);
  return mapped;
}
