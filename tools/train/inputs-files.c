/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads annotations and lists: which files have to be decoded, and what is
 * annotated in each. */
#include "inputs-private.h"

#include <string.h>
#include "cuvfile.h"

enum { MAX_BYTES = 1 << 30 }; /* COCO's train2017.json has 450 MB */

/* ---- samples of .vec ---- */

static gboolean
add_vec (Reader *self, const gchar *path, const CuvVec *vec, GError **error)
{
  const gint width = self->options->window_width;
  const gint height = self->options->window_height;
  guint8 *pixels;
  gboolean ok = TRUE;

  if (!(self->keep & CUV_STORE_GREY))
    return cuv_annotations_fail (error,
        "trees on channels are learnt from pictures with objects, not from the "
        "grey samples of opencv_createsamples: choose other --features");
  if (vec->n_pixels != width * height)
    return cuv_annotations_fail (error,
        "samples of %d pixels do not fit the window of %d x %d: set --window "
        "to "
        "the width and height given to opencv_createsamples",
        vec->n_pixels, width, height);
  self->keep = CUV_STORE_GREY;
  pixels = g_malloc ((gsize) vec->n_pixels);
  for (gint i = 0; ok && i < vec->n; i++) {
    const CuvFrame frame = { .model = CUV_MODEL_GREY,
      .width = width,
      .height = height,
      .n_components = 1,
      .component = { { .data = pixels, .stride = width, .step = 1 } } };
    gchar *name = g_strdup_printf ("%s, sample %d", path, i);

    ok = cuv_vec_sample (vec, i, pixels, error)
        && cuv_dataset_add_window (self->dataset, name, &frame, error);
    g_free (name);
  }
  g_free (pixels);
  return ok;
}

static gboolean
read_vec (Reader *self, const gchar *path, const gchar *bytes, gsize size,
    GError **error)
{
  CuvVec vec;
  const gboolean ok = cuv_vec_parse (&vec, bytes, size, error)
      && add_vec (self, path, &vec, error);

  if (!ok)
    g_prefix_error (error, "%s: ", path);
  return ok;
}

/* ---- annotations ---- */

void
inputs_file_free (gpointer data)
{
  File *self = data;

  g_free (self->path);
  g_clear_pointer (&self->frames, g_hash_table_unref);
  g_free (self);
}

static File *
file_of (Reader *self, const gchar *path)
{
  gchar *real = files_real_path (path);
  File *file = g_hash_table_lookup (self->annotated, real);

  if (file != NULL) {
    g_free (real);
    return file;
  }
  file = g_new (File, 1);
  *file = (File){ g_strdup (path),
    g_hash_table_new_full (
        g_int64_hash, g_int64_equal, NULL, (GDestroyNotify) g_ptr_array_unref),
    0 };
  g_hash_table_insert (self->annotated, real, file);
  g_ptr_array_add (self->files, file);
  return file;
}

static void
add_annotated (Reader *self, const gchar *path, CuvAnnotated *picture)
{
  File *file = file_of (self, path);
  GPtrArray *pictures;

  if (picture->frame < 0)
    picture->frame = 0;
  pictures = g_hash_table_lookup (file->frames, &picture->frame);
  if (pictures == NULL) {
    pictures = g_ptr_array_new ();
    g_hash_table_insert (file->frames, &picture->frame, pictures);
  }
  g_ptr_array_add (pictures, picture);
}

/* Lists the searched places only once. */
static void
skip_missing (Reader *self, const gchar *name, const GPtrArray *places)
{
  gchar *list = files_list_places (places);
  gchar *why = g_strdup_printf (
      "no such picture in %s: give its folder with --images", list);

  if (g_hash_table_add (self->searched, list))
    inputs_skip (self, name, why);
  else
    inputs_skip (self, name, "no such picture");
  g_free (why);
}

static void
skip_empty (Reader *self, const gchar *name, guint n)
{
  gchar *why = g_strdup_printf (
      "%u objects have no area, or are neither boxes nor polygons", n);

  inputs_skip (self, name, why);
  g_free (why);
}

static gchar *
find_picture (const CuvAnnotations *from, const CuvAnnotated *picture,
    const gchar *path, const GPtrArray *places)
{
  gchar *file = NULL;

  if (*picture->path != '\0')
    file = files_find (places, picture->path, picture->frame >= 0);
  if (file == NULL && from->pictures->len == 1 && picture->frame < 0)
    file = files_find_picture_of (places, path);
  return file;
}

/* Returns the same form of a path that may be written as ./a/b or a\\b. */
static gchar *
canonical_path (const gchar *path)
{
  gchar *slashes = g_strdelimit (g_strdup (path), "\\", '/');
  gchar *name = g_canonicalize_filename (slashes, "/");

  g_free (slashes);
  return name;
}

/* names: path of a picture -> its name in the annotations. Two names that lead
 * to the same picture are an error, unless they are the same path. */
static void
add_found (
    Reader *self, GHashTable *names, const gchar *file, CuvAnnotated *picture)
{
  const gchar *other = g_hash_table_lookup (names, file);
  gchar *name = canonical_path (picture->path);

  if (other != NULL && !g_str_equal (other, name))
    inputs_skip (self, picture->path,
        "the only picture of that name belongs to another path");
  else
    add_annotated (self, file, picture);
  if (other == NULL)
    g_hash_table_insert (names, g_strdup (file), name);
  else
    g_free (name);
}

