/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures are decoded once. They are in a file without a name, which the
 * system keeps in memory as far as there is room. */
#include "dataset.h"
#include "cuvgrey.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
  gint width, height;
  guint8 *grey; /* mapped */
  gsize size;
} Picture;

struct _CuvStore {
  int file;
  off_t end;
  GArray *pictures;
};

static void
set_error (GError **error, const gchar *what)
{
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (errno),
      "%s: %s", what, g_strerror (errno));
}

CuvStore *
cuv_store_new (const gchar *folder, GError **error)
{
  gchar *path = g_build_filename (folder, "cuvision-train-XXXXXX", NULL);
  CuvStore *self = NULL;
  int file = g_mkstemp (path);

  if (file < 0) {
    set_error (error, path);
  } else {
    unlink (path);
    self = g_new (CuvStore, 1);
    *self = (CuvStore){ file, 0, g_array_new (FALSE, FALSE, sizeof (Picture)) };
  }
  g_free (path);
  return self;
}

void
cuv_store_free (CuvStore *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->pictures->len; i++) {
    const Picture *picture = &g_array_index (self->pictures, Picture, i);

    munmap (picture->grey, picture->size);
  }
  g_array_unref (self->pictures);
  close (self->file);
  g_free (self);
}

gint64
cuv_store_add (CuvStore *self, const CuvFrame *frame, GError **error)
{
  const off_t page = sysconf (_SC_PAGESIZE);
  Picture picture = { frame->width, frame->height, NULL,
    (gsize) frame->width * (gsize) frame->height };
  const int problem =
      posix_fallocate (self->file, self->end, (off_t) picture.size);

  errno = problem;
  if (problem == 0)
    picture.grey = mmap (NULL, picture.size, PROT_READ | PROT_WRITE, MAP_SHARED,
        self->file, self->end);
  if (problem != 0 || picture.grey == MAP_FAILED) {
    set_error (error,
        "no space for the pictures; set TMPDIR to a folder that "
        "has more");
    return -1;
  }
  for (gint y = 0; y < frame->height; y++)
    cuv_grey_row (frame, y, picture.grey + (gsize) y * (gsize) frame->width);
  self->end += ((off_t) picture.size + page - 1) / page * page;
  g_array_append_val (self->pictures, picture);
  return (gint64) self->pictures->len - 1;
}

CuvFrame
cuv_store_frame (const CuvStore *self, gint64 number)
{
  const Picture *picture = &g_array_index (self->pictures, Picture, number);

  return (CuvFrame){ .model = CUV_MODEL_GREY,
    .width = picture->width,
    .height = picture->height,
    .n_components = 1,
    .component = {
        { .data = picture->grey, .stride = picture->width, .step = 1 } } };
}
