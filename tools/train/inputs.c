/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "annotations.h"
#include "context/gstcuvframe.h"
#include "picture.h"
#include "train-tool.h"

#include <gst/video/video.h>
#include <string.h>

/* ---- one picture ---- */

static CuvDatasetPicture *
add_sample (
    CuvDataset *self, const gchar *path, GstSample *sample, GError **error)
{
  GstVideoInfo info;
  GstVideoFrame video;
  CuvDatasetPicture *picture;
  CuvFrame frame;

  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (sample))
      || !gst_video_frame_map (
          &video, &info, gst_sample_get_buffer (sample), GST_MAP_READ)) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED,
        "%s: the frame cannot be read", path);
    return NULL;
  }
  frame = gst_cuv_frame_of_video (&video);
  picture = cuv_dataset_add (self, path, &frame, error);
  gst_video_frame_unmap (&video);
  return picture;
}

/* ---- files ---- */

/* Folders in which data sets keep pictures, beside that of the annotations. */
static const gchar *const folders[] = { "", "..", "../images", "../JPEGImages",
  "images" };

/* A file of this name, or NULL. */
static gchar *
find_file (const gchar *folder, const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++) {
    gchar *path = g_path_is_absolute (name)
        ? g_strdup (name)
        : g_build_filename (folder, folders[i], name, NULL);

    if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
      return path;
    g_free (path);
  }
  return NULL;
}

/* The picture that an annotation file without a name in it belongs to: of the
 * same name but for the end. */
static gchar *
find_picture_of (const gchar *path)
{
  static const gchar *const ends[] = { "jpg", "jpeg", "png", "JPG", "bmp",
    "webp", "tif", "ppm", "pgm" };
  gchar *folder = g_path_get_dirname (path), *name = g_path_get_basename (path);
  gchar *dot = strrchr (name, '.'), *found = NULL;

  if (dot != NULL)
    *dot = '\0';
  for (guint i = 0; found == NULL && i < G_N_ELEMENTS (ends); i++) {
    gchar *picture = g_strdup_printf ("%s.%s", name, ends[i]);

    found = find_file (folder, picture);
    g_free (picture);
  }
  g_free (name);
  g_free (folder);
  return found;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *) a, *(const gchar *const *) b);
}

/* A file, or those of a folder and the folders in it, sorted. */
static void
list_files (const gchar *path, GPtrArray *files)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  GPtrArray *names;
  const gchar *name;

  if (dir == NULL) {
    g_ptr_array_add (files, g_strdup (path));
    return;
  }
  names = g_ptr_array_new_with_free_func (g_free);
  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_build_filename (path, name, NULL));
  g_dir_close (dir);
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    list_files (names->pdata[i], files);
  g_ptr_array_unref (names);
}

/* ---- reading ---- */

#define NEGATIVE_STEP 25 /* frames of a film without objects */

typedef struct {
  const InputOptions *options;
  CuvDataset *dataset;
  GstElement *decoder;
  gchar **labels;   /* YOLO's names, or NULL */
  GHashTable *seen; /* labels of annotations */
  GPtrArray *skipped;
  /* of the file that is decoded: */
  const gchar *path;
  GHashTable *frames; /* number -> CuvAnnotated; NULL: a negative */
  GError *error;      /* there is no space left */
} Reader;

static void
skip (Reader *self, const gchar *path, const gchar *why)
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
      "the box %g,%g %gx%g is outside of the picture of %d x %d", box->x,
      box->y, box->width, box->height, picture->width, picture->height);

  skip (self, picture->path, why);
  g_free (why);
}

static void
add_boxes (Reader *self, CuvDatasetPicture *to, const CuvAnnotated *picture)
{
  const gchar *label = self->options->label;
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
    g_array_append_val (to->boxes, box);
    if (!from->ignore && (label == NULL || g_str_equal (from->label, label)))
      g_array_append_val (to->objects, box);
  }
}