static void
add_pictures (Reader *self, const gchar *path, const CuvAnnotations *from)
{
  GPtrArray *places = files_places (path, self->options->images);
  GHashTable *names =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  guint n_empty = 0;

  for (guint i = 0; i < from->pictures->len; i++) {
    CuvAnnotated *picture = from->pictures->pdata[i];
    const gchar *name = *picture->path != '\0' ? picture->path : path;
    gchar *file = find_picture (from, picture, path, places);

    n_empty += picture->n_empty;
    if (file != NULL)
      add_found (self, names, file, picture);
    else
      skip_missing (self, name, places);
    g_free (file);
  }
  if (n_empty > 0)
    skip_empty (self, path, n_empty);
  g_hash_table_unref (names);
  g_ptr_array_unref (places);
}

static gboolean
parse_annotations (Reader *self, const gchar *path, const gchar *bytes,
    gsize size, gboolean is_yolo, GError **error)
{
  CuvAnnotations *annotations = cuv_annotations_new ();
  const gchar *const *names = NULL;
  gboolean ok;

  g_ptr_array_add (self->annotations, annotations);
  if (is_yolo && !classes_find (self->classes, path, &names, error))
    return FALSE;
  ok = cuv_annotations_parse (annotations, bytes, size, names, error);
  if (ok)
    add_pictures (self, path, annotations);
  else
    g_prefix_error (error, "%s: ", path);
  return ok;
}

/* An empty YOLO file means that its picture has no objects. */
static void
read_blank (Reader *self, const gchar *path)
{
  GPtrArray *places = files_places (path, self->options->images);
  gchar *file = files_find_picture_of (places, path);
  CuvAnnotations *annotations = cuv_annotations_new ();

  g_ptr_array_add (self->annotations, annotations);
  if (file != NULL)
    add_annotated (self, file, cuv_annotations_picture (annotations, "", -1));
  g_free (file);
  g_ptr_array_unref (places);
}

static gboolean
is_blank_text (const gchar *bytes, gsize size)
{
  while (size > 0 && g_ascii_isspace (bytes[size - 1]))
    size--;
  return size == 0;
}

/* In a folder, files of other formats are ignored. */
static gboolean
read_annotations (
    Reader *self, const gchar *path, gboolean in_folder, GError **error)
{
  CuvAnnotationsFormat format;
  gchar *bytes;
  gsize size;
  gboolean known, ok = TRUE;

  if (in_folder && !files_is_text (path))
    return TRUE;
  if (!cuv_file_read (path, MAX_BYTES, &bytes, &size, error))
    return FALSE;
  known = cuv_annotations_recognise (bytes, size, &format);
  if (!in_folder && cuv_vec_recognise (bytes, size))
    ok = read_vec (self, path, bytes, size, error);
  else if (in_folder && is_blank_text (bytes, size)
      && g_str_has_suffix (path, ".txt"))
    read_blank (self, path);
  else if (!in_folder || known)
    ok = parse_annotations (self, path, bytes, size,
        known && format == CUV_ANNOTATIONS_YOLO, error);
  g_free (bytes);
  return ok;
}

gboolean
inputs_read_positives (Reader *self, const gchar *path, GError **error)
{
  const gboolean in_folder = g_file_test (path, G_FILE_TEST_IS_DIR);
  GPtrArray *files = files_list (path);
  gboolean ok = TRUE;

  for (guint i = 0; ok && i < files->len; i++) {
    if (g_strcmp0 (files->pdata[i], self->options->names) != 0)
      ok = read_annotations (self, files->pdata[i], in_folder, error);
  }
  g_ptr_array_unref (files);
  return ok;
}

/* ---- negatives ---- */

static gboolean
is_annotated (Reader *self, const gchar *path)
{
  gchar *real = files_real_path (path);
  const gboolean annotated = g_hash_table_contains (self->annotated, real);

  g_free (real);
  return annotated;
}

static void
add_negative (Reader *self, const gchar *path)
{
  File *file;

  if (is_annotated (self, path)) {
    inputs_skip (self, path,
        "it is annotated: only its windows without objects are negatives");
    return;
  }
  file = g_new (File, 1);
  *file = (File){ g_strdup (path), NULL, 0 };
  g_ptr_array_add (self->files, file);
}

/* A list as for opencv_traincascade: one path per line. */
static gboolean
add_negative_list (Reader *self, const gchar *path, GError **error)
{
  GPtrArray *places = files_places (path, self->options->images);
  gchar *bytes, *text = NULL, **lines;
  gsize size;

  if (cuv_file_read (path, CUV_FILE_MAX_TEXT, &bytes, &size, error)) {
    text = cuv_annotations_decode (bytes, size, error);
    g_free (bytes);
  }
  lines = g_strsplit (text != NULL ? text : "", "\n", 0);
  for (gchar **line = lines; *line != NULL; line++) {
    gchar *file = NULL;

    if (*g_strstrip (*line) == '\0')
      continue;
    file = files_find (places, *line, FALSE);
    if (file != NULL)
      add_negative (self, file);
    else
      skip_missing (self, *line, places);
    g_free (file);
  }
  g_strfreev (lines);
  g_ptr_array_unref (places);
  g_free (text);
  return text != NULL;
}

gboolean
inputs_read_negatives (Reader *self, const gchar *path, GError **error)
{
  GPtrArray *files = files_list (path);
  gboolean ok = TRUE;

  if (!g_file_test (path, G_FILE_TEST_IS_DIR) && files_is_list (path))
    ok = add_negative_list (self, path, error);
  else
    for (guint i = 0; i < files->len; i++)
      add_negative (self, files->pdata[i]);
  g_ptr_array_unref (files);
  return ok;
}
