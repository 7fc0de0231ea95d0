/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads pictures, videos and their annotations into a data set. */
#include "context/gstcuvframe.h"
#include "inputs-private.h"

#include <gst/video/video.h>
#include <string.h>

/* ---- one picture ---- */

static CuvDatasetPicture *
add_sample (CuvDataset *self, const gchar *path, GstSample *sample,
    CuvStoreKeep keep, GError **error)
{
  GstVideoInfo info;
  GstVideoFrame video;
  CuvDatasetPicture *picture;
  CuvRgbMatrix matrix;
  CuvFrame frame;

  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (sample))
      || !gst_video_frame_map (
          &video, &info, gst_sample_get_buffer (sample), GST_MAP_READ)) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED,
        "%s: the frame cannot be read", path);
    return NULL;
  }
  frame = gst_cuv_frame_of_video (&video);
  matrix = gst_cuv_frame_rgb_matrix (&info);
  picture = cuv_dataset_add_frame (self, path, &frame, &matrix, keep, error);
  gst_video_frame_unmap (&video);
  return picture;
}

/* ---- reading ---- */

enum {
  NEGATIVE_STEP = 25, /* of a video without objects, every 25th frame is used */
  BLOCK = 25,         /* frames of a video that get the same role */
};

void
inputs_skip (Reader *self, const gchar *path, const gchar *why)
{
  gchar *text = g_strdup_printf ("%s: %s", path, why);

  g_printerr ("skipped: %s\n", text);
  g_ptr_array_add (self->skipped, text);
}

static gboolean
inside (const CuvDatasetPicture *to, const CuvTrainBox *box)
{
  return box->x + box->width > 0 && box->y + box->height > 0
      && box->x < to->width && box->y < to->height;
}

static void
skip_box (
    Reader *self, const CuvDatasetPicture *picture, const CuvTrainBox *box)
{
  gchar *why = g_strdup_printf (
      "the box %g,%g %gx%g is outside the picture of %d x %d", box->x, box->y,
      box->width, box->height, picture->width, picture->height);

  inputs_skip (self, picture->path, why);
  g_free (why);
}

/* Whether a box is neither learnt nor a negative. */
static gboolean
is_ignored (const InputOptions *options, const CuvAnnotation *from)
{
  const gchar *const *labels = (const gchar *const *) options->ignore;

  return from->ignore
      || (labels != NULL && g_strv_contains (labels, from->label));
}

static void
add_annotated_box (const InputOptions *options, CuvDatasetPicture *to,
    const CuvAnnotation *from, const CuvTrainBox *box)
{
  const gboolean ignored = is_ignored (options, from);
  const CuvDatasetOther other = { *box, g_intern_string (from->label) };

  if (!ignored && options->label != NULL
      && !g_str_equal (from->label, options->label)) {
    g_array_append_val (to->others, other);
    return;
  }
  g_array_append_val (to->boxes, *box);
  if (!ignored)
    g_array_append_val (to->objects, *box);
}

static void
add_annotated_boxes (
    Reader *self, CuvDatasetPicture *to, const CuvAnnotated *picture)
{
  const gdouble across = picture->shares ? to->width : 1;
  const gdouble down = picture->shares ? to->height : 1;

  for (guint i = 0; i < picture->boxes->len; i++) {
    const CuvAnnotation *from =
        &g_array_index (picture->boxes, CuvAnnotation, i);
    const CuvTrainBox box = { from->x * across, from->y * down,
      from->width * across, from->height * down };

    if (!inside (to, &box)) {
      skip_box (self, to, &box);
      continue;
    }
    g_hash_table_add (self->seen, (gpointer) from->label);
    add_annotated_box (self->options, to, from, &box);
  }
}

/* ---- frames ---- */

/* Neighbouring frames of a video look alike: a block of them gets one role. */
static void
add_to_block (
    File *file, guint number, CuvDatasetPicture *picture, gint64 frame)
{
  const gboolean is_video =
      frame > 0 || (file->frames && g_hash_table_size (file->frames) > 1);

  if (is_video)
    picture->block = ((guint64) number << 32) + file->n_taken / BLOCK + 1;
  file->n_taken++;
}

