/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "film.h"

#include <math.h>
#include <string.h>

/* ---- pixels ---- */

/* Returns reproducible noise. */
static guint
noise (guint c, guint x, guint y)
{
  guint v = x * 374761393u + y * 668265263u + c * 2246822519u;

  v = (v ^ v >> 13) * 1274126177u;
  return v ^ v >> 16;
}

/* Returns a sample of a ring around four fields, with colours by kind, so that
 * the covariance of a part differs from that of the whole. */
static guint8
thing (guint kind, guint c, gint x, gint y, Box box)
{
  const gint across = x * 6 / box.width, down = y * 6 / box.height;
  const gboolean ring = across % 5 == 0 || down % 5 == 0;
  const guint field = ring ? 0 : 1 + (across >= 3) + 2 * (guint) (down >= 3);

  if (kind == 0)
    return 90;
  return (guint8) (20 + noise (c, field, kind) % 200
      + noise (c + kind, (guint) x / 2, (guint) y / 2) % 24);
}

static void
paint (GstBuffer *frame, gint kind, Box box)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (frame);
  GstVideoFrame video;
  GstVideoInfo info;

  gst_video_info_set_format (&info, meta->format, meta->width, meta->height);
  fail_unless (gst_video_frame_map (&video, &info, frame, GST_MAP_READWRITE));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&video); c++) {
    const gint xsub = GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo, c);
    const gint ysub = GST_VIDEO_FORMAT_INFO_H_SUB (info.finfo, c);

    for (gint y = box.y; y < box.y + box.height; y++)
      for (gint x = box.x; x < box.x + box.width; x++) {
        guint8 *sample = GST_VIDEO_FRAME_COMP_DATA (&video, c);

        sample += (gsize) (y >> ysub) * GST_VIDEO_FRAME_COMP_STRIDE (&video, c)
            + (gsize) (x >> xsub) * GST_VIDEO_FRAME_COMP_PSTRIDE (&video, c);
        *sample = kind < 0
            ? (guint8) (110 + noise (c, (guint) x / 2, (guint) y / 2) % 12)
            : thing ((guint) kind, c, x - box.x, y - box.y, box);
      }
  }
  gst_video_frame_unmap (&video);
}

GstBuffer *
film_frame (CuvLive *self)
{
  GstBuffer *frame = cuv_frame_new (self->format, self->width, self->height);

  paint (frame, -1, (Box){ 0, 0, self->width, self->height });
  GST_BUFFER_PTS (frame) = self->n++ * GST_SECOND / 25;
  GST_BUFFER_DURATION (frame) = GST_SECOND / 25;
  return frame;
}

void
film_draw_object (GstBuffer *frame, guint kind, Box box)
{
  paint (frame, (gint) kind, box);
}

GstVideoRegionOfInterestMeta *
film_region (GstBuffer *frame, const gchar *label, Box box)
{
  return gst_buffer_add_video_region_of_interest_meta (frame, label,
      (guint) box.x, (guint) box.y, (guint) box.width, (guint) box.height);
}

/* ---- harness ---- */

CuvLive
film_new (const gchar *properties, const gchar *format, gint width, gint height)
{
  /* most tests detect each object only once */
  return cuv_live_new (
      "rcdtrack confirm-detections=0", properties, format, width, height);
}

GstBuffer *
film_show (CuvLive *self, guint n, gint kind, Box box)
{
  GstBuffer *out = NULL;

  for (guint i = 0; i < n; i++) {
    GstBuffer *frame = film_frame (self);

    if (kind >= 0)
      film_draw_object (frame, (guint) kind, box);
    gst_clear_buffer (&out);
    out = cuv_live_push (self, frame);
  }
  return out;
}

/* ---- results ---- */

static gdouble
number_of (const GstStructure *structure, const gchar *field)
{
  gdouble number = INFINITY;

  fail_if (gst_structure_has_field (structure, field)
      && (!gst_structure_get_double (structure, field, &number)
          || !isfinite (number)));
  return number;
}

