/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests every element with random properties, caps, buffers, metas, events,
 * queries and state changes: no crash and no GLib warning. Run it under the
 * sanitizers. CUV_TEST_CASES is the number of cases per element. With
 * CUV_TEST_CUDA, elements that take frames in CUDA memory get them from
 * cuvcudaupload. */
#include "device.h"
#include "random-metas.h"
#include "random.h"

#include <glib/gstdio.h>

#define MAX_SIZE 96

typedef struct {
  GstElement *element;
  GstElement *upload;    /* before it, or NULL */
  GstPad *src, *sink;    /* pads of the test, linked with those elements' */
  GPtrArray *properties; /* GParamSpecs of the properties to set */
  GstCaps *caps;
  GstVideoInfo info; /* format UNKNOWN: not raw video */
  gsize size;        /* size of a buffer */
  GstClockTime time;
} Fuzz;

typedef void (*Action) (Fuzz *self);

static GPtrArray *names;
static gchar *folder;
static gint n_cases = 40;
/* buffers that the element received and passed on */
static guint n_pushed, n_passed;

/* ---- properties ---- */

static void
set_property (Fuzz *self)
{
  random_set (self->element, self->properties);
}

static void
get_properties (Fuzz *self)
{
  random_get (self->element);
}

/* ---- caps ---- */

static GstCaps *
video_caps (void)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };
  static const gchar *const modes[] = { "progressive", "interleaved", "mixed" };

  return gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      formats[below (G_N_ELEMENTS (formats))], "width", G_TYPE_INT,
      (gint) below (MAX_SIZE) + 1, "height", G_TYPE_INT,
      (gint) below (MAX_SIZE) + 1, "framerate", GST_TYPE_FRACTION,
      (gint) below (60), 1, "interlace-mode", G_TYPE_STRING, modes[below (3)],
      "pixel-aspect-ratio", GST_TYPE_FRACTION, (gint) below (3) + 1, 1, NULL);
}

static GstCaps *
spectral_caps (gsize *size)
{
  static const gchar *const formats[] = { "U8", "U16LE", "F32LE" };
  static const gchar *const orders[] = { "bsq", "bil", "bip" };
  const guint format = below (3);
  const gint width = (gint) below (24) + 1, height = (gint) below (24) + 1;
  const gint bands = (gint) below (40) + 1;

  *size = ((gsize) width * (gsize) height * (gsize) bands) << format;
  return gst_caps_new_simple ("video/x-spectral", "format", G_TYPE_STRING,
      formats[format], "interleave", G_TYPE_STRING, orders[below (3)], "width",
      G_TYPE_INT, width, "height", G_TYPE_INT, height, "bands", G_TYPE_INT,
      bands, "framerate", GST_TYPE_FRACTION, (gint) below (60), 1, NULL);
}

static void
choose_caps (Fuzz *self)
{
  GstElementFactory *factory = gst_element_get_factory (self->element);

  gst_clear_caps (&self->caps);
  self->caps = spectral_caps (&self->size);
  gst_video_info_init (&self->info);
  if (self->upload != NULL
      || !gst_element_factory_can_sink_any_caps (factory, self->caps)
      || once_in (3)) {
    gst_caps_unref (self->caps);
    self->caps = video_caps ();
    gst_video_info_from_caps (&self->info, self->caps);
    self->size = self->info.size;
  }
}

static void
push_segment (Fuzz *self)
{
  GstSegment segment;

  gst_segment_init (&segment, once_in (8) ? GST_FORMAT_BYTES : GST_FORMAT_TIME);
  if (once_in (4))
    segment.start = segment.time = below (5) * GST_SECOND;
  if (once_in (8))
    segment.rate = self->sink != NULL && once_in (2) ? -1 : 2;
  gst_pad_push_event (self->src, gst_event_new_segment (&segment));
}

static void
change_caps (Fuzz *self)
{
  choose_caps (self);
  gst_pad_push_event (self->src, gst_event_new_caps (self->caps));
  push_segment (self);
}

/* ---- buffers ---- */

