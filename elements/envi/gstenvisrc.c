/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-envisrc
 * @title: envisrc
 * @short_description: reads spectral images from ENVI files
 *
 * Reads one cube of pixels by bands, or a numbered sequence of them, from ENVI
 * headers and the files of samples beside them. Files are mapped: samples that
 * are little endian and of 8, 16 or 32 bit floating point reach the next
 * element without a copy, or are read into buffers of its pool; all other types
 * are converted.
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
#include "gstenvisrc.h"

#include "gstenvifile.h"
#include "spectral/gstcuvspectralheader.h"

GST_DEBUG_CATEGORY_STATIC (envi_src_debug);
#define GST_CAT_DEFAULT envi_src_debug

#define DEFAULT_FPS_N 25
#define DEFAULT_FPS_D 1
#define DEFAULT_MAX_BYTES ((guint64) 16 << 30)
#define PARAM_READY                                                            \
  (G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY | G_PARAM_STATIC_STRINGS)

enum {
  PROP_0,
  PROP_LOCATION,
  PROP_START_INDEX,
  PROP_LOOP,
  PROP_FRAMERATE,
  PROP_MAX_BYTES,
  PROP_STATS,
};

typedef struct {
  gchar *location;
  guint start_index;
  gboolean loop;
  gint fps_n, fps_d;
  guint64 max_bytes;
} Settings;

struct _GstEnviSrc {
  GstPushSrc parent;

  Settings settings;    /* under the object lock, as are */
  guint64 cubes, bytes; /* that were passed on */

  /* from start to stop */
  Settings running; /* loop alone follows the property */
  guint64 n_files;  /* of the sequence */
  gboolean warned;  /* of a file that is too large */
  GstCaps *caps;

  /* of the streaming thread, as seeks are */
  guint64 next; /* number of the next cube since time 0 */
};

#define gst_envi_src_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstEnviSrc, gst_envi_src, GST_TYPE_PUSH_SRC,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL))
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
      (guint64) self->running.fps_d * GST_SECOND,
      (guint64) self->running.fps_n);
}

/* The cube that is shown at a time. */
static guint64
number_at (GstEnviSrc *self, GstClockTime time)
{
  guint64 number = gst_util_uint64_scale (time, (guint64) self->running.fps_n,
      (guint64) self->running.fps_d * GST_SECOND);

  return time_of (self, number + 1) <= time ? number + 1 : number;
}

static gboolean
loops (GstEnviSrc *self)
{
  gboolean loop;

  GST_OBJECT_LOCK (self);
  loop = self->settings.loop;
  GST_OBJECT_UNLOCK (self);
  return loop;
}

/* ---- a cube ---- */

static GstCaps *
caps_of (GstEnviSrc *self, const CuvEnvi *envi)
{
  GstCuvSpectralInfo info;

  gst_envi_to_info (envi, &info);
  info.fps_n = self->running.fps_n;
  info.fps_d = self->running.fps_d;
  return gst_cuv_spectral_info_to_caps (&info);
}

/* Warns once per start, not for each cube of a sequence. */
static void
warn_of_excess (GstEnviSrc *self, const GstEnviFile *file, const gchar *path)
{
  const guint64 read =
      file->envi.header_offset + cuv_envi_data_size (&file->envi);

  if (file->excess == 0 || self->warned)
    return;
  self->warned = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("The samples of '%s' have %" G_GUINT64_FORMAT
       " bytes, and by the header %" G_GUINT64_FORMAT
       ": the last %" G_GUINT64_FORMAT
       " are not read. If the image looks wrong, correct "
       "samples, lines, bands, data type or header offset in the header.",
          path, read + file->excess, read, file->excess),
      (NULL));
}

