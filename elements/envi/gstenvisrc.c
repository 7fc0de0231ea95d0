/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-envisrc
 * @title: envisrc
 * @short_description: reads spectral images from ENVI files
 *
 * Reads one cube of pixels by bands, or a numbered sequence of them, from ENVI
 * headers and the files of samples beside them. Files are mapped:
 * little-endian samples of 8 or 16 bits or 32-bit floats reach the next element
 * without a copy, or are read into buffers of its pool; all other types are
 * converted.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 envisrc location=cube%05d.hdr framerate=10/1 ! spectralpca !
 * videoconvert ! autovideosink
 * ]| Shows the components of a sequence, ten cubes a second.
 *
 * Since: 0.1
 */
#include "config.h"

#include <gst/base/gstpushsrc.h>
#include "gstenvifile.h"
#include "settings/gstcuvsettings.h"
#include "spectral/gstcuvspectralcaps.h"
#include "spectral/gstcuvspectralheader.h"

GST_DEBUG_CATEGORY_STATIC (envi_src_debug);
#define GST_CAT_DEFAULT envi_src_debug

typedef struct {
  gchar *location;
  guint start_index;
  gboolean loop;
  gint fps[2]; /* numerator, denominator */
  guint64 max_bytes;
  guint lines_per_cube; /* 0: all, or as many as caps allow */
} Settings;

#define GST_TYPE_ENVI_SRC (gst_envi_src_get_type ())
G_DECLARE_FINAL_TYPE (GstEnviSrc, gst_envi_src, GST, ENVI_SRC, GstPushSrc)

struct _GstEnviSrc {
  GstPushSrc parent;

  GstCuvSettings settings;
  GstEnviCounts counts; /* cubes and bytes passed on */

  /* valid from start to stop */
  const Settings *running; /* in force; loop alone follows the property */
  gchar *location;
  guint64 n_files;        /* files in the sequence */
  gint lines, part_lines; /* lines of the first image, and of a cube */
  guint n_parts;          /* cubes of an image */
  guint warned;           /* see gst_envi_warn_of_file() */
  GstCaps *caps;

  /* used by the streaming thread, which also seeks */
  guint64 next; /* number of the next cube since time 0 */
};

#define gst_envi_src_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstEnviSrc, gst_envi_src, GST_TYPE_PUSH_SRC,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL))
GST_ELEMENT_REGISTER_DECLARE (envisrc);
GST_ELEMENT_REGISTER_DEFINE (
    envisrc, "envisrc", GST_RANK_NONE, GST_TYPE_ENVI_SRC)

/* clang-format off */
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_SPECTRAL_CAPS));
/* clang-format on */

/* ---- times ---- */

static GstClockTime
time_of (GstEnviSrc *self, guint64 number)
{
  return gst_util_uint64_scale (number,
      (guint64) self->running->fps[1] * GST_SECOND,
      (guint64) self->running->fps[0]);
}

/* Returns the index of the cube that is shown at `time`. */
static guint64
number_at (GstEnviSrc *self, GstClockTime time)
{
  guint64 number = gst_util_uint64_scale (time, (guint64) self->running->fps[0],
      (guint64) self->running->fps[1] * GST_SECOND);

  return time_of (self, number + 1) <= time ? number + 1 : number;
}

static gboolean
loops (GstEnviSrc *self)
{
  gboolean loop;

  GST_OBJECT_LOCK (self);
  loop = ((const Settings *) self->settings.pending)->loop;
  GST_OBJECT_UNLOCK (self);
  return loop;
}

/* ---- a cube ---- */

static GstCuvSpectralInfo
info_of (GstEnviSrc *self, const GstEnviFile *file)
{
  GstCuvSpectralInfo info;

  gst_envi_to_info (&file->envi, &info);
  info.fps_n = self->running->fps[0];
  info.fps_d = self->running->fps[1];
  return info;
}

/* ---- parts of an image ---- */

/* Divides images of as many lines as the first one into cubes of equal height;
 * the last cube may be smaller. */
static void
plan_parts (GstEnviSrc *self, gint lines)
{
  const gint most = self->running->lines_per_cube > 0
      ? (gint) MIN (self->running->lines_per_cube, CUV_CUBE_MAX_SIZE)
      : CUV_CUBE_MAX_SIZE;

  self->lines = lines;
  self->part_lines = self->running->lines_per_cube > 0
      ? MIN (most, lines)
      : (lines - 1) / ((lines - 1) / most + 1) + 1;
  self->n_parts = (guint) ((lines - 1) / self->part_lines + 1);
  if (self->n_parts > 1)
    GST_INFO_OBJECT (self, "%d lines in %u cubes of %d", lines, self->n_parts,
        self->part_lines);
}

