/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "teach/dataset.h"

#include <string.h>
#include <turbojpeg.h>

#include "cuvjsonreader.h"
#include "teach/cut.h"
#include "teach/folder.h"

#define ANNOTATIONS "annotations.json"
#define IMAGES "images"

/* A picture that the sink has kept: its name says so. */
typedef struct {
  gint64 id;
  guint number;
  gchar label[CUV_TEACH_MAX_LABEL + 1];
  guint64 bytes;
  guint run; /* in which it was kept; 0: in an earlier process */
  /* what was kept; unset if run is 0 */
  gint64 frame;
  CuvTeachBox part; /* as it was asked for */
  CuvTeachPlace place;
} Picture;

struct _CuvTeachDataset {
  gint folder;
  CuvCoco coco;
  GArray *pictures; /* Picture, the newest one last */
  guint last_number;
  guint64 bytes; /* of all pictures */
  guint run;     /* from 1 on: each numbers its frames from 0 */
};

const CuvCoco *
cuv_teach_dataset_coco (const CuvTeachDataset *self)
{
  return &self->coco;
}

/* ---- names ---- */

static gchar *
name_of (const Picture *picture)
{
  return g_strdup_printf (
      IMAGES "/%s-%06u.jpg", picture->label, picture->number);
}

/* Reads label and number of a name that name_of() has made. */
static gboolean
parse_name (const gchar *name, Picture *picture)
{
  const gsize prefix = strlen (IMAGES "/");
  const gchar *dash = strrchr (name, '-');
  gboolean same;
  gchar *again;

  if (!g_str_has_prefix (name, IMAGES "/") || dash == NULL
      || dash < name + prefix || dash > name + prefix + CUV_TEACH_MAX_LABEL)
    return FALSE;
  g_strlcpy (picture->label, name + prefix, (gsize) (dash - name) - prefix + 1);
  picture->number = (guint) g_ascii_strtoull (dash + 1, NULL, 10);
  again = name_of (picture);
  same = g_str_equal (again, name) && cuv_teach_is_label (picture->label);
  g_free (again);
  return same;
}

/* ---- opening ---- */

static void
find_pictures (CuvTeachDataset *self)
{
  for (guint i = 0; i < json_array_get_length (self->coco.images); i++) {
    Picture picture = { .run = 0 };
    const gchar *name;

    picture.id = cuv_coco_image (&self->coco, i, &name);
    if (!parse_name (name, &picture))
      continue;
    picture.bytes = (guint64) MAX (cuv_folder_size (self->folder, name), 0);
    self->bytes += picture.bytes;
    self->last_number = MAX (self->last_number, picture.number);
    g_array_append_val (self->pictures, picture);
  }
}

/* Returns the text of annotations.json, or NULL and the problem. */
static GBytes *
read_annotations (gint folder, gchar **problem)
{
  static const gchar empty[] =
      "{\"images\":[],\"annotations\":[],\"categories\":[]}";
  GBytes *bytes = cuv_folder_read (folder, ANNOTATIONS, CUV_JSON_MAX_BYTES);

  if (bytes != NULL)
    return bytes;
  if (!cuv_folder_has (folder, ANNOTATIONS))
    return g_bytes_new_static (empty, sizeof empty - 1);
  *problem = g_strdup (
      ANNOTATIONS " in it cannot be read: it must be a file of at most 16 MB");
  return NULL;
}

static gchar *
load_annotations (CuvTeachDataset *self)
{
  gchar *problem = cuv_folder_add (self->folder, IMAGES), *why;
  GBytes *bytes =
      problem == NULL ? read_annotations (self->folder, &problem) : NULL;

  if (bytes == NULL)
    return problem;
  why = cuv_coco_parse (&self->coco, g_bytes_get_data (bytes, NULL));
  g_bytes_unref (bytes);
  if (why != NULL)
    problem = g_strdup_printf (ANNOTATIONS
        " in it is not COCO: %s; choose another folder, or move the file",
        why);
  else
    find_pictures (self);
  g_free (why);
  return problem;
}