static GstMemory *
random_memory (gsize size)
{
  guint8 *data = g_malloc (size + 1); /* g_malloc (0) is NULL */

  for (gsize i = 0, run = 1 + below (40), fill = 0; i < size; i++) {
    if (i % run == 0)
      fill = below (256);
    data[i] = (guint8) fill;
  }
  return gst_memory_new_wrapped (once_in (4) ? GST_MEMORY_FLAG_READONLY : 0,
      data, size, 0, size, data, g_free);
}

static gsize
random_size (gsize size)
{
  switch (below (8)) {
    case 0:
      return below ((guint) size + 1);
    case 1:
      return size + below (100);
    default:
      return size;
  }
}

static void
push_buffer (Fuzz *self)
{
  GstBuffer *buffer = gst_buffer_new (), *held;

  for (gsize left = random_size (self->size); left > 0;) {
    gsize part = once_in (2) ? left : 1 + below ((guint) left);

    gst_buffer_append_memory (buffer, random_memory (part));
    left -= part;
  }
  random_metas (buffer, &self->info);
  self->time += once_in (8) ? 2 * GST_SECOND : GST_SECOND / 30;
  GST_BUFFER_PTS (buffer) = once_in (8) ? GST_CLOCK_TIME_NONE : self->time;
  GST_BUFFER_DURATION (buffer) = once_in (4) ? G_MAXINT64 : GST_SECOND / 30;
  if (once_in (8))
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  held = once_in (4) ? gst_buffer_ref (buffer) : NULL;
  n_passed += gst_pad_push (self->src, buffer) == GST_FLOW_OK;
  n_pushed++;
  gst_clear_buffer (&held);
}

/* ---- events, queries, states ---- */

static void
flush (Fuzz *self)
{
  gst_pad_push_event (self->src, gst_event_new_flush_start ());
  gst_pad_push_event (
      self->src, gst_event_new_flush_stop (g_random_boolean ()));
  push_segment (self);
}

static void
push_gap (Fuzz *self)
{
  gst_pad_push_event (self->src, gst_event_new_gap (self->time, GST_SECOND));
}

static void
push_end (Fuzz *self)
{
  gst_pad_push_event (self->src, gst_event_new_eos ());
  flush (self);
}

static void
push_qos (Fuzz *self)
{
  static const GstClockTimeDiff late[] = { 0, GST_SECOND, G_MAXINT64 };

  if (self->sink != NULL)
    gst_pad_push_event (self->sink,
        gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1, late[below (3)],
            once_in (4) ? G_MAXUINT64 - 1 : self->time));
}

static void
query (Fuzz *self)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (self->element, "sink");
  GstQuery *queries[] = { gst_query_new_allocation (self->caps, TRUE),
    gst_query_new_caps (once_in (2) ? NULL : self->caps),
    gst_query_new_accept_caps (self->caps), gst_query_new_latency () };

  for (guint i = 0; i < G_N_ELEMENTS (queries); i++) {
    if (i < 3)
      gst_pad_query (pad, queries[i]);
    else
      gst_element_query (self->element, queries[i]);
    gst_query_unref (queries[i]);
  }
}

static void
restart (Fuzz *self)
{
  gst_element_set_state (
      self->element, once_in (2) ? GST_STATE_READY : GST_STATE_NULL);
  get_properties (self);
  gst_element_set_state (self->element, GST_STATE_PLAYING);
  gst_pad_push_event (self->src, gst_event_new_stream_start ("again"));
  change_caps (self);
}

/* ---- a case ---- */

static GstFlowReturn
drop_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static gboolean
drop_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref (event);
  return TRUE;
}

/* Returns NULL if the element has no such pad. A GstHarness needs an element
 * that starts. */
static GstPad *
link_pad (GstElement *element, const gchar *name, GstPadDirection direction)
{
  GstPad *own = gst_element_get_static_pad (element, name), *pad;

  if (own == NULL)
    return NULL;
  pad = gst_pad_new (NULL, direction);
  gst_pad_set_event_function (pad, drop_event);
  if (direction == GST_PAD_SINK)
    gst_pad_set_chain_function (pad, drop_buffer);
  gst_pad_set_active (pad, TRUE);
  if (direction == GST_PAD_SRC)
    gst_pad_link (pad, own);
  else
    gst_pad_link (own, pad);
  gst_object_unref (own);
  return pad;
}

