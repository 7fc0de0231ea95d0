/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-visionmotion
 * @title: visionmotion
 * @short_description: finds what moves, by subtracting the background
 *
 * Learns the background of a camera that does not move, and attaches what
 * differs from it as objects. Works on the CPU and, for frames in CUDA memory,
 * on the GPU, with the same result. The frame is neither copied nor changed.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=video.avi ! decodebin ! videoconvert !
 * visionmotion ! visionoverlay ! videoconvert ! autovideosink
 * ]| Draws boxes around what moves.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstvisionmotion.h"

#include <math.h>
#include <string.h>

#include "backend.h"
#include "gstcuvmeta.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (vision_motion_debug);
#define GST_CAT_DEFAULT vision_motion_debug

/* What was found in a frame. */
typedef struct {
  CuvMotionBox boxes[CUV_MOTION_MAX_BOXES]; /* in pixels of the frame */
  gint n;
  gint n_parts;
  gdouble moving; /* part of the frame */
  gboolean scene_change;
} Motion;

struct _GstVisionMotion {
  GstCuvFilter parent;

  GstCuvSettings settings; /* GstVisionMotionSettings */

  Motion motion; /* of the last analysed frame; written under the object lock */

  /* used by the streaming thread only */
  CuvBackend backend;
  CuvMotionConfig config; /* of the open backend */
  CuvFrame shape;         /* frames that it was opened for; not their pixels */
  CuvMotionBox *before;   /* boxes of the frame before */
  GstMotionMask *mask;    /* NULL = none */
  guint64 *unmasked;      /* mask as bits, NULL = none */
  gint64 n_unmasked;      /* values that are not masked */
  gint mask_serial;       /* counts changes of unmasked */
  guint n_learnt;         /* frames since the background was forgotten */
  gboolean submitted;     /* the GPU works on the frame already */
};

#define gst_vision_motion_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstVisionMotion, gst_vision_motion,
    GST_TYPE_CUV_FILTER,
    GST_DEBUG_CATEGORY_INIT (
        vision_motion_debug, "visionmotion", 0, "what moves"))
GST_ELEMENT_REGISTER_DEFINE (
    visionmotion, "visionmotion", GST_RANK_NONE, GST_TYPE_VISION_MOTION)

static void
forget (GstVisionMotion *self)
{
  self->n_learnt = 0;
  GST_OBJECT_LOCK (self);
  self->motion.n = self->motion.n_parts = 0;
  self->motion.moving = 0;
  self->motion.scene_change = FALSE;
  GST_OBJECT_UNLOCK (self);
}

/* Whether the open backend can go on with such frames. */
static gboolean
backend_matches (const GstVisionMotion *self, const CuvMotionConfig *config,
    const CuvFrame *frame, const CuvProcessor *processor)
{
  const CuvFrame *shape = &self->shape;

  return self->backend.klass != NULL
      && self->backend.on_device == processor->on_device
      && memcmp (config, &self->config, sizeof *config) == 0
      && frame->width == shape->width && frame->height == shape->height
      && frame->model == shape->model
      && frame->n_components == shape->n_components;
}

/* Draws the mask for the frames of the open backend. */
static void
set_mask (GstVisionMotion *self, GstMotionMask *mask)
{
  if (self->mask != NULL)
    g_boxed_free (GST_TYPE_MOTION_MASK, self->mask);
  self->mask = mask != NULL ? g_boxed_copy (GST_TYPE_MOTION_MASK, mask) : NULL;
  g_clear_pointer (&self->unmasked, g_free);
  if (mask != NULL)
    self->unmasked = gst_motion_mask_draw (mask, &self->config,
        self->shape.width, self->shape.height, &self->n_unmasked);
  self->mask_serial++;
}

static gchar *
open_motion_backend (GstVisionMotion *self, const CuvMotionConfig *config,
    const GstCuvFrame *frame)
{
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  CuvBackend backend = { 0 };
  const gchar *error = cuv_backend_open (
      &backend, &cuv_motion_classes, config, &frame->frame, &processor);

  if (error != NULL)
    return gst_cuv_filter_open_problem (GST_CUV_FILTER (self), frame, error);
  cuv_backend_close (&self->backend);
  self->backend = backend;
  self->config = *config;
  self->shape = frame->frame;
  forget (self);
  return NULL;
}

static gchar *
gst_vision_motion_configure (
    GstCuvFilter *filter, gconstpointer settings, const GstCuvFrame *frame)
{
  GstVisionMotion *self = GST_VISION_MOTION (filter);
  const CuvMotionConfig config =
      gst_vision_motion_config (settings, frame->frame.height);
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  GstMotionMask *mask = ((const GstVisionMotionSettings *) settings)->mask;
  const gboolean matches =
      backend_matches (self, &config, &frame->frame, &processor);
  gchar *problem = matches ? NULL : open_motion_backend (self, &config, frame);

  if (problem == NULL && (!matches || mask != self->mask))
    set_mask (self, mask);
  return problem;
}

