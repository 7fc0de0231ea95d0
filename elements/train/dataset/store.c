/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stores the pixels of all pictures, decoded once: grey, or red, green and
 * blue, or both. They are in an unnamed temporary file, which the page cache
 * keeps in memory as far as there is space. */
#include "dataset.h"
#include "cuvgrey.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes of a mapping. With a mapping for each picture, a process could exceed
 * Linux's limit of 65530 mappings. */
#define BLOCK ((gsize) 64 << 20)

typedef struct {
  guint8 *bytes;
  gsize size, used;
} Block;

typedef struct {
  gint width, height;
  CuvStoreKeep keep;
  guint8 *planes; /* one plane after the other */
} Picture;

struct _CuvStore {
  int file;
  off_t end;      /* end of the last picture in the file, in bytes */
  GArray *blocks; /* mappings, whose addresses do not change */
  GArray *pictures;
};

static void
set_store_error (GError **error, const gchar *what)
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
    set_store_error (error, path);
  } else {
    unlink (path);
    self = g_new (CuvStore, 1);
    *self = (CuvStore){ file, 0, g_array_new (FALSE, FALSE, sizeof (Block)),
      g_array_new (FALSE, FALSE, sizeof (Picture)) };
  }
  g_free (path);
  return self;
}

void
cuv_store_free (CuvStore *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->blocks->len; i++) {
    const Block *block = &g_array_index (self->blocks, Block, i);

    munmap (block->bytes, block->size);
  }
  g_array_unref (self->blocks);
  g_array_unref (self->pictures);
  close (self->file);
  g_free (self);
}

/* Maps the next block of the file, even if the block is beyond the file's
 * end. */
static gboolean
map_block (CuvStore *self, gsize size)
{
  const gsize page = (gsize) sysconf (_SC_PAGESIZE);
  const off_t start =
      (self->end + (off_t) page - 1) / (off_t) page * (off_t) page;
  Block block = { NULL, MAX (size, BLOCK), 0 };

  block.bytes = mmap (
      NULL, block.size, PROT_READ | PROT_WRITE, MAP_SHARED, self->file, start);
  if (block.bytes == MAP_FAILED)
    return FALSE;
  self->end = start;
  g_array_append_val (self->blocks, block);
  return TRUE;
}

/* Allocates memory for a picture; returns NULL and sets errno on failure. */
static guint8 *
allocate_picture (CuvStore *self, gsize size)
{
  Block *block = self->blocks->len > 0
      ? &g_array_index (self->blocks, Block, self->blocks->len - 1)
      : NULL;
  guint8 *room;

  if (block == NULL || block->size - block->used < size) {
    if (!map_block (self, size))
      return NULL;
    block = &g_array_index (self->blocks, Block, self->blocks->len - 1);
  }
  do
    errno = posix_fallocate (self->file, self->end, (off_t) size);
  while (errno == EINTR);
  if (errno != 0)
    return NULL;
  room = block->bytes + block->used;
  block->used += size;
  self->end += (off_t) size;
  return room;
}

enum { N_COLOURS = 3 };

static gsize
n_planes (CuvStoreKeep keep)
{
  return (keep & CUV_STORE_GREY ? 1 : 0)
      + (keep & CUV_STORE_COLOURS ? N_COLOURS : 0);
}

static void
copy_colours (const CuvFrame *frame, guint8 *out)
{
  for (gint i = 0; i < N_COLOURS; i++) {
    const CuvComponent *c = &frame->component[i];

    for (gint y = 0; y < frame->height; y++, out += frame->width)
      cuv_copy_row (
          c->data + (ptrdiff_t) y * c->stride, c->step, frame->width, out);
  }
}

static void
copy_grey (const CuvFrame *frame, guint8 *out)
{
  for (gint y = 0; y < frame->height; y++)
    cuv_grey_row (frame, y, out + (gsize) y * (gsize) frame->width);
}

gint64
cuv_store_add (CuvStore *self, const CuvFrame *grey, const CuvFrame *colours,
    GError **error)
{
  const CuvFrame *frame = grey != NULL ? grey : colours;
  const gsize size = (gsize) frame->width * (gsize) frame->height;
  const CuvStoreKeep keep = (CuvStoreKeep) ((grey != NULL ? CUV_STORE_GREY : 0)
      | (colours != NULL ? CUV_STORE_COLOURS : 0));
  const Picture picture = { frame->width, frame->height, keep,
    allocate_picture (self, n_planes (keep) * size) };

  if (picture.planes == NULL) {
    set_store_error (error,
        "no space for the pictures; set TMPDIR to a folder with more space");
    return -1;
  }
  if (grey != NULL)
    copy_grey (grey, picture.planes);
  if (colours != NULL)
    copy_colours (colours, picture.planes + (grey != NULL ? size : 0));
  g_array_append_val (self->pictures, picture);
  return (gint64) self->pictures->len - 1;
}

static CuvFrame
frame_of (const Picture *picture, CuvModel model, gint first, gint n)
{
  const gsize size = (gsize) picture->width * (gsize) picture->height;
  CuvFrame frame = { .model = model,
    .width = picture->width,
    .height = picture->height,
    .n_components = n };

  for (gint i = 0; i < n; i++)
    frame.component[i] =
        (CuvComponent){ .data = picture->planes + (gsize) (first + i) * size,
          .stride = picture->width,
          .step = 1 };
  return frame;
}

CuvFrame
cuv_store_colours (const CuvStore *self, gint64 number)
{
  const Picture *picture = &g_array_index (self->pictures, Picture, number);

  if (!(picture->keep & CUV_STORE_COLOURS))
    return (CuvFrame){ .n_components = 0 };
  return frame_of (picture, CUV_MODEL_RGB,
      picture->keep & CUV_STORE_GREY ? 1 : 0, N_COLOURS);
}

CuvFrame
cuv_store_grey (const CuvStore *self, gint64 number)
{
  const Picture *picture = &g_array_index (self->pictures, Picture, number);

  return picture->keep & CUV_STORE_GREY
      ? frame_of (picture, CUV_MODEL_GREY, 0, 1)
      : (CuvFrame){ .n_components = 0 };
}