CuvTeachDataset *
cuv_teach_dataset_open (gint folder, gchar **problem)
{
  CuvTeachDataset *self = g_new0 (CuvTeachDataset, 1);

  self->folder = folder;
  self->run = 1;
  self->pictures = g_array_new (FALSE, FALSE, sizeof (Picture));
  *problem = load_annotations (self);
  if (*problem != NULL)
    g_clear_pointer (&self, cuv_teach_dataset_free);
  return self;
}

void
cuv_teach_dataset_free (CuvTeachDataset *self)
{
  cuv_coco_clear (&self->coco);
  g_array_unref (self->pictures);
  g_free (self);
}

void
cuv_teach_dataset_restart (CuvTeachDataset *self)
{
  self->run++;
}

/* ---- writing ---- */

static gchar *
save_annotations (CuvTeachDataset *self)
{
  gchar *text = cuv_coco_write (&self->coco);
  gchar *problem =
      cuv_folder_replace (self->folder, ANNOTATIONS, text, strlen (text));

  g_free (text);
  return problem;
}

/* Writes a picture to a new file. */
static gchar *
write_jpeg (
    CuvTeachDataset *self, Picture *picture, gconstpointer jpeg, gsize size)
{
  gchar *name, *problem;
  gboolean exists;

  do {
    picture->number = ++self->last_number;
    name = name_of (picture);
    problem = cuv_folder_create (self->folder, name, jpeg, size, &exists);
    g_free (name);
    if (exists)
      g_clear_pointer (&problem, g_free);
  } while (exists);
  picture->bytes = size;
  return problem;
}

static gchar *
write_picture (
    CuvTeachDataset *self, Picture *picture, gconstpointer jpeg, gsize size)
{
  gulong cut_size;
  guint8 *cut;
  gchar *problem;

  if (picture->part.width == 0)
    return write_jpeg (self, picture, jpeg, size);
  cut = cuv_teach_cut (&picture->place, jpeg, size, &cut_size, &problem);
  if (problem == NULL)
    problem = write_jpeg (self, picture, cut, cut_size);
  tjFree (cut);
  return problem;
}

/* Removes a picture from the lists. */
static void
remove_picture (CuvTeachDataset *self, guint i)
{
  const Picture *picture = &g_array_index (self->pictures, Picture, i);

  cuv_coco_remove_image (&self->coco, picture->id);
  self->bytes -= picture->bytes;
  g_array_remove_index (self->pictures, i);
}

static void
add_boxes (CuvTeachDataset *self, const Picture *picture,
    const CuvTeachExample *example)
{
  for (guint i = 0; i < example->n_boxes; i++) {
    const CuvTeachBox box =
        cuv_teach_place_box (&picture->place, &example->boxes[i]);

    if (box.width > 0 && box.height > 0)
      cuv_coco_add_box (&self->coco, picture->id, picture->label, &box);
  }
}

/* Adds a picture, whose file was written, to the lists. */
static gchar *
add_picture (
    CuvTeachDataset *self, Picture *picture, const CuvTeachExample *example)
{
  gchar *name = name_of (picture), *problem;

  picture->id = cuv_coco_add_image (
      &self->coco, name, picture->place.width, picture->place.height);
  self->bytes += picture->bytes;
  g_array_append_val (self->pictures, *picture);
  add_boxes (self, picture, example);
  problem = save_annotations (self);
  if (problem != NULL) {
    remove_picture (self, self->pictures->len - 1);
    cuv_folder_remove (self->folder, name);
  }
  g_free (name);
  return problem;
}

/* ---- keeping ---- */

static gboolean
is_same (const CuvTeachBox *a, const CuvTeachBox *b)
{
  return a->x == b->x && a->y == b->y && a->width == b->width
      && a->height == b->height;
}

static Picture *
find_kept (const CuvTeachDataset *self, const CuvTeachExample *example)
{
  for (guint i = self->pictures->len; i > 0; i--) {
    Picture *picture = &g_array_index (self->pictures, Picture, i - 1);

    if (picture->run == self->run && picture->frame == example->frame
        && g_str_equal (picture->label, example->label)
        && is_same (&picture->part, &example->part))
      return picture;
  }
  return NULL;
}