/* Converts a box of values to one of pixels. */
static void
scale_box (CuvMotionPart *part, gint across, gint down)
{
  part->left *= across;
  part->top *= down;
  part->right *= across;
  part->bottom *= down;
  part->area *= across * down;
}

/* Frames smaller than a square of pixels are averaged as a whole. */
static void
find_boxes (GstVisionMotion *self, const CuvMotionResult *result)
{
  const GstVisionMotionSettings *s = self->settings.in_force;
  const gint scale = self->config.scale;
  const gint across = MIN (scale, self->shape.width);
  const gint down = MIN (scale, self->shape.height), area = across * down;
  Motion *motion = &self->motion;
  const gint n_before = motion->n;

  memcpy (self->before, motion->boxes, (gsize) n_before * sizeof *self->before);
  motion->n = cuv_motion_boxes (result->parts, result->n_parts,
      (gint) (((gint64) s->min_area + area - 1) / area),
      (s->merge_distance + scale - 1) / scale, motion->boxes);
  for (gint i = 0; i < motion->n; i++)
    scale_box (&motion->boxes[i].part, across, down);
  if (s->padding > 0)
    motion->n = cuv_motion_pad (motion->boxes, motion->n, s->padding,
        self->shape.width, self->shape.height);
  cuv_motion_ages (motion->boxes, motion->n, self->before, n_before);
}

/* The first frame is all background. */
static void
keep_result (GstVisionMotion *self, const CuvMotionResult *result)
{
  const GstVisionMotionSettings *s = self->settings.in_force;
  const gboolean first = self->n_learnt == 0;
  const gint64 n_values = self->unmasked != NULL
      ? self->n_unmasked
      : (gint64) result->width * result->height;
  Motion *motion = &self->motion;

  GST_OBJECT_LOCK (self);
  motion->moving = first || n_values == 0
      ? 0
      : (gdouble) result->n_moving / (gdouble) n_values;
  motion->scene_change = motion->moving > s->scene_change;
  motion->n_parts = first ? 0 : result->n_parts;
  if (first || motion->scene_change)
    motion->n = 0;
  else
    find_boxes (self, result);
  GST_OBJECT_UNLOCK (self);
}

/* result: NULL to submit the frame to the GPU only */
static const gchar *
run (GstVisionMotion *self, const GstCuvFrame *frame, gint n_threads,
    CuvMotionResult *result)
{
  CuvMotionParams params =
      gst_vision_motion_params (self->settings.in_force, self->n_learnt);
  const CuvProcessor processor = gst_cuv_frame_processor (frame, n_threads);
  CuvMotionJob job = { &frame->frame, &params, self->n_learnt == 0,
    self->submitted, result };

  self->submitted = FALSE;
  params.unmasked = self->unmasked;
  params.mask_serial = self->mask_serial;
  return cuv_backend_run (&self->backend, &job, &processor);
}

static gboolean
gst_vision_motion_submit (GstCuvFilter *filter, const GstCuvFrame *frame)
{
  GstVisionMotion *self = GST_VISION_MOTION (filter);

  self->submitted = frame->cuda && run (self, frame, 0, NULL) == NULL;
  return self->submitted;
}

/* After a scene change, this frame is the new background. */
static gboolean
gst_vision_motion_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  GstVisionMotion *self = GST_VISION_MOTION (filter);
  CuvMotionResult result;
  const gchar *error = run (self, frame, n_threads, &result);

  if (error == NULL) {
    keep_result (self, &result);
    if (self->motion.scene_change) {
      self->n_learnt = 0;
      error = run (self, frame, n_threads, &result);
    }
    self->n_learnt = MIN (self->n_learnt, G_MAXINT) + 1;
  }
  return error == NULL || gst_cuv_frame_failed (frame, error);
}

/* ---- results ---- */

static const GstCuvColumn columns[] = {
  { "x", GST_CUV_TYPE_U32 },
  { "y", GST_CUV_TYPE_U32 },
  { "width", GST_CUV_TYPE_U32 },
  { "height", GST_CUV_TYPE_U32 },
  { "area", GST_CUV_TYPE_U32 },
  { "frames", GST_CUV_TYPE_U32 },
};

