/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture/gstcuvpicture.h"

#include <gst/app/gstappsink.h>
#include <gst/video/video.h>
#include "picture/cuvpicturefile.h"

/* videoflip does not support all formats, for example none with 16 bits. */
#define PIPELINE                                                               \
  "filesrc name=file ! %s videoconvert name=first ! videoflip name=turn "      \
  "! appsink name=out sync=false max-buffers=4 "                               \
  "caps=\"video/x-raw,format={NV12,I420,YV12,"                                 \
  "NV21,YUY2,UYVY,RGB,BGR,RGBx,BGRx,RGBA,BGRA,GRAY8}\""
enum {
  TIMEOUT = 60,      /* seconds per frame */
  MOST_SIDE = 32767, /* columns or rows; the limit of videoconvert */
};

typedef struct {
  GstElement *pipeline, *first, *turn; /* first: takes the decoder's frames */
  gboolean too_large;                  /* set before an error is posted */
  GstAppSink *out;
  GstBus *bus;
  GPtrArray *streams; /* GstMessages: status of streaming threads */
  gchar *missing;     /* the name of a plugin */
  gboolean stalled;
} Decoder;

typedef struct {
  gboolean (*visit) (gpointer data, GstSample *sample, gint64 frame);
  gpointer data;
  gint64 n_frames; /* visited */
  gboolean ended;  /* visit() returned FALSE */
  gboolean too_large;
  gint orientation; /* orientation of the file */
} Visitor;

/* ---- the pipeline ---- */

/* Posts an error that names size and limit, which videoconvert's does not. */
static gboolean
check_size (Decoder *self, GstElement *decode, GstPad *pad)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  gint width = 0, height = 0;

  if (caps != NULL) {
    const GstStructure *structure = gst_caps_get_structure (caps, 0);

    gst_structure_get_int (structure, "width", &width);
    gst_structure_get_int (structure, "height", &height);
    gst_caps_unref (caps);
  }
  if (MAX (width, height) <= MOST_SIDE)
    return TRUE;
  self->too_large = TRUE;
  GST_ELEMENT_ERROR (decode, STREAM, FORMAT,
      ("it has %d x %d pixels, but at most %d columns and rows can be read",
          width, height, MOST_SIDE),
      (NULL));
  return FALSE;
}

static void
link_picture (GstElement *decode, GstPad *pad, gpointer data)
{
  Decoder *self = data;
  GstPad *sink = gst_element_get_static_pad (self->first, "sink");

  if (!gst_pad_is_linked (sink) && check_size (self, decode, pad))
    gst_pad_link (pad, sink); /* fails for audio */
  gst_object_unref (sink);
}

/* decoder: name of the decoder to use in PIPELINE. Returns FALSE with *problem
 * set if an element is missing. */
static gboolean
decoder_init (Decoder *self, const gchar *decoder, gchar **problem)
{
  gchar *line = g_strdup_printf (PIPELINE, decoder);
  GstElement *decode;
  GError *error = NULL;

  *self = (Decoder){ .pipeline = gst_parse_launch_full (
                         line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error) };
  g_free (line);
  if (error != NULL) {
    *problem = g_strdup_printf (
        "%s: install GStreamer's base and good plugins", error->message);
    g_error_free (error);
    gst_clear_object (&self->pipeline);
    return FALSE;
  }
  self->first = gst_bin_get_by_name (GST_BIN (self->pipeline), "first");
  self->turn = gst_bin_get_by_name (GST_BIN (self->pipeline), "turn");
  self->out =
      GST_APP_SINK (gst_bin_get_by_name (GST_BIN (self->pipeline), "out"));
  self->bus = gst_element_get_bus (self->pipeline);
  self->streams =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_message_unref);
  decode = gst_bin_get_by_name (GST_BIN (self->pipeline), "decode");
  if (decode != NULL) {
    g_signal_connect (decode, "pad-added", G_CALLBACK (link_picture), self);
    gst_object_unref (decode);
  }
  return TRUE;
}

static void
decoder_clear (Decoder *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  g_ptr_array_unref (self->streams);
  gst_object_unref (self->bus);
  gst_object_unref (self->out);
  gst_object_unref (self->turn);
  gst_object_unref (self->first);
  gst_object_unref (self->pipeline);
  g_free (self->missing);
}

/* ---- orientation ---- */

/* Indexed by EXIF orientation. For 0, a file without one, the stream's tags
 * decide. */
static const GstVideoOrientationMethod methods[] = { GST_VIDEO_ORIENTATION_AUTO,
  GST_VIDEO_ORIENTATION_IDENTITY, GST_VIDEO_ORIENTATION_HORIZ,
  GST_VIDEO_ORIENTATION_180, GST_VIDEO_ORIENTATION_VERT,
  GST_VIDEO_ORIENTATION_UL_LR, GST_VIDEO_ORIENTATION_90R,
  GST_VIDEO_ORIENTATION_UR_LL, GST_VIDEO_ORIENTATION_90L };