/* Returns FALSE if the boxes of one of the pictures do not fit the sample. */
static gboolean
fit_all (Reader *self, const gchar *name, const GPtrArray *pictures,
    GstSample *sample)
{
  gchar *why = NULL;

  for (guint i = 0; why == NULL && i < pictures->len; i++)
    why = upright_fit (pictures->pdata[i], sample);
  if (why != NULL)
    inputs_skip (self, name, why);
  g_free (why);
  return why == NULL;
}

static gboolean
visit_frame (gpointer data, guint number, GstSample *sample, gint64 frame,
    GError **error)
{
  Reader *self = data;
  File *file = self->files->pdata[number];
  const GPtrArray *pictures =
      file->frames != NULL ? g_hash_table_lookup (file->frames, &frame) : NULL;
  CuvDatasetPicture *to = NULL;
  gchar *name;
  gboolean fits;

  if (file->frames != NULL ? pictures == NULL : frame % NEGATIVE_STEP != 0)
    return TRUE;
  name = frame > 0
      ? g_strdup_printf ("%s, frame %" G_GINT64_FORMAT, file->path, frame)
      : g_strdup (file->path);
  fits = pictures == NULL || fit_all (self, name, pictures, sample);
  if (fits)
    to = add_sample (self->dataset, name, sample, self->keep, error);
  g_free (name);
  if (to == NULL)
    return !fits;
  add_to_block (file, number, to, frame);
  g_atomic_int_inc (&self->dataset->n_scanned);
  for (guint i = 0; pictures != NULL && i < pictures->len; i++)
    add_annotated_boxes (self, to, pictures->pdata[i]);
  return TRUE;
}

static void
skip_file (gpointer data, guint number, const gchar *problem)
{
  Reader *self = data;
  const File *file = self->files->pdata[number];

  inputs_skip (self, file->path, problem);
}

static gboolean
decode_all (Reader *self, GError **error)
{
  static const DecodeVisitor visitor = { visit_frame, skip_file };
  GPtrArray *paths = g_ptr_array_new ();
  Progress *progress;
  gboolean ok;

  for (guint i = 0; i < self->files->len; i++)
    g_ptr_array_add (paths, ((const File *) self->files->pdata[i])->path);
  progress = progress_begin ("reading, frames", &self->dataset->n_scanned, 0);
  ok = decode_files (paths, &visitor, self, error);
  progress_end (progress);
  g_ptr_array_unref (paths);
  return ok;
}

/* ---- all inputs ---- */

static gint
compare_file_paths (gconstpointer a, gconstpointer b)
{
  const File *const *one = a, *const *other = b;

  return strcmp ((*one)->path, (*other)->path);
}

static gboolean
inputs_read_all (Reader *self, GError **error)
{
  gboolean ok = TRUE;

  for (gchar **path = self->options->positives; ok && *path != NULL; path++)
    ok = inputs_read_positives (self, *path, error);
  /* the same order for all formats of annotations */
  g_ptr_array_sort (self->files, compare_file_paths);
  for (gchar **path = self->options->negatives;
       ok && path != NULL && *path != NULL; path++)
    ok = inputs_read_negatives (self, *path, error);
  return ok && decode_all (self, error);
}

/* ---- the end ---- */

/* For messages: "'cup', 'dog'". */
static gchar *
list_labels (const Reader *self)
{
  GList *labels = g_hash_table_get_keys (self->seen);
  GString *text = g_string_new (NULL);

  labels = g_list_sort (labels, (GCompareFunc) strcmp);
  for (GList *label = labels; label != NULL; label = label->next)
    g_string_append_printf (
        text, "%s'%s'", label == labels ? "" : ", ", (gchar *) label->data);
  g_list_free (labels);
  return g_string_free (text, FALSE);
}

