/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostcollector.h"

#include "context/gstcuvframe.h"
#include "gstcuvmeta.h"

#define MAX_LABELS 20 /* maximum number of labels in an error message */

void
gst_waldboost_collector_init (GstWaldboostCollector *self)
{
  *self = (GstWaldboostCollector){ .present = g_array_new (
                                       FALSE, FALSE, sizeof (GstCuvObject)),
    .labels = g_array_new (FALSE, FALSE, sizeof (GQuark)) };
}

void
gst_waldboost_collector_clear (GstWaldboostCollector *self)
{
  gst_waldboost_collector_stop (self);
  g_array_unref (self->present);
  g_array_unref (self->labels);
}

gboolean
gst_waldboost_collector_start (GstWaldboostCollector *self, GError **error)
{
  GError *problem = NULL;

  self->n_frames = self->n_candidates[0] = self->n_candidates[1] = 0;
  self->n_kept = self->n_objects = 0;
  self->full = FALSE;
  g_array_set_size (self->labels, 0);
  self->dataset = cuv_dataset_new (g_get_tmp_dir (), &problem);
  if (self->dataset != NULL)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE,
      "Frames cannot be kept: %s. Set TMPDIR to a writable folder",
      problem->message);
  g_error_free (problem);
  return FALSE;
}

void
gst_waldboost_collector_stop (GstWaldboostCollector *self)
{
  g_clear_pointer (&self->dataset, cuv_dataset_free);
}

/* ---- regions ---- */

static void
add_label (GstWaldboostCollector *self, GQuark label)
{
  for (guint i = 0; i < self->labels->len; i++) {
    if (g_array_index (self->labels, GQuark, i) == label)
      return;
  }
  if (label != 0 && self->labels->len < MAX_LABELS)
    g_array_append_val (self->labels, label);
}

/* Returns whether a region is repeated from an earlier frame (hold-results),
 * since which the object has moved. */
static gboolean
is_held (const GstCuvObject *object)
{
  guint64 age = 0;

  for (const GList *param = object->params; param != NULL && age == 0;
       param = param->next)
    gst_structure_get_uint64 (param->data, "age", &age);
  return age > 0;
}

static gboolean
is_in_frame (const GstCuvObject *object, const GstVideoInfo *info)
{
  CuvRoi part;

  return gst_cuv_object_in_frame (object, 0, info, &part);
}

static gboolean
is_to_learn (const GstCuvObject *object, const GstWaldboostChoice *choice)
{
  return (choice->label == 0 || object->label == choice->label)
      && !is_held (object);
}

/* Reads the buffer's regions; returns whether it has regions to learn. */
static gboolean
read_regions (GstWaldboostCollector *self, GstBuffer *buffer,
    const GstVideoInfo *info, const GstWaldboostChoice *choice)
{
  gboolean found = FALSE;

  gst_cuv_objects_read (self->present, buffer);
  for (guint i = 0; i < self->present->len; i++) {
    const GstCuvObject *object =
        &g_array_index (self->present, GstCuvObject, i);

    add_label (self, object->label);
    found |= is_in_frame (object, info) && is_to_learn (object, choice);
  }
  return found;
}

static void
add_regions (GstWaldboostCollector *self, CuvDatasetPicture *picture,
    const GstVideoInfo *info, const GstWaldboostChoice *choice)
{
  for (guint i = 0; i < self->present->len; i++) {
    const GstCuvObject *object =
        &g_array_index (self->present, GstCuvObject, i);
    const CuvTrainBox box = { object->x, object->y, object->w, object->h };

    if (!is_in_frame (object, info))
      continue;
    g_array_append_val (picture->boxes, box);
    if (is_to_learn (object, choice))
      g_array_append_val (picture->objects, box);
  }
  self->n_objects += picture->objects->len;
}

/* ---- frames ---- */

static gboolean
wants_frame (GstWaldboostCollector *self, gboolean with_regions,
    const GstWaldboostChoice *choice)
{
  return (with_regions || choice->without_regions)
      && self->n_candidates[with_regions]++ % (guint64) choice->interval == 0;
}

