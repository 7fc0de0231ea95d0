/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames whose GstVideoMeta does not fit their memory: every element accepts a
 * layout that fits to the byte and rejects any other before it reads. */
#include "cuvelements.h"

#include <glib/gstdio.h>

#define WIDTH 35
#define HEIGHT 33

static GPtrArray *names; /* names of the elements that take video frames */
static gchar *location;  /* path of the index that ldpindexsink writes */

/* Planes one after the other, without a spare byte at the end. */
typedef struct {
  GstVideoFormat format;
  guint width, height, n_planes;
  gsize offset[GST_VIDEO_MAX_PLANES];
  gint stride[GST_VIDEO_MAX_PLANES];
  gsize size;
} Layout;

typedef struct {
  const gchar *name;
  void (*change) (Layout *layout);
  const gchar *problem; /* part of the error; NULL if the layout is valid */
} Case;

static gint
row_bytes (const GstVideoInfo *info, guint plane)
{
  gint bytes = 0;

  for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS (info); i++)
    if (GST_VIDEO_INFO_COMP_PLANE (info, i) == plane)
      bytes = MAX (bytes,
          GST_VIDEO_INFO_COMP_WIDTH (info, i)
              * GST_VIDEO_INFO_COMP_PSTRIDE (info, i));
  return bytes;
}

static Layout
tight_layout (const gchar *format, gint padding)
{
  Layout layout = { .width = WIDTH, .height = HEIGHT };
  GstVideoInfo info;

  layout.format = gst_video_format_from_string (format);
  gst_video_info_set_format (&info, layout.format, WIDTH, HEIGHT);
  layout.n_planes = GST_VIDEO_INFO_N_PLANES (&info);
  for (guint p = 0; p < layout.n_planes; p++) {
    const gint bytes = row_bytes (&info, p);
    const gint rows = p > 0 ? (HEIGHT + 1) / 2 : HEIGHT;

    layout.offset[p] = layout.size;
    layout.stride[p] = bytes + padding;
    layout.size += (gsize) (layout.stride[p] * (rows - 1) + bytes);
  }
  return layout;
}

static GstBuffer *
wrap (gsize size)
{
  return gst_buffer_new_wrapped (g_malloc0 (size), size);
}

static GstBuffer *
finish_buffer (GstBuffer *buffer, Layout *layout)
{
  gst_buffer_add_video_meta_full (buffer, 0, layout->format, layout->width,
      layout->height, layout->n_planes, layout->offset, layout->stride);
  gst_buffer_add_video_region_of_interest_meta (buffer, "x", 4, 4, 20, 20);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

/* ---- invalid layouts ---- */

static void
keep (Layout *layout)
{
}

static void
cut_last_byte (Layout *layout)
{
  layout->size--;
}

static void
narrow_rows (Layout *layout)
{
  layout->stride[layout->n_planes - 1] = 1;
}

static void
reverse_rows (Layout *layout)
{
  layout->stride[0] = -layout->stride[0];
}

static void
widen_rows (Layout *layout)
{
  layout->stride[0] = G_MAXINT;
}

static void
shift_plane (Layout *layout)
{
  layout->offset[layout->n_planes - 1]++;
}

static void
shift_behind_memory (Layout *layout)
{
  layout->offset[0] = layout->size;
}

static void
overflow_offset (Layout *layout)
{
  layout->offset[0] = G_MAXSIZE - 8;
}

static void
narrow_picture (Layout *layout)
{
  layout->width--;
}

static void
remove_rows (Layout *layout)
{
  layout->height = 0;
}

static void
change_format (Layout *layout)
{
  layout->format = layout->format == GST_VIDEO_FORMAT_NV12
      ? GST_VIDEO_FORMAT_NV21
      : GST_VIDEO_FORMAT_NV12;
}

static void
remove_planes (Layout *layout)
{
  layout->n_planes = 0;
}

static const Case cases[] = {
  { "fits", keep, NULL },
  { "one byte short", cut_last_byte, "ends beyond its memory" },
  { "rows shorter than their pixels", narrow_rows, "has a stride of 1 bytes" },
  { "bottom up", reverse_rows, "has a stride of -" },
  { "stride of 2 GB", widen_rows, "ends beyond its memory" },
  { "plane a byte later", shift_plane, "ends beyond its memory" },
  { "plane behind the memory", shift_behind_memory, "Cannot map a frame" },
  { "offset near 2^64", overflow_offset, "Cannot map a frame" },
  { "narrower than the caps", narrow_picture,
      "GstVideoMeta of a buffer describes 34x33" },
  { "no rows", remove_rows, "GstVideoMeta of a buffer describes 35x0" },
  { "another format", change_format,
      "GstVideoMeta of a buffer describes 35x33 NV" },
  { "no planes", remove_planes, "in 0 planes" },
};

/* ---- elements ---- */

static gboolean
takes_unknown_memory (const gchar *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  g_autoptr (GstCaps) caps =
      gst_caps_from_string ("video/x-raw(memory:Unknown), format=NV12");

  return gst_element_factory_can_sink_any_caps (factory, caps);
}

/* The other elements pass frames on without reading pixels, or read them
 * only while someone watches. */
static gboolean
reads_pixels (const gchar *name)
{
  return !g_str_has_suffix (name, "load") && !takes_unknown_memory (name)
      && strcmp (name, "visionwebsink") != 0;
}

typedef struct {
  GstElement *element;
  GstHarness *h;
  GstBus *bus;
} Fixture;

static Fixture
open_fixture (const gchar *name, const gchar *format)
{
  GstElement *element = cuv_element_new (name);
  GstPad *src = gst_element_get_static_pad (element, "src");
  Fixture self = { element, NULL, gst_bus_new () };

  gst_element_set_bus (element, self.bus);
  if (src == NULL)
    g_object_set (element, "async", FALSE, "sync", FALSE, NULL);
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "location"))
    g_object_set (element, "location", location, NULL);
  self.h = gst_harness_new_with_element (
      element, "sink", src != NULL ? "src" : NULL);
  gst_clear_object (&src);
  cuv_harness_caps (self.h, format, WIDTH, HEIGHT);
  return self;
}