static void
unlink_pad (GstPad *pad)
{
  if (pad != NULL)
    gst_pad_set_active (pad, FALSE);
  gst_clear_object (&pad);
}

static void
set_location (Fuzz *self)
{
  g_autofree gchar *path = g_strdup_printf ("%s/e%%d.hdr", folder);

  if (g_object_class_find_property (
          G_OBJECT_GET_CLASS (self->element), "location")
      != NULL)
    g_object_set (self->element, "location", path, NULL);
}

/* Links cuvcudaupload before the element. */
static void
add_upload (Fuzz *self)
{
  self->upload = cuv_element_new ("cuvcudaupload");
  fail_unless (gst_element_link (self->upload, self->element));
  gst_element_set_state (self->upload, GST_STATE_PLAYING);
}

static void
open_case (Fuzz *self, const gchar *name)
{
  *self = (Fuzz){ .element = cuv_element_new (name) };
  self->properties = random_properties (self->element);
  for (guint i = below (6); i > 0; i--)
    set_property (self);
  set_location (self);
  if (use_cuda)
    add_upload (self);
  self->src =
      link_pad (use_cuda ? self->upload : self->element, "sink", GST_PAD_SRC);
  self->sink = link_pad (self->element, "src", GST_PAD_SINK);
  if (self->sink == NULL)
    g_object_set (self->element, "async", FALSE, "sync", FALSE, NULL);
  gst_element_set_state (self->element, GST_STATE_PLAYING);
  gst_pad_push_event (self->src, gst_event_new_stream_start ("first"));
  change_caps (self);
}

static void
clear_folder (void)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir)) != NULL) {
    gchar *path = g_build_filename (folder, name, NULL);

    g_unlink (path);
    g_free (path);
  }
  g_dir_close (dir);
}

static void
close_case (Fuzz *self)
{
  gst_element_set_state (self->element, GST_STATE_NULL);
  if (self->upload != NULL)
    gst_element_set_state (self->upload, GST_STATE_NULL);
  unlink_pad (self->src);
  unlink_pad (self->sink);
  gst_object_unref (self->element);
  gst_clear_object (&self->upload);
  gst_clear_caps (&self->caps);
  g_ptr_array_unref (self->properties);
  clear_folder ();
}

CUV_LOOP_TEST (survives_random_input, names->len)
{
  static const Action actions[] = { push_buffer, push_buffer, push_buffer,
    push_buffer, push_buffer, push_buffer, set_property, set_property,
    get_properties, change_caps, push_segment, flush, push_gap, push_end,
    push_qos, query, restart };

  n_pushed = n_passed = 0;
  for (gint i = 0; i < n_cases; i++) {
    Fuzz fuzz;

    open_case (&fuzz, names->pdata[__i__]);
    for (guint n = 4 + below (16); n > 0; n--)
      actions[below (G_N_ELEMENTS (actions))](&fuzz);
    close_case (&fuzz);
  }
  g_print ("%s: %u of %u buffers passed\n", (gchar *) names->pdata[__i__],
      n_passed, n_pushed);
  fail_unless (n_passed > 0);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  GPtrArray *all = cuv_element_names ();
  GstCaps *frames;

  if (use_cuda)
    n_cases = 20; /* each opens CUDA contexts */
  if (g_getenv ("CUV_TEST_CASES") != NULL)
    n_cases = atoi (g_getenv ("CUV_TEST_CASES"));
  folder = g_dir_make_tmp ("cuv-fuzz-XXXXXX", NULL);
  names = g_ptr_array_new ();
  frames = gst_caps_from_string (
      use_cuda ? "video/x-raw(memory:CUDAMemory)" : "ANY");
  for (guint i = 0; i < all->len; i++) {
    GstElementFactory *factory = gst_element_factory_find (all->pdata[i]);

    if (!gst_element_factory_list_is_type (
            factory, GST_ELEMENT_FACTORY_TYPE_SRC)
        && gst_element_factory_can_sink_any_caps (factory, frames))
      g_ptr_array_add (names, all->pdata[i]);
    gst_object_unref (factory);
  }
  gst_caps_unref (frames);
  tcase_set_timeout (tcase, 3600);
}