static gboolean
select_part (GstEnviSrc *self, guint64 part, GstEnviFile *file,
    const gchar *path, GError **error)
{
  const gint lines = file->envi.lines;
  const gint first = (gint) part * self->part_lines;

  if (self->n_parts == 1 && lines <= CUV_CUBE_MAX_SIZE)
    return TRUE;
  if (lines == self->lines) {
    gst_envi_file_select (file, first, MIN (self->part_lines, lines - first));
    return TRUE;
  }
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "'%s' has %d lines, but the first image of the sequence has %d: images "
      "that are split into cubes (because they have more than %d lines, or "
      "because lines-per-cube is set) must all have the same number of lines. "
      "Read this one on its own.",
      path, lines, self->lines, CUV_CUBE_MAX_SIZE);
  return FALSE;
}

static guint64
count_cubes (GstEnviSrc *self)
{
  return self->n_files * self->n_parts;
}

static gboolean
open_part (GstEnviSrc *self, guint64 part, const gchar *path, GstEnviFile *file,
    GError **error)
{
  if (!gst_envi_file_open (file, path, error))
    return FALSE;
  gst_envi_warn_of_file (GST_ELEMENT (self), file, path, &self->warned);
  if (self->n_parts == 0)
    plan_parts (self, file->envi.lines);
  if (select_part (self, part, file, path, error)
      && gst_envi_file_fits (file, path, self->running->max_bytes, error))
    return TRUE;
  gst_envi_file_clear (file);
  return FALSE;
}

static gboolean
open_cube (GstEnviSrc *self, guint64 number, GstEnviFile *file, GError **error)
{
  const guint n_parts = MAX (self->n_parts, 1); /* 0: not known yet */
  const guint64 file_number = number / n_parts % self->n_files;
  gchar *path = gst_envi_location_expand (
      self->location, self->running->start_index + (guint) file_number);
  gboolean ok = open_part (self, number % n_parts, path, file, error);

  GST_LOG_OBJECT (self, "cube %" G_GUINT64_FORMAT " is in %s", number, path);
  g_free (path);
  return ok;
}

static GstFlowReturn
make_buffer (GstEnviSrc *self, GstEnviFile *file, GstBuffer **buffer)
{
  GstBufferPool *pool = gst_base_src_get_buffer_pool (GST_BASE_SRC (self));
  GError *error = NULL;
  GstFlowReturn flow = gst_envi_file_buffer (file, pool, buffer, &error);

  gst_clear_object (&pool);
  if (flow == GST_FLOW_ERROR)
    gst_envi_post_error (GST_ELEMENT (self), error);
  return flow;
}

static gboolean
use_caps (GstEnviSrc *self, const GstCuvSpectralInfo *info)
{
  GstCaps *caps = gst_cuv_spectral_info_to_caps (info);

  if (gst_caps_is_equal (caps, self->caps)) {
    gst_caps_unref (caps);
    return TRUE;
  }
  GST_OBJECT_LOCK (self);
  gst_caps_replace (&self->caps, caps);
  GST_OBJECT_UNLOCK (self);
  gst_caps_unref (caps);
  return gst_base_src_negotiate (GST_BASE_SRC (self));
}

static GstFlowReturn
pass_file (GstEnviSrc *self, GstEnviFile *file, GstBuffer **buffer)
{
  const GstCuvSpectralInfo info = info_of (self, file);
  GstFlowReturn flow;

  if (!use_caps (self, &info))
    return GST_FLOW_NOT_NEGOTIATED;
  flow = make_buffer (self, file, buffer);
  if (flow != GST_FLOW_OK)
    return flow;
  gst_cuv_spectral_header_add (
      *buffer, &info, file->image_keys, file->sample_keys);
  GST_BUFFER_OFFSET (*buffer) = self->next;
  GST_BUFFER_OFFSET_END (*buffer) = self->next + 1;
  GST_BUFFER_PTS (*buffer) = time_of (self, self->next);
  GST_BUFFER_DURATION (*buffer) =
      time_of (self, self->next + 1) - GST_BUFFER_PTS (*buffer);
  self->next++;
  gst_envi_counts_add (
      &self->counts, GST_ELEMENT (self), gst_buffer_get_size (*buffer));
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_envi_src_create (GstPushSrc *src, GstBuffer **buffer)
{
  GstEnviSrc *self = GST_ENVI_SRC (src);
  GstEnviFile file;
  GError *error = NULL;
  GstFlowReturn flow;

  if (self->next >= count_cubes (self) && !loops (self))
    return GST_FLOW_EOS;
  if (!open_cube (self, self->next, &file, &error)) {
    gst_envi_post_error (GST_ELEMENT (self), error);
    return GST_FLOW_ERROR;
  }
  flow = pass_file (self, &file, buffer);
  gst_envi_file_clear (&file);
  return flow;
}

/* ---- seeks and queries ---- */

static gboolean
gst_envi_src_is_seekable (GstBaseSrc *src)
{
  return TRUE;
}

/* Refuses impossible seeks here, before the base class flushes. */
static gboolean
gst_envi_src_event (GstBaseSrc *src, GstEvent *event)
{
  gdouble rate = 1;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK)
    gst_event_parse_seek (event, &rate, NULL, NULL, NULL, NULL, NULL, NULL);
  return rate > 0 && GST_BASE_SRC_CLASS (parent_class)->event (src, event);
}