static gboolean
open_file (GstEnviSrc *self, guint64 number, GstEnviFile *file, GError **error)
{
  gchar *path = gst_envi_location_expand (self->running.location,
      self->running.start_index + (guint) (number % self->n_files));
  gboolean ok = gst_envi_file_open (file, path, error);

  if (ok && !gst_envi_file_fits (file, path, self->running.max_bytes, error)) {
    gst_envi_file_clear (file);
    ok = FALSE;
  }
  GST_LOG_OBJECT (self, "cube %" G_GUINT64_FORMAT " is %s", number, path);
  if (ok)
    warn_of_excess (self, file, path);
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
use_caps (GstEnviSrc *self, const CuvEnvi *envi)
{
  GstCaps *caps = caps_of (self, envi);

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

static void
add_header (const GstEnviFile *file, GstBuffer *buffer)
{
  GstCuvSpectralInfo info;

  gst_envi_to_info (&file->envi, &info);
  gst_cuv_spectral_header_add (
      buffer, &info, file->image_keys, file->sample_keys);
}

static GstFlowReturn
pass_file (GstEnviSrc *self, GstEnviFile *file, GstBuffer **buffer)
{
  GstFlowReturn flow;

  if (!use_caps (self, &file->envi))
    return GST_FLOW_NOT_NEGOTIATED;
  flow = make_buffer (self, file, buffer);
  if (flow != GST_FLOW_OK)
    return flow;
  add_header (file, *buffer);
  GST_BUFFER_OFFSET (*buffer) = self->next;
  GST_BUFFER_OFFSET_END (*buffer) = self->next + 1;
  GST_BUFFER_PTS (*buffer) = time_of (self, self->next);
  GST_BUFFER_DURATION (*buffer) =
      time_of (self, self->next + 1) - GST_BUFFER_PTS (*buffer);
  self->next++;
  GST_OBJECT_LOCK (self);
  self->cubes++;
  self->bytes += gst_buffer_get_size (*buffer);
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_envi_src_create (GstPushSrc *src, GstBuffer **buffer)
{
  GstEnviSrc *self = GST_ENVI_SRC (src);
  GstEnviFile file;
  GError *error = NULL;
  GstFlowReturn flow;

  if (self->next >= self->n_files && !loops (self))
    return GST_FLOW_EOS;
  if (!open_file (self, self->next, &file, &error)) {
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

/* Refused here, before the base class flushes what is under way. */
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
      query, format, (gint64) time_of (self, self->n_files));
  return TRUE;
}

static GstCaps *
gst_envi_src_get_caps (GstBaseSrc *src, GstCaps *filter)
{
  GstEnviSrc *self = GST_ENVI_SRC (src);
  GstCaps *caps, *filtered;

  GST_OBJECT_LOCK (self);
  caps = self->caps != NULL ? gst_caps_ref (self->caps)
                            : gst_static_pad_template_get_caps (&src_template);
  GST_OBJECT_UNLOCK (self);
  if (filter == NULL)
    return caps;
  filtered = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  return filtered;
}

/* ---- states ---- */

static guint64
count_files (const Settings *settings)
{
  guint64 n = 0;
  gboolean there;

  if (!gst_envi_location_is_pattern (settings->location))
    return 1;
  do {
    gchar *path = gst_envi_location_expand (
        settings->location, settings->start_index + (guint) n);

    there = g_file_test (path, G_FILE_TEST_EXISTS);
    g_free (path);
    n += there;
  } while (there && n < G_MAXINT);
  return n;
}

static void
take_settings (GstEnviSrc *self)
{
  GST_OBJECT_LOCK (self);
  self->running = self->settings;
  self->running.location = g_strdup (self->settings.location);
  self->cubes = self->bytes = 0;
  GST_OBJECT_UNLOCK (self);
  self->next = 0;
  self->warned = FALSE;
}

/* The first cube's caps are known from the start. */
static gboolean
look_at_first (GstEnviSrc *self, GError **error)
{
  GstEnviFile file;

  self->n_files = count_files (&self->running);
  if (self->n_files == 0) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "There is no cube with number %u in the sequence '%s': say with "
        "start-index where it begins.",
        self->running.start_index, self->running.location);
    return FALSE;
  }
  if (!open_file (self, 0, &file, error))
    return FALSE;
  GST_OBJECT_LOCK (self);
  self->caps = caps_of (self, &file.envi);
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
  g_clear_pointer (&self->running.location, g_free);
  self->n_files = 0;
  return TRUE;
}

static gboolean
gst_envi_src_start (GstBaseSrc *src)
{
  GstEnviSrc *self = GST_ENVI_SRC (src);
  GError *error = NULL;

  take_settings (self);
  if (gst_envi_location_check (self->running.location, &error)
      && look_at_first (self, &error))
    return TRUE;
  gst_envi_post_error (GST_ELEMENT (self), error);
  gst_envi_src_stop (src);
  return FALSE;
}

/* ---- properties ---- */

static void
gst_envi_src_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstEnviSrc *self = GST_ENVI_SRC (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LOCATION:
      g_free (self->settings.location);
      self->settings.location = g_value_dup_string (value);
      break;
    case PROP_START_INDEX:
      self->settings.start_index = g_value_get_uint (value);
      break;
    case PROP_LOOP:
      self->settings.loop = g_value_get_boolean (value);
      break;
    case PROP_FRAMERATE:
      self->settings.fps_n = gst_value_get_fraction_numerator (value);
      self->settings.fps_d = gst_value_get_fraction_denominator (value);
      break;
    case PROP_MAX_BYTES:
      self->settings.max_bytes = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_envi_src_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstEnviSrc *self = GST_ENVI_SRC (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LOCATION:
      g_value_set_string (value, self->settings.location);
      break;
    case PROP_START_INDEX:
      g_value_set_uint (value, self->settings.start_index);
      break;
    case PROP_LOOP:
      g_value_set_boolean (value, self->settings.loop);
      break;
    case PROP_FRAMERATE:
      gst_value_set_fraction (
          value, self->settings.fps_n, self->settings.fps_d);
      break;
    case PROP_MAX_BYTES:
      g_value_set_uint64 (value, self->settings.max_bytes);
      break;
    case PROP_STATS:
      g_value_take_boxed (value,
          gst_structure_new ("stats", "cubes", G_TYPE_UINT64, self->cubes,
              "bytes", G_TYPE_UINT64, self->bytes, NULL));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_envi_src_finalize (GObject *object)
{
  g_free (GST_ENVI_SRC (object)->settings.location);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_location (GObjectClass *klass)
{
  /**
   * GstEnviSrc:location:
   *
   * The header, or the file of samples, of the cube to read; the other is found
   * beside it. With %d or %05d in it, a sequence of cubes, from start-index to
   * the first number that has no file. Used at the next start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_LOCATION,
      g_param_spec_string ("location", "Location",
          "Header or samples of the cube; with %05d, of a sequence of cubes",
          NULL, PARAM_READY));
  /**
   * GstEnviSrc:start-index:
   *
   * The number of the first cube of a sequence. Used at the next start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_START_INDEX,
      g_param_spec_uint ("start-index", "Start index",
          "Number of the first cube of a sequence", 0, G_MAXINT, 0,
          PARAM_READY));
}

static void
install_timing (GObjectClass *klass)
{
  /**
   * GstEnviSrc:loop:
   *
   * After the last cube, begin with the first again; times go on.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_LOOP,
      g_param_spec_boolean ("loop", "Loop",
          "After the last cube, begin with the first again", FALSE,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING
              | G_PARAM_STATIC_STRINGS));
  /**
   * GstEnviSrc:framerate:
   *
   * Cubes per second; files do not say. Used at the next start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_FRAMERATE,
      gst_param_spec_fraction ("framerate", "Frame rate", "Cubes per second", 1,
          G_MAXINT, G_MAXINT, 1, DEFAULT_FPS_N, DEFAULT_FPS_D, PARAM_READY));
  /**
   * GstEnviSrc:max-bytes:
   *
   * The largest cube that is read, in bytes once it is converted; headers that
   * ask for more are an error. Used at the next start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_MAX_BYTES,
      g_param_spec_uint64 ("max-bytes", "Maximum bytes",
          "Largest cube that is read, in bytes of memory", 1, G_MAXUINT64,
          DEFAULT_MAX_BYTES, PARAM_READY));
  /**
   * GstEnviSrc:stats:
   *
   * cubes, bytes (guint64): what was passed on since the start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "What the element did",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_envi_src_class_init (GstEnviSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (envi_src_debug, "envisrc", 0, "ENVI files, read");
  object_class->set_property = gst_envi_src_set_property;
  object_class->get_property = gst_envi_src_get_property;
  object_class->finalize = gst_envi_src_finalize;
  src_class->start = GST_DEBUG_FUNCPTR (gst_envi_src_start);
  src_class->stop = GST_DEBUG_FUNCPTR (gst_envi_src_stop);
  src_class->get_caps = GST_DEBUG_FUNCPTR (gst_envi_src_get_caps);
  src_class->is_seekable = GST_DEBUG_FUNCPTR (gst_envi_src_is_seekable);
  src_class->event = GST_DEBUG_FUNCPTR (gst_envi_src_event);
  src_class->do_seek = GST_DEBUG_FUNCPTR (gst_envi_src_do_seek);
  src_class->query = GST_DEBUG_FUNCPTR (gst_envi_src_query);
  GST_PUSH_SRC_CLASS (klass)->create = GST_DEBUG_FUNCPTR (gst_envi_src_create);
  install_location (object_class);
  install_timing (object_class);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "ENVI source",
      "Source/File/Video", "Reads spectral images from ENVI files",
      "The gst-cuvision authors");
}

static void
gst_envi_src_init (GstEnviSrc *self)
{
  self->settings = (Settings){ .fps_n = DEFAULT_FPS_N,
    .fps_d = DEFAULT_FPS_D,
    .max_bytes = DEFAULT_MAX_BYTES };
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
