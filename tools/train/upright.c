/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes of rotated pictures. Pictures are decoded upright, according to their
 * EXIF orientation, but some programs mark objects in the picture as stored;
 * the size in the annotations shows which. */
#include "annotations.h"
#include "picture/gstcuvpicture.h"
#include "train-tool.h"

/* Converts a box of the stored picture of width x height to the upright one. */
static void
turn_box (CuvAnnotation *box, gint width, gint height,
    GstVideoOrientationMethod orientation)
{
  const CuvAnnotation from = *box;
  const gdouble right = width - from.x - from.width;
  const gdouble below = height - from.y - from.height;
  const gboolean from_right = orientation == GST_VIDEO_ORIENTATION_90L
      || orientation == GST_VIDEO_ORIENTATION_UR_LL;
  const gboolean from_below = orientation == GST_VIDEO_ORIENTATION_90R
      || orientation == GST_VIDEO_ORIENTATION_UR_LL;

  box->x = from_below ? below : from.y;
  box->y = from_right ? right : from.x;
  box->width = from.height;
  box->height = from.width;
}

static gboolean
swaps_sides (GstVideoOrientationMethod orientation)
{
  return orientation == GST_VIDEO_ORIENTATION_90L
      || orientation == GST_VIDEO_ORIENTATION_90R
      || orientation == GST_VIDEO_ORIENTATION_UL_LR
      || orientation == GST_VIDEO_ORIENTATION_UR_LL;
}

gchar *
upright_fit (CuvAnnotated *picture, GstSample *sample)
{
  const GstVideoOrientationMethod orientation =
      gst_cuv_picture_orientation (sample);
  GstVideoInfo info;

  if (picture->width == 0
      || !gst_video_info_from_caps (&info, gst_sample_get_caps (sample))
      || (picture->width == info.width && picture->height == info.height))
    return NULL;
  if (picture->width != info.height || picture->height != info.width
      || !swaps_sides (orientation))
    return g_strdup_printf ("its boxes belong to a picture of %d x %d, but it "
                            "is %d x %d: use the picture that was annotated",
        picture->width, picture->height, info.width, info.height);
  for (guint i = 0; i < picture->boxes->len; i++)
    turn_box (&g_array_index (picture->boxes, CuvAnnotation, i), picture->width,
        picture->height, orientation);
  cuv_annotated_set_size (picture, info.width, info.height);
  return NULL;
}