static gboolean
gst_envi_src_do_seek (GstBaseSrc *src, GstSegment *segment)
{
  GstEnviSrc *self = GST_ENVI_SRC (src);

  if (segment->format != GST_FORMAT_TIME || segment->rate < 0)
    return FALSE;
  self->next = number_at (self, segment->start);
  segment->position = segment->time = segment->start;
  return TRUE;
}

static gboolean
gst_envi_src_query (GstBaseSrc *src, GstQuery *query)
{
  GstEnviSrc *self = GST_ENVI_SRC (src);
  GstFormat format;

  if (GST_QUERY_TYPE (query) != GST_QUERY_DURATION || self->n_files == 0
      || loops (self))
    return GST_BASE_SRC_CLASS (parent_class)->query (src, query);
  gst_query_parse_duration (query, &format, NULL);
  if (format != GST_FORMAT_TIME)
    return FALSE;
  gst_query_set_duration (
      query, format, (gint64) time_of (self, count_cubes (self)));
  return TRUE;
}

static GstCaps *
gst_envi_src_get_caps (GstBaseSrc *src, GstCaps *filter)
{
  GstEnviSrc *self = GST_ENVI_SRC (src);
  GstCaps *caps;

  GST_OBJECT_LOCK (self);
  caps = self->caps != NULL ? gst_caps_ref (self->caps)
                            : gst_static_pad_template_get_caps (&src_template);
  GST_OBJECT_UNLOCK (self);
  return gst_cuv_spectral_caps_filter (caps, filter);
}

/* ---- states ---- */

static guint64
count_files (GstEnviSrc *self)
{
  guint64 n = 0;
  gboolean there;

  if (!gst_envi_location_is_pattern (self->location))
    return 1;
  do {
    gchar *path = gst_envi_location_expand (
        self->location, self->running->start_index + (guint) n);

    there = g_file_test (path, G_FILE_TEST_EXISTS);
    g_free (path);
    n += there;
  } while (there && n < G_MAXINT);
  return n;
}

/* Opens the first cube, so that its caps are known at the start. */
static gboolean
look_at_first (GstEnviSrc *self, GError **error)
{
  GstCuvSpectralInfo info;
  GstEnviFile file;

  self->n_files = count_files (self);
  if (self->n_files == 0) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "Cube %u of the sequence '%s' does not exist: set start-index to the "
        "number of the first cube.",
        self->running->start_index, self->location);
    return FALSE;
  }
  self->n_parts = 0;
  if (!open_cube (self, 0, &file, error))
    return FALSE;
  info = info_of (self, &file);
  GST_OBJECT_LOCK (self);
  self->caps = gst_cuv_spectral_info_to_caps (&info);
  GST_OBJECT_UNLOCK (self);
  gst_envi_file_clear (&file);
  return TRUE;
}

static gboolean
gst_envi_src_stop (GstBaseSrc *src)
{
  GstEnviSrc *self = GST_ENVI_SRC (src);

  GST_OBJECT_LOCK (self);
  gst_clear_caps (&self->caps);
  GST_OBJECT_UNLOCK (self);
  self->n_files = 0;
  g_clear_pointer (&self->location, g_free);
  gst_cuv_settings_stop (&self->settings);
  return TRUE;
}

static gboolean
gst_envi_src_start (GstBaseSrc *src)
{
  GstEnviSrc *self = GST_ENVI_SRC (src);
  GError *error = NULL;

  if (!gst_cuv_settings_start (&self->settings)
      || !gst_cuv_settings_apply (&self->settings, NULL, NULL))
    return FALSE;
  self->running = self->settings.in_force;
  self->location = gst_envi_location_for_reading (
      ((const Settings *) self->settings.in_force)->location);
  self->next = 0;
  self->warned = 0;
  GST_OBJECT_LOCK (self);
  self->counts = (GstEnviCounts){ 0 };
  GST_OBJECT_UNLOCK (self);
  if (gst_envi_location_check (self->location, &error)
      && look_at_first (self, &error))
    return TRUE;
  gst_envi_post_error (GST_ELEMENT (self), error);
  gst_envi_src_stop (src);
  return FALSE;
}