static gboolean
visit (gpointer data, GstSample *sample, gint64 frame)
{
  Reader *self = data;
  const CuvAnnotated *picture = NULL;
  CuvDatasetPicture *to;
  gchar *name;

  if (self->frames != NULL) {
    picture = g_hash_table_lookup (self->frames, &frame);
    if (picture == NULL)
      return TRUE;
  } else if (frame % NEGATIVE_STEP != 0) {
    return TRUE;
  }
  name = frame > 0
      ? g_strdup_printf ("%s, frame %" G_GINT64_FORMAT, self->path, frame)
      : g_strdup (self->path);
  to = add_sample (self->dataset, name, sample, &self->error);
  g_free (name);
  if (to == NULL)
    return FALSE;
  if (picture != NULL)
    add_boxes (self, to, picture);
  for (guint i = 0; picture != NULL && i < picture->boxes->len; i++)
    g_hash_table_add (self->seen,
        (gpointer) g_array_index (picture->boxes, CuvAnnotation, i).label);
  return TRUE;
}

/* frames: see Reader. */
static gboolean
decode (Reader *self, const gchar *path, GHashTable *frames, GError **error)
{
  gchar *problem = NULL;

  self->path = path;
  self->frames = frames;
  if (!picture_visit_frames (self->decoder, path, visit, self, &problem)
      && self->error == NULL)
    skip (self, path, problem);
  g_free (problem);
  if (self->error != NULL)
    g_propagate_error (error, g_steal_pointer (&self->error));
  return *error == NULL;
}

/* The pictures of an annotation file, by the path of their file: those of a
 * film are together. */
static GHashTable *
group_by_file (Reader *self, const gchar *path, const CuvAnnotations *from)
{
  GHashTable *files = g_hash_table_new_full (
      g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_hash_table_unref);
  gchar *folder = g_path_get_dirname (path);

  for (guint i = 0; i < from->pictures->len; i++) {
    CuvAnnotated *picture = from->pictures->pdata[i];
    gchar *file = *picture->path != '\0' ? find_file (folder, picture->path)
                                         : find_picture_of (path);
    GHashTable *frames;

    if (file == NULL) {
      skip (self, *picture->path != '\0' ? picture->path : path,
          "there is no such picture");
      continue;
    }
    frames = g_hash_table_lookup (files, file);
    if (frames == NULL) {
      frames = g_hash_table_new (g_int64_hash, g_int64_equal);
      g_hash_table_insert (files, g_strdup (file), frames);
    }
    if (picture->frame < 0)
      picture->frame = 0;
    g_hash_table_insert (frames, &picture->frame, picture);
    g_free (file);
  }
  g_free (folder);
  return files;
}

static gboolean
decode_all (
    Reader *self, const gchar *path, const CuvAnnotations *from, GError **error)
{
  GHashTable *files = group_by_file (self, path, from);
  GPtrArray *names = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer name;
  gboolean ok = TRUE;

  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (names, name);
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; ok && i < names->len; i++)
    ok = decode (self, names->pdata[i],
        g_hash_table_lookup (files, names->pdata[i]), error);
  g_ptr_array_unref (names);
  g_hash_table_unref (files);
  return ok;
}

/* In a folder other files are passed over. */
static gboolean
read_annotations (
    Reader *self, const gchar *path, gboolean in_folder, GError **error)
{
  CuvAnnotations *annotations;
  CuvAnnotationsFormat format;
  gchar *bytes;
  gsize size;
  gboolean ok = TRUE;

  if (!g_file_get_contents (path, &bytes, &size, error))
    return FALSE;
  annotations = cuv_annotations_new ();
  if (!in_folder || cuv_annotations_recognise (bytes, size, &format)) {
    ok = cuv_annotations_parse (
        annotations, bytes, size, (const gchar *const *) self->labels, error);
    if (!ok)
      g_prefix_error (error, "%s: ", path);
    ok = ok && decode_all (self, path, annotations, error);
  }
  cuv_annotations_free (annotations);
  g_free (bytes);
  return ok;
}

