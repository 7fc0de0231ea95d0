/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-rcdtrack
 * @title: rcdtrack
 * @short_description: tracks objects by the covariance of their pixels
 *
 * Tracks objects by region covariance: describes an object by the covariance
 * matrix of its pixels' colours and gradients, compares it with windows of many
 * positions and sizes in each frame, and publishes the nearest as a region of
 * interest with an id. Targets come from a detector's regions, a box, a
 * picture, or the application. Runs on the CPU and, for frames in CUDA memory,
 * on the GPU, with the same result. Frames are neither copied nor changed,
 * unless draw=distance-map draws over them.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=video.avi ! decodebin ! videoconvert !
 * waldboostdetect model=haarcascade_frontalface_alt2.xml
 * inference-interval=10 ! rcdtrack ! visionoverlay ! videoconvert !
 * autovideosink
 * ]| Tracks the first detected face.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstrcdconfirm.h"
#include "gstrcdtrack.h"

#include "gstrcdtargets.h"
#include "gstrcdtracksettings.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (rcd_track_debug);
#define GST_CAT_DEFAULT rcd_track_debug

typedef struct {
  guint targets, tracked, lost;
  guint64 windows;
  gfloat search_us;
} Counts;

struct _GstRcdTrack {
  GstCuvFilter parent;

  GstCuvSettings settings; /* GstRcdSettings */
  Counts counts;           /* under the object lock */
  GstRcdTargets targets;
};

enum { SIGNAL_SET_TARGET, SIGNAL_CLEAR_TARGET, N_SIGNALS };

static guint signals[N_SIGNALS];

#define gst_rcd_track_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstRcdTrack, gst_rcd_track, GST_TYPE_CUV_FILTER,
    GST_DEBUG_CATEGORY_INIT (
        rcd_track_debug, "rcdtrack", 0, "tracking by region covariance"))
GST_ELEMENT_REGISTER_DEFINE (
    rcdtrack, "rcdtrack", GST_RANK_NONE, GST_TYPE_RCD_TRACK)

static gchar *
gst_rcd_track_configure (
    GstCuvFilter *filter, gconstpointer settings, const GstCuvFrame *frame)
{
  GstRcdTrack *self = GST_RCD_TRACK (filter);
  const GstRcdSettings *s = settings;
  gchar *problem = NULL;

  if (gst_rcd_targets_is_new_box (&self->targets, &s->box))
    problem =
        gst_rcd_settings_check_box (s, frame->frame.width, frame->frame.height);
  return problem != NULL ? problem
                         : gst_rcd_targets_prepare (&self->targets, s, frame);
}

/* ---- analysing ---- */

static gboolean
gst_rcd_track_writes (gconstpointer settings)
{
  return ((const GstRcdSettings *) settings)->draw;
}

static void
gst_rcd_track_count (GstRcdTrack *self)
{
  const CuvTrackerResult *result = &self->targets.result;
  Counts counts = { (guint) gst_rcd_n_confirmed (&self->targets), 0, 0,
    (guint64) result->windows, result->microseconds };

  for (gint i = 0; i < result->n_tracks; i++) {
    if (!g_array_index (self->targets.targets, GstRcdTarget, i).confirmed)
      continue;
    counts.tracked += result->tracks[i].state == CUV_TRACK_TRACKED;
    counts.lost += result->tracks[i].state == CUV_TRACK_LOST;
  }
  GST_OBJECT_LOCK (self);
  self->counts = counts;
  GST_OBJECT_UNLOCK (self);
}

/* Requests detections: an upstream detector that analyses every Nth frame then
 * analyses the next one. This element does too, because that frame will have
 * detections. */
static void
request_detection (GstRcdTrack *self)
{
  const GstRcdSettings *s = self->settings.in_force;

  if (!s->request_detections || gst_rcd_n_confirmed (&self->targets) > 0)
    return;
  gst_pad_push_event (GST_BASE_TRANSFORM_SINK_PAD (self),
      gst_cuv_event_new_request_analysis ());
  gst_cuv_filter_request_analysis (GST_CUV_FILTER (self));
}

static gboolean
gst_rcd_track_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  GstRcdTrack *self = GST_RCD_TRACK (filter);
  const gchar *problem =
      gst_rcd_targets_run (&self->targets, self->settings.in_force, frame,
          gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self)), n_threads);

  if (problem != NULL)
    return gst_cuv_frame_failed (frame, problem);
  gst_rcd_track_count (self);
  request_detection (self);
  return TRUE;
}

/* ---- publishing ---- */

static guint
gst_rcd_track_change (GstCuvFilter *filter)
{
  return gst_rcd_targets_changes (&GST_RCD_TRACK (filter)->targets);
}

static void
gst_rcd_track_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  GstRcdTrack *self = GST_RCD_TRACK (filter);
  const GstRcdSettings *s = self->settings.in_force;
  const GstRcdPublishParams params = { self->targets.targets, s->region_label,
    cuv_tracker_max_distance (&s->config, &s->params), age };
  GstCuvWriter writer = { .buffer = buffer,
    .info = gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self)),
    .metadata = s->metadata };

  gst_rcd_attach_tracks (
      &self->targets.result, &params, self->targets.present, &writer, message);
}