/* ---- properties ---- */

#define AT(field) G_STRUCT_OFFSET (Settings, field)
#define PARAM_READY                                                            \
  (G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY | G_PARAM_STATIC_STRINGS)

static GParamSpec *
make_framerate (void)
{
  return gst_param_spec_fraction ("framerate", "Frame rate", "Cubes per second",
      1, G_MAXINT, G_MAXINT, 1, 25, 1, PARAM_READY);
}

static GParamSpec *
make_max_bytes (void)
{
  return g_param_spec_uint64 ("max-bytes", "Maximum bytes",
      "Maximum size of a cube in memory, in bytes", 1, G_MAXUINT64,
      (guint64) 16 << 30, PARAM_READY);
}

static void
gst_envi_src_get_stats (GstElement *element, GValue *value)
{
  gst_envi_counts_get (&GST_ENVI_SRC (element)->counts, element, value);
}

/**
 * GstEnviSrc:location:
 *
 * The header, or the file of samples, of the cube to read; the other is found
 * beside it. With %d or %05d in it, a sequence of cubes is read, from
 * start-index up to the first number that has no file. Used at the next start.
 *
 * Since: 0.1
 */
/**
 * GstEnviSrc:loop:
 *
 * Begins again with the first cube after the last one; timestamps continue.
 *
 * Since: 0.1
 */
/**
 * GstEnviSrc:framerate:
 *
 * Cubes per second, which files do not specify. Used at the next start.
 *
 * Since: 0.1
 */
/**
 * GstEnviSrc:max-bytes:
 *
 * The largest cube that is read, in bytes after conversion; a header that
 * describes a larger one is an error. Used at the next start.
 *
 * Since: 0.1
 */
/**
 * GstEnviSrc:lines-per-cube:
 *
 * An image of more lines, such as a line scan, is read as several cubes. 0:
 * whole images; an image of more than 16384 lines is divided into as few cubes
 * as possible, all but the last of equal height. Used at the next start.
 *
 * Since: 0.1
 */
/**
 * GstEnviSrc:stats:
 *
 * cubes, bytes (guint64): what was passed on since the start.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "location", "Location",
      "Path of the header or of the file of samples; with %05d for a sequence "
      "of cubes",
      .offset = AT (location), .type = G_TYPE_STRING, .at_start = TRUE },
  { "start-index", "Start index", "Number of the first cube of a sequence",
      .offset = AT (start_index), .type = G_TYPE_UINT, .maximum = G_MAXINT,
      .at_start = TRUE },
  { "loop", "Loop", "After the last cube, start again with the first one",
      .offset = AT (loop), .type = G_TYPE_BOOLEAN },
  { "framerate", .offset = AT (fps), .get_type = gst_fraction_get_type,
      .value = 25, .make_spec = make_framerate },
  { "max-bytes", .offset = AT (max_bytes), .type = G_TYPE_UINT64,
      .value = (gdouble) ((guint64) 16 << 30), .make_spec = make_max_bytes },
  { "lines-per-cube", "Lines per cube",
      "Split images into cubes of this many lines (0 = whole images, or as few "
      "cubes as possible if images have more than 16384 lines)",
      .offset = AT (lines_per_cube), .type = G_TYPE_UINT,
      .maximum = CUV_CUBE_MAX_SIZE, .at_start = TRUE },
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type, .get = gst_envi_src_get_stats },
};

static const GstCuvSettingsTable table = {
  GST_CUV_SETTINGS (Settings, list),
};

/* ---- class ---- */

static void
gst_envi_src_class_init (GstEnviSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (envi_src_debug, "envisrc", 0, "reads ENVI files");
  src_class->start = GST_DEBUG_FUNCPTR (gst_envi_src_start);
  src_class->stop = GST_DEBUG_FUNCPTR (gst_envi_src_stop);
  src_class->get_caps = GST_DEBUG_FUNCPTR (gst_envi_src_get_caps);
  src_class->is_seekable = GST_DEBUG_FUNCPTR (gst_envi_src_is_seekable);
  src_class->event = GST_DEBUG_FUNCPTR (gst_envi_src_event);
  src_class->do_seek = GST_DEBUG_FUNCPTR (gst_envi_src_do_seek);
  src_class->query = GST_DEBUG_FUNCPTR (gst_envi_src_query);
  GST_PUSH_SRC_CLASS (klass)->create = GST_DEBUG_FUNCPTR (gst_envi_src_create);
  gst_cuv_settings_class_install (object_class, &table);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "ENVI source",
      "Source/File/Video", "Reads spectral images from ENVI files",
      "The gst-cuvision authors");
}

static void
gst_envi_src_init (GstEnviSrc *self)
{
  gst_cuv_settings_init (&self->settings, self, &table);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