/* Returns whether another frame may be kept; sets the error only once. */
static gboolean
has_place (GstWaldboostCollector *self, const GstWaldboostChoice *choice,
    GError **error)
{
  const gboolean full = self->dataset->pictures->len >= choice->max_frames;

  if (full && !self->full)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "The limit of %u frames (max-frames) is reached: later frames are "
        "ignored. Raise max-frames to keep more, or frame-interval to spread "
        "them",
        choice->max_frames);
  self->full |= full;
  return !self->full;
}

/* Keeps a frame. GStreamer copies frames in CUDA memory to the host when they
 * are mapped. */
static CuvDatasetPicture *
keep (GstWaldboostCollector *self, GstBuffer *buffer, const GstVideoInfo *info,
    const GstWaldboostChoice *choice, GError **error)
{
  const CuvRgbMatrix matrix = gst_cuv_frame_rgb_matrix (info);
  CuvDatasetPicture *picture;
  GError *problem = NULL;
  GstVideoFrame video;
  CuvFrame frame;
  gchar *text = gst_cuv_video_map (
      &video, info, buffer, GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);

  if (text != NULL) {
    g_set_error_literal (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, text);
    g_free (text);
    return NULL;
  }
  frame = gst_cuv_frame_of_video (&video);
  picture = cuv_dataset_add_frame (self->dataset, "", &frame, &matrix,
      gst_waldboost_features_keep (choice->features), &problem);
  gst_video_frame_unmap (&video);
  if (picture != NULL)
    return picture;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "No more frames are kept: %s", problem->message);
  g_error_free (problem);
  self->full = TRUE;
  return NULL;
}

gboolean
gst_waldboost_collector_add (GstWaldboostCollector *self, GstBuffer *buffer,
    const GstVideoInfo *info, const GstWaldboostChoice *choice, GError **error)
{
  CuvDatasetPicture *picture = NULL;

  self->n_frames++;
  if (wants_frame (self, read_regions (self, buffer, info, choice), choice)
      && has_place (self, choice, error))
    picture = keep (self, buffer, info, choice, error);
  if (picture == NULL)
    return FALSE;
  add_regions (self, picture, info, choice);
  self->n_kept++;
  return TRUE;
}

/* ---- check that there are enough frames ---- */

static gchar *
list_labels (const GstWaldboostCollector *self)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < self->labels->len; i++)
    g_string_append_printf (text, "%s'%s'", i > 0 ? ", " : "",
        g_quark_to_string (g_array_index (self->labels, GQuark, i)));
  return g_string_free (text, FALSE);
}

static gchar *
problem_without_regions (
    const GstWaldboostCollector *self, const GstWaldboostChoice *choice)
{
  gchar *labels, *text;

  if (self->n_frames == 0)
    return g_strdup ("No frame arrived: check that the source produces frames");
  if (self->labels->len == 0 || choice->label == 0)
    return g_strdup (
        "No frame arrived with a region of interest: put rcdtrack, a "
        "detector or a program that adds regions upstream, and remove "
        "elements after it that drop metadata");
  labels = list_labels (self);
  text = g_strdup_printf ("No frame arrived with a region of object-class "
                          "'%s'; the labels of the regions are %s",
      g_quark_to_string (choice->label), labels);
  g_free (labels);
  return text;
}

gboolean
gst_waldboost_collector_has_enough (const GstWaldboostCollector *self,
    const GstWaldboostChoice *choice, GError **error)
{
  const guint n_all = cuv_dataset_count_with_objects (self->dataset);
  const guint n =
      gst_waldboost_features_keep (choice->features) == CUV_STORE_GREY
      ? n_all
      : cuv_dataset_count_in_colour (self->dataset);
  gchar *problem;

  if (n >= CUV_DATASET_LEAST_PICTURES)
    return TRUE;
  if (n_all >= CUV_DATASET_LEAST_PICTURES) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "%u frames with regions were kept in colour, but at least %d are "
        "needed: set features before the frames arrive",
        n, CUV_DATASET_LEAST_PICTURES);
    return FALSE;
  }
  problem = n_all == 0
      ? problem_without_regions (self, choice)
      : g_strdup_printf (
          "%u frames with regions were kept, but at least %d are "
          "needed: some to learn from, some to set thresholds, some to "
          "measure the model",
          n_all, CUV_DATASET_LEAST_PICTURES);
  g_set_error_literal (
      error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, problem);
  g_free (problem);
  return FALSE;
}