/* A seek keeps the targets: each may be anywhere in the next frame. */
static void
gst_rcd_track_reset (GstCuvFilter *filter)
{
  GST_RCD_TRACK (filter)->targets.search_all = TRUE;
}

static void
gst_rcd_track_add_stats (GstCuvFilter *filter, GstStructure *stats)
{
  const Counts *counts = &GST_RCD_TRACK (filter)->counts;

  GST_OBJECT_LOCK (filter);
  gst_cuv_structure_set (stats, "targets", G_TYPE_UINT, counts->targets,
      "tracked", G_TYPE_UINT, counts->tracked, "lost", G_TYPE_UINT,
      counts->lost, "windows", G_TYPE_UINT64, counts->windows,
      "microseconds-search", G_TYPE_DOUBLE, (gdouble) counts->search_us, NULL);
  GST_OBJECT_UNLOCK (filter);
}

void
gst_rcd_track_get_targets (GstElement *element, GValue *value)
{
  GST_OBJECT_LOCK (element);
  g_value_set_uint (value, GST_RCD_TRACK (element)->counts.targets);
  GST_OBJECT_UNLOCK (element);
}

/* ---- signals ---- */

static gint
gst_rcd_track_set_target (
    GstRcdTrack *self, gint x, gint y, gint width, gint height)
{
  const CuvRcdBox box = { x, y, width, height };
  const gchar *problem;
  gint id, max_targets;

  GST_OBJECT_LOCK (self);
  max_targets =
      ((const GstRcdSettings *) self->settings.pending)->config.max_targets;
  GST_OBJECT_UNLOCK (self);
  id = gst_rcd_targets_add (&self->targets, &box, max_targets, &problem);
  if (id == 0)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("Box %d,%d %dx%d ignored: %s.", x, y, width, height, problem), (NULL));
  return id;
}

static void
gst_rcd_track_clear_target (GstRcdTrack *self)
{
  gst_rcd_targets_remove_all (&self->targets);
}

/* ---- states ---- */

static gboolean
gst_rcd_track_start (GstBaseTransform *trans)
{
  GstRcdTrack *self = GST_RCD_TRACK (trans);
  const gchar *problem = gst_rcd_targets_start (&self->targets);

  gst_rcd_track_count (self);
  if (problem == NULL)
    return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("Cannot create the tracker: %s. End another process, or use a machine "
       "with more memory.",
          problem),
      (NULL));
  return FALSE;
}

static void
gst_rcd_track_close (GstCuvFilter *filter)
{
  gst_rcd_targets_leave_device (&GST_RCD_TRACK (filter)->targets);
}

static gboolean
gst_rcd_track_stop (GstBaseTransform *trans)
{
  GstRcdTrack *self = GST_RCD_TRACK (trans);
  gboolean ok = GST_BASE_TRANSFORM_CLASS (parent_class)->stop (trans);

  gst_rcd_targets_stop (&self->targets);
  return ok;
}

/* ---- class ---- */

static void
gst_rcd_track_finalize (GObject *object)
{
  GstRcdTrack *self = GST_RCD_TRACK (object);

  gst_rcd_targets_clear (&self->targets);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_signals (GType type)
{
  /**
   * GstRcdTrack::set-target:
   * @track: the element
   * @x: left edge of the box, in pixels
   * @y: its top edge
   * @width: its width
   * @height: its height
   *
   * Adds the target inside a box of the next frame. May be called from any
   * thread, while the element is PAUSED or PLAYING.
   *
   * Returns: the target's id, or 0 if max-targets are tracked already
   *
   * Since: 0.1
   */
  signals[SIGNAL_SET_TARGET] = g_signal_new_class_handler ("set-target", type,
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_rcd_track_set_target), NULL, NULL, NULL, G_TYPE_INT, 4,
      G_TYPE_INT, G_TYPE_INT, G_TYPE_INT, G_TYPE_INT);
  /**
   * GstRcdTrack::clear-target:
   * @track: the element
   *
   * Removes all targets, from the next frame on. May be called from any thread.
   *
   * Since: 0.1
   */
  signals[SIGNAL_CLEAR_TARGET] = g_signal_new_class_handler ("clear-target",
      type, G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_rcd_track_clear_target), NULL, NULL, NULL, G_TYPE_NONE,
      0);
}

static const GstCuvFilterInfo info = { "Object tracker",
  "Tracks objects by region covariance, on the CPU or with CUDA",
  &gst_rcd_settings, .configure = gst_rcd_track_configure,
  .close = gst_rcd_track_close, .analyse = gst_rcd_track_analyse,
  .writes = gst_rcd_track_writes, .publish = gst_rcd_track_publish,
  .change = gst_rcd_track_change, .reset = gst_rcd_track_reset,
  .add_stats = gst_rcd_track_add_stats };

static void
gst_rcd_track_class_init (GstRcdTrackClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_rcd_track_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_rcd_track_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_rcd_track_stop);
  install_signals (G_TYPE_FROM_CLASS (klass));
  gst_cuv_filter_class_install (GST_CUV_FILTER_CLASS (klass), &info);
}

static void
gst_rcd_track_init (GstRcdTrack *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_rcd_settings);
  gst_rcd_targets_init (&self->targets, GST_CUV_TRANSFORM (self));
}