/* Returns the orientation that videoflip has applied: it passes the tag on. */
static GstVideoOrientationMethod
read_tags (const Decoder *self)
{
  GstPad *sink = gst_element_get_static_pad (self->turn, "sink");
  GstVideoOrientationMethod method = GST_VIDEO_ORIENTATION_IDENTITY;
  GstTagList *tags;
  GstEvent *event;

  for (guint i = 0;
       (event = gst_pad_get_sticky_event (sink, GST_EVENT_TAG, i)) != NULL;
       i++) {
    gst_event_parse_tag (event, &tags);
    gst_video_orientation_from_tag (tags, &method);
    gst_event_unref (event);
  }
  gst_object_unref (sink);
  return method;
}

/* orientation: the one stored in the file. */
static GstSample *
note_orientation (const Decoder *self, GstSample *sample, gint orientation)
{
  const GstVideoOrientationMethod method =
      orientation == 0 ? read_tags (self) : methods[orientation];

  sample = gst_sample_make_writable (sample);
  gst_sample_set_info (sample,
      gst_structure_new ("picture", "orientation",
          GST_TYPE_VIDEO_ORIENTATION_METHOD, method, NULL));
  return sample;
}

GstVideoOrientationMethod
gst_cuv_picture_orientation (GstSample *frame)
{
  const GstStructure *info = gst_sample_get_info (frame);
  gint method = GST_VIDEO_ORIENTATION_IDENTITY;

  if (info != NULL)
    gst_structure_get_enum (
        info, "orientation", GST_TYPE_VIDEO_ORIENTATION_METHOD, &method);
  return (GstVideoOrientationMethod) method;
}

/* ---- messages ---- */

static gchar *
decoder_error (const Decoder *self, GstMessage *message)
{
  GError *error;
  gchar *text;

  gst_message_parse_error (message, &error, NULL);
  text = self->missing != NULL
      ? g_strdup_printf ("GStreamer has no plugin for it (%s)", self->missing)
      : g_strdup (error->message);
  g_error_free (error);
  return text;
}

/* Returns the error, or NULL. */
static gchar *
read_messages (Decoder *self)
{
  GstMessage *message;
  gchar *problem = NULL;

  while (problem == NULL
      && (message = gst_bus_pop_filtered (self->bus,
              GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT
                  | GST_MESSAGE_STREAM_STATUS))
          != NULL) {
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      problem = decoder_error (self, message);
    else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_STREAM_STATUS)
      g_ptr_array_add (self->streams, gst_message_ref (message));
    else if (gst_message_has_name (message, "missing-plugin")
        && self->missing == NULL)
      self->missing = g_strdup (gst_structure_get_string (
          gst_message_get_structure (message), "name"));
    gst_message_unref (message);
  }
  return problem;
}

/* Whether the thread of a stream-status message is idle. The state of its task
 * is not enough: a source pauses its task before it pushes EOS, and GdkPixbuf
 * decodes on EOS. Until that returns, the thread holds the task's lock. */
static gboolean
is_idle (GstMessage *stream)
{
  const GValue *object = gst_message_get_stream_status_object (stream);
  GstTask *task;

  if (object == NULL || !G_VALUE_HOLDS (object, GST_TYPE_TASK))
    return TRUE;
  task = g_value_get_object (object);
  if (gst_task_get_state (task) == GST_TASK_STARTED
      || !g_rec_mutex_trylock (task->lock))
    return FALSE;
  g_rec_mutex_unlock (task->lock);
  return TRUE;
}

/* Whether all threads were idle in two calls in a row. decodebin loses an error
 * that a demuxer posts while it is being linked. */
static gboolean
is_stalled (Decoder *self)
{
  const gboolean before = self->stalled;

  self->stalled = self->streams->len > 0;
  for (guint i = 0; self->stalled && i < self->streams->len; i++)
    self->stalled = is_idle (self->streams->pdata[i]);
  return before && self->stalled;
}

/* ---- frames ---- */

/* Returns the next frame; NULL at the end, or on failure, with *problem set. */
static GstSample *
next_sample (Decoder *self, gint64 frame, gchar **problem)
{
  const gint64 end = g_get_monotonic_time () + TIMEOUT * G_USEC_PER_SEC;
  GstSample *sample;

  self->stalled = FALSE;
  while ((sample = gst_app_sink_try_pull_sample (self->out, GST_SECOND / 50))
      == NULL) {
    *problem = read_messages (self);
    if (*problem != NULL || gst_app_sink_is_eos (self->out))
      break;
    if (is_stalled (self)) {
      *problem = g_strdup ("it contains no picture that can be decoded");
      break;
    }
    if (g_get_monotonic_time () > end) {
      *problem = g_strdup_printf ("frame %" G_GINT64_FORMAT
                                  " was not decoded within %d s",
          frame, TIMEOUT);
      break;
    }
  }
  return sample;
}

/* Passes bytes of a TIFF on as if it was stored upright. */
static GstPadProbeReturn
clear_orientation (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const CuvPictureFile *picture = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const goffset at =
      picture->orientation_at - (goffset) GST_BUFFER_OFFSET (buffer);
  const guint8 upright = 1;

  (void) pad;
  if (at >= 0 && at < (goffset) gst_buffer_get_size (buffer)) {
    buffer = gst_buffer_make_writable (buffer);
    gst_buffer_fill (buffer, (gsize) at, &upright, 1);
    GST_PAD_PROBE_INFO_DATA (info) = buffer;
  }
  return GST_PAD_PROBE_OK;
}