static Track
track_of (GstVideoRegionOfInterestMeta *roi, const GstStructure *param)
{
  const GstStructure *tracked =
      gst_video_region_of_interest_meta_get_param (roi, "object_id");
  const GstStructure *detection =
      gst_video_region_of_interest_meta_get_param (roi, "detection");
  Track track = { .label = g_quark_to_string (roi->roi_type),
    .box = { (gint) roi->x, (gint) roi->y, (gint) roi->w, (gint) roi->h },
    .region_id = roi->id,
    .distance = number_of (param, "distance"),
    .second = number_of (param, "second_distance"),
    .scale = number_of (param, "scale"),
    .confidence = number_of (param, "confidence"),
    .state = gst_structure_get_string (param, "state") };

  fail_unless (
      tracked != NULL && gst_structure_get_int (tracked, "id", &track.id));
  fail_unless (
      gst_structure_get_int (param, "lost_frames", &track.lost_frames));
  gst_structure_get_uint64 (param, "age", &track.age);
  if (detection != NULL)
    track.detection = number_of (detection, "confidence");
  fail_unless (track.id >= 1 && isfinite (track.distance)
      && isfinite (track.scale) && track.distance >= -1e-9
      && track.confidence > 0 && track.confidence <= 1 + 1e-9);
  fail_unless_equals_string (track.state, "tracked");
  return track;
}

GArray *
tracks_of (GstBuffer *frame)
{
  GArray *tracks = g_array_new (FALSE, FALSE, sizeof (Track));
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = cuv_next_region (frame, &state)) != NULL) {
    const GstStructure *param =
        gst_video_region_of_interest_meta_get_param (roi, "rcdtrack");

    if (param != NULL) {
      Track track = track_of (roi, param);

      g_array_append_val (tracks, track);
    }
  }
  return tracks;
}

guint
n_tracks (GstBuffer *frame)
{
  g_autoptr (GArray) tracks = tracks_of (frame);
  guint n = tracks->len;

  return n;
}

static gdouble
overlap (Box a, Box b)
{
  gint w = MIN (a.x + a.width, b.x + b.width) - MAX (a.x, b.x);
  gint h = MIN (a.y + a.height, b.y + b.height) - MAX (a.y, b.y);
  gdouble both = w > 0 && h > 0 ? w * h : 0;

  return both / (a.width * a.height + b.width * b.height - both);
}

gint
check_at (GstBuffer *frame, gint id, Box box)
{
  GArray *tracks = tracks_of (frame);
  gint found = 0;

  for (guint i = 0; i < tracks->len; i++) {
    const Track *track = &g_array_index (tracks, Track, i);

    if (id != 0 && track->id != id)
      continue;
    if (overlap (track->box, box) >= 0.7)
      found = track->id;
    else
      g_print ("%d is at %d,%d %dx%d, distance %g\n", track->id, track->box.x,
          track->box.y, track->box.width, track->box.height, track->distance);
  }
  fail_unless (found != 0, "%d of %u is not at %d,%d %dx%d", id, tracks->len,
      box.x, box.y, box.width, box.height);
  g_array_unref (tracks);
  gst_buffer_unref (frame);
  return found;
}

void
check_nothing (GstBuffer *frame)
{
  fail_unless_equals_int (n_tracks (frame), 0);
  gst_buffer_unref (frame);
}

gchar *
next_event (CuvLive *self)
{
  GstMessage *message = gst_bus_pop_filtered (self->bus, GST_MESSAGE_ELEMENT);
  const GstStructure *structure, *object;
  const gchar *event;
  const GValue *list;
  gchar *text = NULL;
  gint id = 0;

  if (message == NULL)
    return NULL;
  structure = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (structure, "rcdtrack"));
  list = gst_structure_get_value (structure, "objects");
  fail_unless (list != NULL && GST_VALUE_HOLDS_LIST (list));
  if (gst_value_list_get_size (list) > 0) {
    object = gst_value_get_structure (gst_value_list_get_value (list, 0));
    event = gst_structure_get_string (object, "event");
    fail_unless (gst_structure_get_int (object, "id", &id));
    text = g_strdup_printf ("%s %d", event != NULL ? event : "", id);
  }
  gst_message_unref (message);
  return text != NULL ? text : g_strdup ("");
}

void
expect_event (CuvLive *self, const gchar *text)
{
  g_autofree gchar *event = next_event (self);

  fail_unless (g_strcmp0 (event, text) == 0, "'%s', not '%s'", event, text);
}