static gboolean
read_positives (Reader *self, const gchar *path, GError **error)
{
  const gboolean in_folder = g_file_test (path, G_FILE_TEST_IS_DIR);
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  gboolean ok = TRUE;

  list_files (path, files);
  for (guint i = 0; ok && i < files->len; i++) {
    if (g_strcmp0 (files->pdata[i], self->options->names) != 0)
      ok = read_annotations (self, files->pdata[i], in_folder, error);
  }
  g_ptr_array_unref (files);
  return ok;
}

static gboolean
read_negatives (Reader *self, const gchar *path, GError **error)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  gboolean ok = TRUE;

  list_files (path, files);
  for (guint i = 0; ok && i < files->len; i++)
    ok = decode (self, files->pdata[i], NULL, error);
  g_ptr_array_unref (files);
  return ok;
}

static gboolean
read_names (Reader *self, GError **error)
{
  gchar *text;

  if (self->options->names == NULL)
    return TRUE;
  if (!g_file_get_contents (self->options->names, &text, NULL, error))
    return FALSE;
  self->labels = g_strsplit (g_strstrip (text), "\n", 0);
  for (gchar **label = self->labels; *label != NULL; label++)
    g_strstrip (*label);
  g_free (text);
  return TRUE;
}

/* ---- the end ---- */

static gboolean
has_enough (Reader *self, GError **error)
{
  const guint n = cuv_dataset_count_with_objects (self->dataset);

  if (n >= CUV_DATASET_LEAST_PICTURES)
    return TRUE;
  if (n == 0 && g_hash_table_size (self->seen) > 0) {
    GList *labels = g_hash_table_get_keys (self->seen);
    GString *text = g_string_new (NULL);

    labels = g_list_sort (labels, (GCompareFunc) strcmp);
    for (GList *label = labels; label != NULL; label = label->next)
      g_string_append_printf (
          text, "%s'%s'", label == labels ? "" : ", ", (gchar *) label->data);
    cuv_annotations_fail (error, "no object is called '%s'; there are %s",
        self->options->label != NULL ? self->options->label : "", text->str);
    g_string_free (text, TRUE);
    g_list_free (labels);
    return FALSE;
  }
  return cuv_annotations_fail (error,
      "%u pictures have objects, but at least %d are needed: some to learn "
      "from, "
      "some to set thresholds, some to measure what was learnt",
      n, CUV_DATASET_LEAST_PICTURES);
}

static gboolean
read_all (Reader *self, GError **error)
{
  gboolean ok = read_names (self, error);

  for (gchar **path = self->options->positives; ok && *path != NULL; path++)
    ok = read_positives (self, *path, error);
  for (gchar **path = self->options->negatives;
       ok && path != NULL && *path != NULL; path++)
    ok = read_negatives (self, *path, error);
  return ok;
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
    .dataset = cuv_dataset_new (g_get_tmp_dir (), error) };
  TrainInputs *inputs;
  gboolean ok = FALSE;

  if (self.dataset == NULL)
    return NULL;
  inputs = g_new (TrainInputs, 1);
  self.skipped = g_ptr_array_new_with_free_func (g_free);
  *inputs = (TrainInputs){ self.dataset, self.skipped };
  self.decoder = picture_decoder_new ("cuvision-train");
  self.seen = g_hash_table_new (g_str_hash, g_str_equal);
  if (self.decoder == NULL)
    g_set_error_literal (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "pictures cannot be decoded");
  else
    ok = read_all (&self, error) && has_enough (&self, error);
  if (ok)
    cuv_dataset_divide (self.dataset, options->seed);
  else
    g_clear_pointer (&inputs, inputs_free);
  gst_clear_object (&self.decoder);
  g_hash_table_unref (self.seen);
  g_strfreev (self.labels);
  return inputs;
}