/* GdkPixbuf applies some, all or none of TIFF's orientations, depending on
 * its version. */
static void
hide_orientation (GstElement *file, const CuvPictureFile *picture)
{
  GstPad *pad = gst_element_get_static_pad (file, "src");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, clear_orientation,
      (gpointer) picture, NULL);
  gst_object_unref (pad);
}

static gboolean
decode (const gchar *path, const gchar *decoder, const CuvPictureFile *picture,
    Visitor *visitor, gchar **problem)
{
  GstElement *file;
  GstSample *sample;
  Decoder self;

  if (!decoder_init (&self, decoder, problem))
    return FALSE;
  file = gst_bin_get_by_name (GST_BIN (self.pipeline), "file");
  g_object_set (file, "location", path, NULL);
  if (picture->orientation_at > 0)
    hide_orientation (file, picture);
  gst_object_unref (file);
  g_object_set (
      self.turn, "video-direction", methods[picture->orientation], NULL);
  gst_element_set_state (self.pipeline, GST_STATE_PLAYING);
  while (!visitor->ended
      && (sample = next_sample (&self, visitor->n_frames, problem)) != NULL) {
    sample = note_orientation (&self, sample, visitor->orientation);
    visitor->ended =
        !visitor->visit (visitor->data, sample, visitor->n_frames++);
    gst_sample_unref (sample);
  }
  if (*problem == NULL && !visitor->ended)
    *problem = read_messages (&self);
  if (*problem == NULL && visitor->n_frames == 0)
    *problem = g_strdup ("it contains no picture");
  decoder_clear (&self);
  visitor->too_large = self.too_large;
  return *problem == NULL;
}

/* ---- files ---- */

static gboolean
decode_with_pixbuf (const gchar *path, const CuvPictureFile *file,
    Visitor *visitor, gchar **problem)
{
  return decode (path, "gdkpixbufdec !", file, visitor, problem);
}

static gboolean
decode_with_decodebin (const gchar *path, const CuvPictureFile *file,
    Visitor *visitor, gchar **problem)
{
  return decode (path, "decodebin name=decode", file, visitor, problem);
}

/* GdkPixbuf decodes some formats that GStreamer's own decoders do not, such as
 * BMP. It is tried first for TIFF, which libav of GStreamer 1.28 refuses, and
 * for 16 bits without alpha, whose colours pngdec of GStreamer 1.22 swaps. */
static gboolean
decode_with_any (const gchar *path, const CuvPictureFile *file,
    Visitor *visitor, gchar **problem)
{
  const gboolean pixbuf_first = file->is_tiff || file->is_rgb16;
  gchar *unused = NULL;

  if ((pixbuf_first ? decode_with_pixbuf : decode_with_decodebin) (
          path, file, visitor, problem))
    return TRUE;
  if (visitor->n_frames > 0 || visitor->too_large || file->is_rgb16)
    return FALSE;
  (pixbuf_first ? decode_with_decodebin : decode_with_pixbuf) (
      path, file, visitor, &unused);
  g_free (unused);
  if (visitor->n_frames > 0)
    g_clear_pointer (problem, g_free);
  return visitor->n_frames > 0;
}

static void
name_kind (const CuvPictureFile *file, gchar **problem)
{
  gchar *cause = *problem;

  if (file->kind == NULL)
    return;
  *problem = g_strdup_printf (
      "it is %s, which cannot be decoded here (%s): convert it to JPEG or PNG",
      file->kind, cause);
  g_free (cause);
}

gboolean
gst_cuv_picture_visit (const gchar *path,
    gboolean (*visit) (gpointer data, GstSample *sample, gint64 frame),
    gpointer data, gchar **problem)
{
  Visitor visitor = { .visit = visit, .data = data };
  const char *cause;
  CuvPictureFile file;

  if (!cuv_picture_file_read (path, &file, &cause)) {
    *problem = g_strdup (cause);
    return FALSE;
  }
  visitor.orientation = file.orientation;
  if (decode_with_any (path, &file, &visitor, problem))
    return TRUE;
  if (visitor.n_frames == 0 && !visitor.too_large)
    name_kind (&file, problem);
  return FALSE;
}

static gboolean
take_first (gpointer data, GstSample *sample, gint64 frame)
{
  GstSample **first = data;

  *first = gst_sample_ref (sample);
  return FALSE;
}

GstSample *
gst_cuv_picture_load (const gchar *path, gchar **problem)
{
  GstSample *sample = NULL;

  gst_cuv_picture_visit (path, take_first, &sample, problem);
  return sample;
}

gchar *
gst_cuv_picture_check (void)
{
  Decoder decoder;
  gchar *problem = NULL;

  if (decoder_init (&decoder, "decodebin name=decode", &problem))
    decoder_clear (&decoder);
  return problem;
}