static void
close_fixture (Fixture *self)
{
  gst_harness_teardown (self->h);
  gst_object_unref (self->element);
  gst_bus_set_flushing (self->bus, TRUE);
  gst_object_unref (self->bus);
  g_unlink (location);
}

/* Takes the buffer. Frames with another owner are copied before drawing on
 * them. */
static void
check_push (const gchar *name, const gchar *format, const gchar *what,
    GstBuffer *buffer, const gchar *problem)
{
  Fixture fixture = open_fixture (name, format);
  const gboolean refuses = problem != NULL && reads_pixels (name);
  GstBuffer *held = g_random_boolean () ? gst_buffer_ref (buffer) : NULL;
  GstFlowReturn flow = gst_harness_push (fixture.h, buffer);

  gst_clear_buffer (&held);
  fail_unless (flow == (refuses ? GST_FLOW_ERROR : GST_FLOW_OK),
      "%s, %s, %s: %s", name, format, what, gst_flow_get_name (flow));
  if (refuses)
    expect_problem (fixture.bus, GST_MESSAGE_ERROR, problem);
  close_fixture (&fixture);
}

static const gchar *const formats[] = { "NV12", "I420", "YUY2", "UYVY", "RGB",
  "BGRx", "GRAY8" };

CUV_LOOP_TEST (layout_is_checked, names->len)
{
  const gchar *name = names->pdata[__i__];

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    for (guint c = 0;
         cuv_element_takes (name, formats[f]) && c < G_N_ELEMENTS (cases);
         c++) {
      Layout layout = tight_layout (formats[f], (gint) (c % 4));

      cases[c].change (&layout);
      check_push (name, formats[f], cases[c].name,
          finish_buffer (wrap (layout.size), &layout), cases[c].problem);
    }
  }
}

/* Each plane has to lie in one memory; planes may have different ones. */
CUV_LOOP_TEST (planes_in_several_memories, names->len)
{
  const gchar *name = names->pdata[__i__];

  for (gsize shift = 0; cuv_element_takes (name, "NV12") && shift < 2;
       shift++) {
    Layout layout = tight_layout ("NV12", 3);
    GstBuffer *buffer = wrap (layout.offset[1] - shift);

    buffer = gst_buffer_append (
        buffer, wrap (layout.size - layout.offset[1] + shift));
    check_push (name, "NV12", "two memories", finish_buffer (buffer, &layout),
        shift > 0 ? "Plane 0 of a frame" : NULL);
  }
}

/* Frames may be larger than the caps, and change their size between frames. */
CUV_LOOP_TEST (only_the_caps_size_is_read, names->len)
{
  const gchar *name = names->pdata[__i__];
  const gchar *format = cuv_element_takes (name, "NV12") ? "NV12" : "GRAY8";
  Fixture fixture = open_fixture (name, format);

  for (guint more = 0; more < 200; more += 199) {
    Layout layout = tight_layout (format, 0);

    layout.width += more;
    layout.height += more;
    fail_unless_equals_int (gst_harness_push (fixture.h,
                                finish_buffer (wrap (layout.size), &layout)),
        GST_FLOW_OK);
  }
  close_fixture (&fixture);
}

/* The thumbnail converter is set up for progressive frames. */
CUV_TEST (interlaced_frames_have_thumbnails)
{
  g_autofree gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=2 ! "
      "video/x-raw,format=I420,width=64,height=48,interlace-mode=interleaved ! "
      "ldpindexsink thumbnail-width=24 thumbnail-height=24 location=%s",
      location);

  cuv_play (line);
  g_unlink (location);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  GPtrArray *all = cuv_element_names ();

  location =
      g_strdup_printf ("%s/memory-%d.ldp", g_get_tmp_dir (), (gint) getpid ());
  names = g_ptr_array_new ();
  for (guint i = 0; i < all->len; i++)
    if (cuv_element_takes (all->pdata[i], "NV12")
        || cuv_element_takes (all->pdata[i], "GRAY8"))
      g_ptr_array_add (names, all->pdata[i]);
  tcase_set_timeout (tcase, 300);
}