static void
attach_table (const Motion *motion, const GstVideoInfo *info, GstBuffer *buffer,
    GstClockTime age)
{
  guint32 (*rows)[G_N_ELEMENTS (columns)] =
      g_malloc_n ((gsize) motion->n + 1, sizeof *rows);
  GstStructure *table;

  for (gint i = 0; i < motion->n; i++) {
    const CuvMotionPart *part = &motion->boxes[i].part;
    const guint32 row[] = { (guint32) part->left, (guint32) part->top,
      (guint32) (part->right - part->left),
      (guint32) (part->bottom - part->top), (guint32) part->area,
      (guint32) motion->boxes[i].age };

    memcpy (rows[i], row, sizeof row);
  }
  table = gst_cuv_meta_add_table (buffer, "motion", 1,
      (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info),
      "none", columns, G_N_ELEMENTS (columns), rows, (guint) motion->n);
  g_free (rows);
  gst_cuv_structure_set (table, "moving", G_TYPE_DOUBLE, motion->moving,
      "scene_change", G_TYPE_BOOLEAN, motion->scene_change, NULL);
  if (age > 0)
    gst_cuv_structure_set (table, "age", G_TYPE_UINT64, age, NULL);
}

static void
attach_objects (const Motion *motion, const GstVisionMotionSettings *s,
    const GstVideoInfo *info, GstBuffer *buffer, GstClockTime age)
{
  GstCuvWriter writer = { .buffer = buffer,
    .info = info,
    .metadata = s->metadata,
    .n_entries = (guint) motion->n };
  const gint id = gst_cuv_meta_next_id (buffer);

  for (gint i = 0; i < motion->n; i++) {
    const CuvMotionPart *part = &motion->boxes[i].part;
    GstStructure *extra =
        gst_cuv_structure_new ("detection", "area", G_TYPE_INT, part->area,
            "frames", G_TYPE_INT, motion->boxes[i].age, NULL);

    if (age > 0)
      gst_cuv_structure_set (extra, "age", G_TYPE_UINT64, age, NULL);
    gst_cuv_meta_add_object (&writer, id + i, s->label, (guint) part->left,
        (guint) part->top, (guint) (part->right - part->left),
        (guint) (part->bottom - part->top), NAN, extra);
  }
}

static void
gst_vision_motion_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  GstVisionMotion *self = GST_VISION_MOTION (filter);
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));

  attach_objects (&self->motion, self->settings.in_force, info, buffer, age);
  attach_table (&self->motion, info, buffer, age);
  if (message != NULL)
    gst_cuv_structure_set (message, "objects", G_TYPE_UINT,
        (guint) self->motion.n, "moving", G_TYPE_DOUBLE, self->motion.moving,
        "scene-change", G_TYPE_BOOLEAN, self->motion.scene_change, NULL);
}

static guint
gst_vision_motion_change (GstCuvFilter *filter)
{
  const Motion *motion = &GST_VISION_MOTION (filter)->motion;

  return motion->scene_change ? G_MAXUINT : (guint) motion->n;
}

static void
gst_vision_motion_reset (GstCuvFilter *filter)
{
  forget (GST_VISION_MOTION (filter));
}

static void
gst_vision_motion_add_stats (GstCuvFilter *filter, GstStructure *stats)
{
  GstVisionMotion *self = GST_VISION_MOTION (filter);

  GST_OBJECT_LOCK (self);
  gst_cuv_structure_set (stats, "moving", G_TYPE_DOUBLE, self->motion.moving,
      "parts", G_TYPE_UINT, (guint) self->motion.n_parts, "objects",
      G_TYPE_UINT, (guint) self->motion.n, "scene-change", G_TYPE_BOOLEAN,
      self->motion.scene_change, NULL);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_vision_motion_close (GstCuvFilter *filter)
{
  cuv_backend_close (&GST_VISION_MOTION (filter)->backend);
}

static void
gst_vision_motion_finalize (GObject *object)
{
  GstVisionMotion *self = GST_VISION_MOTION (object);

  set_mask (self, NULL);
  g_free (self->before);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static const GstCuvFilterInfo info = { "Motion detector",
  "Finds what moves, on the CPU or with CUDA", &gst_vision_motion_settings,
  .configure = gst_vision_motion_configure, .close = gst_vision_motion_close,
  .submit = gst_vision_motion_submit, .quick = TRUE,
  .analyse = gst_vision_motion_analyse, .publish = gst_vision_motion_publish,
  .change = gst_vision_motion_change, .reset = gst_vision_motion_reset,
  .add_stats = gst_vision_motion_add_stats,
  .clear_stats = gst_vision_motion_reset };

static void
gst_vision_motion_class_init (GstVisionMotionClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_vision_motion_finalize;
  gst_cuv_filter_class_install (GST_CUV_FILTER_CLASS (klass), &info);
}

static void
gst_vision_motion_init (GstVisionMotion *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_vision_motion_settings);
  self->before = g_new (CuvMotionBox, CUV_MOTION_MAX_BOXES);
}
