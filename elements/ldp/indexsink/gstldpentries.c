/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "indexsink/gstldpentries.h"

#include <gst/base/gstbasesink.h>
#include <stdlib.h>
#include <string.h>

#include "context/gstcuvframe.h"
#include "gstcuvstructure.h"

/* ---- thumbnails ---- */

struct _GstLdpThumbnailer {
  GstBuffer *buffer;
  GstVideoFrame picture; /* the buffer, mapped permanently */

  GstVideoConverter *converter; /* converts with the two infos below */
  GstVideoInfo info;
  CuvLdpRect rect;
};

static GstLdpThumbnailer *
thumbnailer_new (gint width, gint height)
{
  GstLdpThumbnailer *self = g_new0 (GstLdpThumbnailer, 1);
  GstVideoInfo info;

  gst_video_info_set_format (
      &info, GST_VIDEO_FORMAT_RGB, (guint) width, (guint) height);
  info.stride[0] = 3 * width;
  info.size = 3 * (gsize) width * (gsize) height;
  self->buffer = gst_buffer_new_wrapped (g_malloc (info.size), info.size);
  gst_video_frame_map (&self->picture, &info, self->buffer,
      GST_MAP_READWRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
  return self;
}

static void
thumbnailer_free (GstLdpThumbnailer *self)
{
  g_clear_pointer (&self->converter, gst_video_converter_free);
  gst_video_frame_unmap (&self->picture);
  gst_buffer_unref (self->buffer);
  g_free (self);
}

/* Returns the part of the thumbnail that shows the rectangle; respects the
 * pixel aspect ratio. */
static GstVideoRectangle
fit_rectangle (const GstLdpThumbnailer *self, const GstVideoInfo *info,
    const CuvLdpRect *rect)
{
  const GstVideoRectangle from = { 0, 0,
    (gint) gst_util_uint64_scale_int_ceil ((guint64) rect->width,
        GST_VIDEO_INFO_PAR_N (info), GST_VIDEO_INFO_PAR_D (info)),
    rect->height };
  const GstVideoRectangle all = { 0, 0, GST_VIDEO_FRAME_WIDTH (&self->picture),
    GST_VIDEO_FRAME_HEIGHT (&self->picture) };
  GstVideoRectangle place;

  gst_video_center_rect (&from, &all, &place, TRUE);
  place.w = MAX (place.w, 1);
  place.h = MAX (place.h, 1);
  place.x = (all.w - place.w) / 2;
  place.y = (all.h - place.h) / 2;
  return place;
}

static void
gst_ldp_entries_make_converter (
    GstLdpThumbnailer *self, const GstVideoInfo *info, const CuvLdpRect *rect)
{
  const GstVideoRectangle place = fit_rectangle (self, info, rect);
  GstVideoInfo from = *info, to = self->picture.info;

  /* the converter refuses to change frame rate or interlacing */
  to.fps_n = from.fps_n;
  to.fps_d = from.fps_d;
  from.interlace_mode = to.interlace_mode;
  g_clear_pointer (&self->converter, gst_video_converter_free);
  self->converter = gst_video_converter_new (&from, &to,
      gst_cuv_structure_new ("thumbnail", GST_VIDEO_CONVERTER_OPT_SRC_X,
          G_TYPE_INT, rect->x, GST_VIDEO_CONVERTER_OPT_SRC_Y, G_TYPE_INT,
          rect->y, GST_VIDEO_CONVERTER_OPT_SRC_WIDTH, G_TYPE_INT, rect->width,
          GST_VIDEO_CONVERTER_OPT_SRC_HEIGHT, G_TYPE_INT, rect->height,
          GST_VIDEO_CONVERTER_OPT_DEST_X, G_TYPE_INT, place.x,
          GST_VIDEO_CONVERTER_OPT_DEST_Y, G_TYPE_INT, place.y,
          GST_VIDEO_CONVERTER_OPT_DEST_WIDTH, G_TYPE_INT, place.w,
          GST_VIDEO_CONVERTER_OPT_DEST_HEIGHT, G_TYPE_INT, place.h, NULL));
  self->info = *info;
  self->rect = *rect;
}

/* Returns the rectangle inside the frame, scaled to fit and centred on black:
 * RGB pixels, row by row without padding, valid until the next run. If the
 * buffer cannot be read, returns NULL and sets *problem; free it. */
static const guint8 *
thumbnailer_run (GstLdpThumbnailer *self, const GstVideoInfo *info,
    GstBuffer *buffer, const CuvLdpRect *rect, gchar **problem)
{
  GstVideoFrame frame;

  if (self->converter == NULL || !gst_video_info_is_equal (info, &self->info)
      || memcmp (rect, &self->rect, sizeof *rect) != 0)
    gst_ldp_entries_make_converter (self, info, rect);
  *problem = self->converter != NULL
      ? gst_cuv_video_map (
          &frame, info, buffer, GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)
      : g_strdup_printf ("GStreamer cannot convert a frame of format %s to a "
                         "thumbnail: use another format, or set "
                         "thumbnail-width and thumbnail-height to 0",
          GST_VIDEO_INFO_NAME (info));
  if (*problem != NULL)
    return NULL;
  frame.flags &= ~GST_VIDEO_FRAME_FLAG_INTERLACED; /* as in make_converter() */
  gst_video_converter_frame (self->converter, &frame, &self->picture);
  gst_video_frame_unmap (&frame);
  return GST_VIDEO_FRAME_PLANE_DATA (&self->picture, 0);
}

/* ---- errors ---- */

static gboolean
post_settings_error (GstLdpEntries *self, const gchar *problem)
{
  GST_ELEMENT_ERROR (
      self->element, RESOURCE, SETTINGS, ("%s.", problem), (NULL));
  return FALSE;
}

/* Takes ownership of the text. */
static gboolean
post_write_error (GstLdpEntries *self, char *problem)
{
  if (self->writer != NULL && cuv_ldp_index_writer_is_full (self->writer))
    GST_ELEMENT_ERROR (self->element, RESOURCE, NO_SPACE_LEFT,
        ("The index %s.", problem), (NULL));
  else
    GST_ELEMENT_ERROR (
        self->element, RESOURCE, WRITE, ("The index %s.", problem), (NULL));
  free (problem);
  return FALSE;
}

/* ---- opening ---- */

void
gst_ldp_entries_start (GstLdpEntries *self)
{
  GST_OBJECT_LOCK (self->element);
  self->statistics = (GstLdpStatistics){ .device = "none" };
  GST_OBJECT_UNLOCK (self->element);
  self->time = GST_CLOCK_TIME_NONE;
  self->posted = g_get_monotonic_time ();
}

static gboolean
allocate_histograms (GstLdpEntries *self)
{
  const gsize n = cuv_ldp_n_counts (&self->info.layout);

  g_free (self->histograms); /* left by an index that could not be opened */
  self->histograms = g_try_new (guint32, n);
  if (self->histograms != NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self->element, RESOURCE, FAILED,
      ("Out of memory: the counts of an entry take %" G_GSIZE_FORMAT
       " MB. Use fewer blocks, bins or directions.",
          n * sizeof (guint32) >> 20),
      (NULL));
  return FALSE;
}

static gboolean
open_index (GstLdpEntries *self)
{
  const CuvLdpIndexInfo *info = &self->info;
  char *problem;

  if (!allocate_histograms (self))
    return FALSE;
  self->writer = cuv_ldp_index_writer_open (
      self->output->location, info, self->output->sync_to_disk, &problem);
  if (self->writer == NULL)
    return post_write_error (self, problem);
  if (info->thumbnail_width > 0)
    self->thumbnailer =
        thumbnailer_new (info->thumbnail_width, info->thumbnail_height);
  return TRUE;
}

gboolean
gst_ldp_entries_open (GstLdpEntries *self, const CuvLdpLayout *layout)
{
  CuvLdpIndexInfo info;
  const gchar *problem = cuv_ldp_index_info_init (&info, &layout->params,
      layout->width, layout->height, self->output->thumbnail_width,
      self->output->thumbnail_height);
  char *difference;

  if (problem != NULL)
    return post_settings_error (self, problem);
  if (self->writer == NULL) {
    self->info = info;
    return open_index (self);
  }
  if (cuv_ldp_index_check_same (
          &self->info, &info, self->output->location, &difference))
    return TRUE;
  post_settings_error (self, difference);
  free (difference);
  return FALSE;
}

gboolean
gst_ldp_entries_close (GstLdpEntries *self)
{
  char *problem = NULL;

  g_clear_pointer (&self->thumbnailer, thumbnailer_free);
  g_clear_pointer (&self->histograms, g_free);
  g_clear_pointer (&self->name, g_free);
  return self->writer == NULL
      || cuv_ldp_index_writer_close (g_steal_pointer (&self->writer), &problem)
      || post_write_error (self, problem);
}

/* ---- appending ---- */

/* Returns NULL after an element error. */
static const guint8 *
make_thumbnail (GstLdpEntries *self, const GstVideoInfo *info,
    GstBuffer *buffer, const CuvLdpRect *rect)
{
  gchar *problem;
  const guint8 *thumbnail =
      thumbnailer_run (self->thumbnailer, info, buffer, rect, &problem);

  if (thumbnail == NULL) {
    GST_ELEMENT_ERROR (self->element, STREAM, FORMAT, ("%s.", problem),
        ("%" GST_PTR_FORMAT, buffer));
    g_free (problem);
  }
  return thumbnail;
}

gboolean
gst_ldp_entries_append (GstLdpEntries *self, gconstpointer counts,
    const gchar *frame_name, guint n, gint32 id, const GstVideoInfo *info,
    GstBuffer *buffer, const CuvLdpRect *rect)
{
  const guint8 *thumbnail = NULL;
  gchar *name;
  char *problem;

  if (self->thumbnailer != NULL) {
    thumbnail = make_thumbnail (self, info, buffer, rect);
    if (thumbnail == NULL)
      return FALSE;
  }
  cuv_ldp_convert_counts (&self->info.layout, counts, self->histograms);
  name =
      n > 1 ? g_strdup_printf ("%s#%d", frame_name, id) : g_strdup (frame_name);
  if (!cuv_ldp_index_writer_append (
          self->writer, self->histograms, name, thumbnail, &problem)) {
    g_free (name);
    return post_write_error (self, problem);
  }
  g_free (self->name);
  self->name = name;
  GST_OBJECT_LOCK (self->element);
  self->statistics.written++;
  self->statistics.bytes += self->info.stride;
  GST_OBJECT_UNLOCK (self->element);
  return TRUE;
}

/* ---- statistics ---- */

static GstClockTime
convert_time (GstLdpEntries *self,
    guint64 (*convert) (const GstSegment *, GstFormat, guint64))
{
  const GstSegment *segment = &GST_BASE_SINK (self->element)->segment;

  return segment->format != GST_FORMAT_TIME
      ? GST_CLOCK_TIME_NONE
      : convert (segment, GST_FORMAT_TIME, self->time);
}

static GstLdpStatistics
copy_statistics (GstLdpEntries *self)
{
  GstLdpStatistics statistics;

  GST_OBJECT_LOCK (self->element);
  statistics = self->statistics;
  GST_OBJECT_UNLOCK (self->element);
  return statistics;
}

void
gst_ldp_entries_post_progress (GstLdpEntries *self)
{
  const GstLdpStatistics statistics = copy_statistics (self);

  if (self->output->progress_interval == 0)
    return;
  self->posted = g_get_monotonic_time ();
  gst_element_post_message (self->element,
      gst_message_new_element (GST_OBJECT (self->element),
          gst_cuv_structure_new ("ldpindexsink", "entries", G_TYPE_UINT64,
              statistics.entries, "written", G_TYPE_UINT64, statistics.written,
              "bytes", G_TYPE_UINT64, statistics.bytes, "name", G_TYPE_STRING,
              self->name, "stream-time", G_TYPE_UINT64,
              convert_time (self, gst_segment_to_stream_time), "running-time",
              G_TYPE_UINT64, convert_time (self, gst_segment_to_running_time),
              NULL)));
}

void
gst_ldp_entries_count_frame (
    GstLdpEntries *self, const gchar *device, GstClockTime took)
{
  GST_OBJECT_LOCK (self->element);
  self->statistics.entries = cuv_ldp_index_writer_n_entries (self->writer);
  self->statistics.device = device;
  self->statistics.timed++;
  self->statistics.last = took;
  self->statistics.sum += took;
  GST_OBJECT_UNLOCK (self->element);
  if (g_get_monotonic_time () - self->posted
      >= self->output->progress_interval * G_TIME_SPAN_MILLISECOND)
    gst_ldp_entries_post_progress (self);
}

GstStructure *
gst_ldp_entries_stats (GstLdpEntries *self)
{
  const GstLdpStatistics s = copy_statistics (self);

  return gst_cuv_structure_new ("stats", "frames", G_TYPE_UINT64, s.frames,
      "written", G_TYPE_UINT64, s.written, "entries", G_TYPE_UINT64, s.entries,
      "bytes", G_TYPE_UINT64, s.bytes, "device", G_TYPE_STRING, s.device,
      "microseconds", G_TYPE_UINT64, s.last / GST_USECOND, "microseconds-mean",
      G_TYPE_UINT64, s.timed > 0 ? s.sum / s.timed / GST_USECOND : 0, NULL);
}