static gchar *
check_room (const CuvTeachDataset *self, const CuvTeachExample *example)
{
  const CuvCoco *coco = &self->coco;

  if (json_array_get_length (coco->images) < CUV_TEACH_MAX_PICTURES
      && self->bytes < (guint64) CUV_TEACH_MAX_GB << 30
      && json_array_get_length (coco->annotations) + example->n_boxes
          <= CUV_TEACH_ALL_BOXES
      && cuv_coco_has_room (coco, example->n_boxes))
    return NULL;
  return g_strdup ("save-folder is full (" G_STRINGIFY (CUV_TEACH_MAX_PICTURES) " pictures, " G_STRINGIFY (
      CUV_TEACH_MAX_GB) " GB or " G_STRINGIFY (CUV_TEACH_ALL_BOXES) " boxes): "
                                                                    "set it to "
                                                                    "a new "
                                                                    "folder");
}

static gchar *
keep_new (
    CuvTeachDataset *self, CuvTeachExample *example, const CuvRingFrame *frame)
{
  Picture picture = {
    .run = self->run, .frame = example->frame, .part = example->part
  };
  gchar *problem = check_room (self, example);
  gsize size;
  gconstpointer jpeg = cuv_web_frame_jpeg (frame->frame, &size);

  g_strlcpy (picture.label, example->label, sizeof picture.label);
  if (problem == NULL)
    problem = cuv_teach_example_clip (example, frame->width, frame->height);
  if (problem == NULL)
    problem = cuv_teach_place (&picture.place, jpeg, size, frame->width,
        frame->height, &example->part);
  if (problem == NULL)
    problem = write_picture (self, &picture, jpeg, size);
  return problem != NULL ? problem : add_picture (self, &picture, example);
}

static gchar *
keep_again (
    CuvTeachDataset *self, CuvTeachExample *example, const Picture *picture)
{
  gchar *problem = check_room (self, example);

  if (problem == NULL)
    problem = cuv_teach_example_clip (
        example, picture->place.frame_width, picture->place.frame_height);
  if (problem != NULL)
    return problem;
  cuv_coco_remove_boxes (&self->coco, picture->id);
  add_boxes (self, picture, example);
  return save_annotations (self);
}

static guint
count_label (const CuvTeachDataset *self, const gchar *label)
{
  guint unused, n = 0;
  GArray *counts = cuv_coco_count (&self->coco, &unused);

  for (guint i = 0; i < counts->len; i++) {
    const CuvTeachCount *count = &g_array_index (counts, CuvTeachCount, i);

    if (g_str_equal (count->label, label))
      n = count->pictures;
  }
  g_array_unref (counts);
  return n;
}

gchar *
cuv_teach_dataset_keep (CuvTeachDataset *self, CuvTeachExample *example,
    const CuvRingFrame *frame, guint *n)
{
  const Picture *before = find_kept (self, example);
  gchar *problem;

  if (before == NULL && frame == NULL)
    return cuv_ring_missing (example->frame);
  problem = before != NULL ? keep_again (self, example, before)
                           : keep_new (self, example, frame);
  *n = problem == NULL ? count_label (self, example->label) : 0;
  return problem;
}

/* ---- forgetting and selecting ---- */

gchar *
cuv_teach_dataset_forget (CuvTeachDataset *self, const gchar *label, guint *n)
{
  guint i = self->pictures->len;
  gchar *name, *problem;

  while (i > 0
      && !g_str_equal (
          g_array_index (self->pictures, Picture, i - 1).label, label))
    i--;
  if (i == 0)
    return g_strdup_printf ("no picture is kept for '%s'", label);
  name = name_of (&g_array_index (self->pictures, Picture, i - 1));
  remove_picture (self, i - 1);
  problem = save_annotations (self);
  if (problem == NULL)
    cuv_folder_remove (self->folder, name);
  g_free (name);
  *n = count_label (self, label);
  return problem;
}

gchar *
cuv_teach_dataset_select (const CuvTeachDataset *self, const gchar *label)
{
  GHashTable *others = g_hash_table_new (NULL, NULL);
  gchar *text;

  for (guint i = 0; i < self->pictures->len; i++) {
    const Picture *picture = &g_array_index (self->pictures, Picture, i);

    if (!g_str_equal (picture->label, label))
      g_hash_table_add (others, GINT_TO_POINTER (picture->id));
  }
  text = cuv_coco_write_without (&self->coco, others);
  g_hash_table_unref (others);
  return text;
}
