/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A data set: stores pictures and divides them among roles. */
#include "dataset.h"

/* ---- pictures ---- */

static void
picture_free (gpointer data)
{
  CuvDatasetPicture *self = data;

  g_free (self->path);
  g_array_unref (self->objects);
  g_array_unref (self->boxes);
  g_array_unref (self->others);
  g_free (self);
}

CuvDataset *
cuv_dataset_new (const gchar *folder, GError **error)
{
  CuvStore *store = cuv_store_new (folder, error);
  CuvDataset *self;

  if (store == NULL)
    return NULL;
  self = g_new0 (CuvDataset, 1);
  self->store = store;
  self->least_overlap = CUV_LEAST_OVERLAP;
  self->pictures = g_ptr_array_new_with_free_func (picture_free);
  for (gint role = 0; role < CUV_DATASET_N_ROLES; role++)
    self->roles[role] = g_ptr_array_new ();
  return self;
}

void
cuv_dataset_free (CuvDataset *self)
{
  if (self == NULL)
    return;
  for (gint role = 0; role < CUV_DATASET_N_ROLES; role++)
    g_ptr_array_unref (self->roles[role]);
  g_ptr_array_unref (self->pictures);
  cuv_store_free (self->store);
  g_free (self);
}

CuvDatasetPicture *
cuv_dataset_add (CuvDataset *self, const gchar *path, const CuvFrame *grey,
    const CuvFrame *colours, GError **error)
{
  const CuvFrame *frame = grey != NULL ? grey : colours;
  const gint64 number = cuv_store_add (self->store, grey, colours, error);
  CuvDatasetPicture *picture;

  if (number < 0)
    return NULL;
  picture = g_new (CuvDatasetPicture, 1);
  *picture = (CuvDatasetPicture){ g_strdup (path),
    cuv_store_grey (self->store, number),
    cuv_store_colours (self->store, number), self, frame->width, frame->height,
    FALSE, 0, g_array_new (FALSE, FALSE, sizeof (CuvTrainBox)),
    g_array_new (FALSE, FALSE, sizeof (CuvTrainBox)),
    g_array_new (FALSE, FALSE, sizeof (CuvDatasetOther)) };
  g_ptr_array_add (self->pictures, picture);
  return picture;
}

gboolean
cuv_dataset_add_window (
    CuvDataset *self, const gchar *path, const CuvFrame *frame, GError **error)
{
  CuvDatasetPicture *picture = cuv_dataset_add (self, path, frame, NULL, error);
  const CuvTrainBox box = { 0, 0, frame->width, frame->height };

  if (picture == NULL)
    return FALSE;
  picture->is_window = TRUE;
  g_array_append_val (picture->objects, box);
  g_array_append_val (picture->boxes, box);
  return TRUE;
}

/* ---- roles ---- */

/* Numbers of each role in 20 pictures. */
static const guint shares[CUV_DATASET_N_ROLES] = { 14, 3, 3 };

typedef struct {
  CuvDatasetPicture *picture;
  guint64 rank;
} Ranked;

static gint
compare_ranks (gconstpointer a, gconstpointer b)
{
  const Ranked *one = a, *other = b;

  return (one->rank > other->rank) - (one->rank < other->rank);
}

static void
clear_roles (CuvDataset *self)
{
  for (gint role = 0; role < CUV_DATASET_N_ROLES; role++)
    g_ptr_array_set_size (self->roles[role], 0);
}

static guint64
rank_of_block (guint64 block, guint64 seed)
{
  guint64 state = seed ^ block;

  return cuv_train_random (&state);
}