/* A misspelt --ignore would make its objects negatives. */
static gboolean
check_ignored (const Reader *self, GError **error)
{
  gchar **label = self->options->ignore;
  gchar *labels;

  while (label != NULL && *label != NULL
      && g_hash_table_contains (self->seen, *label))
    label++;
  if (label == NULL || *label == NULL)
    return TRUE;
  labels = list_labels (self);
  cuv_annotations_fail (error,
      "--ignore: no object has the label '%s'; labels are %s", *label, labels);
  g_free (labels);
  return FALSE;
}

static gboolean
no_objects (const Reader *self, GError **error)
{
  const gchar *label = self->options->label;
  gchar *labels = list_labels (self);

  if (g_hash_table_size (self->seen) == 0)
    cuv_annotations_fail (error, "no annotated object was found%s",
        self->skipped->len > 0 ? ": all were skipped, see above" : "");
  else if (label != NULL && g_str_equal (labels, "''"))
    cuv_annotations_fail (error,
        "no object has the label '%s'; the objects have no labels", label);
  else if (label != NULL && !g_hash_table_contains (self->seen, label))
    cuv_annotations_fail (
        error, "no object has the label '%s'; labels are %s", label, labels);
  else
    cuv_annotations_fail (error,
        "all objects are marked to be ignored (difficult, occluded, iscrowd, "
        "ignore)");
  g_free (labels);
  return FALSE;
}

static gboolean
has_enough (const Reader *self, GError **error)
{
  const guint n = cuv_dataset_count_with_objects (self->dataset);
  guint n_pictures = 0;

  for (guint i = 0; i < self->dataset->pictures->len; i++) {
    const CuvDatasetPicture *picture = self->dataset->pictures->pdata[i];

    n_pictures += !picture->is_window;
  }
  if (n == 0)
    return no_objects (self, error);
  if (n < CUV_DATASET_LEAST_PICTURES)
    return cuv_annotations_fail (error,
        "%u pictures have objects, but at least %d are needed: some to train, "
        "some to set thresholds, some to measure the model",
        n, CUV_DATASET_LEAST_PICTURES);
  if (n_pictures < CUV_DATASET_LEAST_PICTURES)
    return cuv_annotations_fail (error,
        "samples of .vec have no surroundings to take negatives from: "
        "--negatives must name at least %d pictures, found %u",
        CUV_DATASET_LEAST_PICTURES, n_pictures);
  return TRUE;
}

void
inputs_free (TrainInputs *self)
{
  if (self == NULL)
    return;
  cuv_dataset_free (self->dataset);
  g_ptr_array_unref (self->skipped);
  g_free (self);
}

TrainInputs *
inputs_read (const InputOptions *options, GError **error)
{
  Reader self = { .options = options,
    .keep = options->keep,
    .dataset = cuv_dataset_new (g_get_tmp_dir (), error) };
  TrainInputs *inputs;
  gboolean ok;

  if (self.dataset == NULL)
    return NULL;
  if (options->loose_boxes)
    self.dataset->least_overlap = CUV_LOOSE_OVERLAP;
  inputs = g_new (TrainInputs, 1);
  self.skipped = g_ptr_array_new_with_free_func (g_free);
  *inputs = (TrainInputs){ .dataset = self.dataset, .skipped = self.skipped };
  self.annotations =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cuv_annotations_free);
  self.annotated =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self.searched = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self.files = g_ptr_array_new_with_free_func (inputs_file_free);
  self.seen = g_hash_table_new (g_str_hash, g_str_equal);
  self.classes = classes_new (options->names, error);
  ok = self.classes != NULL && inputs_read_all (&self, error)
      && check_ignored (&self, error) && has_enough (&self, error);
  if (ok) {
    cuv_dataset_divide (self.dataset, options->seed);
    inputs->keep = self.keep;
  } else {
    g_clear_pointer (&inputs, inputs_free);
  }
  g_hash_table_unref (self.seen);
  g_hash_table_unref (self.annotated);
  g_ptr_array_unref (self.files);
  g_ptr_array_unref (self.annotations);
  g_hash_table_unref (self.searched);
  classes_free (self.classes);
  return inputs;
}