static void
divide (CuvDataset *self, gboolean with_objects, gboolean windows, guint64 seed)
{
  GArray *ranked = g_array_new (FALSE, FALSE, sizeof (Ranked));
  guint64 state = seed;

  for (guint i = 0; i < self->pictures->len; i++) {
    Ranked one = { self->pictures->pdata[i], cuv_train_random (&state) };

    if (one.picture->block != 0)
      one.rank = rank_of_block (one.picture->block, seed);
    if (windows)
      one.rank = 0;
    if ((one.picture->objects->len > 0) == with_objects
        && one.picture->is_window == windows)
      g_array_append_val (ranked, one);
  }
  g_array_sort (ranked, compare_ranks); /* the sort is stable */
  for (guint i = 0; i < ranked->len; i++) {
    guint at = i * 20 / ranked->len, role = 0;

    while (at >= shares[role])
      at -= shares[role++];
    g_ptr_array_add (
        self->roles[role], g_array_index (ranked, Ranked, i).picture);
  }
  g_array_unref (ranked);
}

void
cuv_dataset_divide (CuvDataset *self, guint64 seed)
{
  clear_roles (self);
  divide (self, TRUE, FALSE, seed);
  divide (self, TRUE, TRUE, seed);
  divide (self, FALSE, FALSE, seed);
}

/* Minimum number of pictures in a block: one second of video. Not tuned. */
#define LEAST_BLOCK 25

static gboolean
is_usable (const CuvDatasetPicture *picture, gboolean in_colour)
{
  return !in_colour || picture->colours.n_components > 0;
}

/* Counts the pictures with or without objects. */
static guint
count_usable (const CuvDataset *self, gboolean with_objects, gboolean in_colour)
{
  guint n = 0;

  for (guint i = 0; i < self->pictures->len; i++) {
    const CuvDatasetPicture *picture = self->pictures->pdata[i];

    n += is_usable (picture, in_colour)
        && (picture->objects->len > 0) == with_objects;
  }
  return n;
}

static void
divide_in_time (CuvDataset *self, gboolean with_objects, gboolean in_colour)
{
  static const CuvDatasetRole blocks[] = { CUV_DATASET_LEARNING,
    CUV_DATASET_LEARNING, CUV_DATASET_LEARNING, CUV_DATASET_LEARNING,
    CUV_DATASET_LEARNING, CUV_DATASET_CALIBRATION, CUV_DATASET_TEST };
  const guint n = count_usable (self, with_objects, in_colour);
  const guint n_turns = MAX (n / (G_N_ELEMENTS (blocks) * LEAST_BLOCK), 1);
  const guint n_blocks = G_N_ELEMENTS (blocks) * n_turns;
  guint64 at = 0;

  for (guint i = 0; i < self->pictures->len; i++) {
    CuvDatasetPicture *picture = self->pictures->pdata[i];

    if (is_usable (picture, in_colour)
        && (picture->objects->len > 0) == with_objects)
      g_ptr_array_add (
          self->roles[blocks[at++ * n_blocks / n % G_N_ELEMENTS (blocks)]],
          picture);
  }
}

void
cuv_dataset_divide_in_time (CuvDataset *self, gboolean in_colour)
{
  clear_roles (self);
  divide_in_time (self, TRUE, in_colour);
  divide_in_time (self, FALSE, in_colour);
}

guint
cuv_dataset_count_with_objects (const CuvDataset *self)
{
  return count_usable (self, TRUE, FALSE);
}

guint
cuv_dataset_count_in_colour (const CuvDataset *self)
{
  return count_usable (self, TRUE, TRUE);
}

/* ---- pictures for the trainer ---- */

static bool
load_picture (void *data, int32_t i, CuvTrainPicture *picture)
{
  const GPtrArray *pictures = data;
  const CuvDatasetPicture *from = pictures->pdata[i];

  g_atomic_int_inc (&from->dataset->n_scanned);
  if (g_atomic_int_get (&from->dataset->stop) || from->is_window)
    return false;
  *picture = (CuvTrainPicture){ from->grey,
    (const CuvTrainBox *) (void *) from->boxes->data,
    (int32_t) from->boxes->len };
  return true;
}

CuvTrainPictures
cuv_dataset_pictures (const CuvDataset *self, CuvDatasetRole role)
{
  return (CuvTrainPictures){ (int32_t) self->roles[role]->len, load_picture,
    self->roles[role] };
}
