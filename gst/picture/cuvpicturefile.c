/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads formats, and EXIF orientations of JPEG, PNG, WebP and TIFF. GStreamer
 * reads orientations of JPEG only, and not in all versions. */
#include "picture/cuvpicturefile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cuvfile.h"

enum { MOST_READS = 65536 };

/* Limits the number of reads: many chunks may point to the same large
 * directory. */
typedef struct {
  FILE *file;
  gint n_reads;
} Source;

static gboolean
read_at (Source *self, goffset at, guint8 *bytes, gsize n)
{
  return self->n_reads++ < MOST_READS && fseeko (self->file, at, SEEK_SET) == 0
      && fread (bytes, 1, n, self->file) == n;
}

static guint32
number (const guint8 *bytes, gint n, gboolean big)
{
  guint32 value = 0;

  for (gint i = 0; i < n; i++)
    value = value << 8 | bytes[big ? i : n - 1 - i];
  return value;
}

/* Returns the orientation in the first directory of a TIFF structure, and sets
 * *value_at to the offset of its byte. Returns 0 if there is none. */
static gint
read_tiff (Source *file, goffset at, goffset *value_at)
{
  guint8 head[8], count[2], entry[12];
  gboolean big;
  goffset next;

  if (!read_at (file, at, head, sizeof head)
      || (memcmp (head, "MM\0\x2a", 4) != 0
          && memcmp (head, "II\x2a\0", 4) != 0))
    return 0;
  big = *head == 'M';
  next = at + number (head + 4, 4, big);
  if (!read_at (file, next, count, sizeof count))
    return 0;
  next += sizeof count;
  for (guint32 i = number (count, 2, big); i > 0; i--) {
    if (!read_at (file, next, entry, sizeof entry))
      return 0;
    if (number (entry, 2, big) == 0x0112) {
      const guint32 value = number (entry + 8, 2, big);

      *value_at = next + 8 + (big ? 1 : 0);
      return value <= 8 ? (gint) value : 0;
    }
    next += sizeof entry;
  }
  return 0;
}

/* Reads EXIF data; some programs write JPEG's prefix in other formats, too. */
static gint
read_exif (Source *file, goffset at)
{
  guint8 prefix[6];
  goffset unused;

  return read_tiff (file,
      read_at (file, at, prefix, 6) && memcmp (prefix, "Exif\0\0", 6) == 0
          ? at + 6
          : at,
      &unused);
}

/* ---- formats ---- */

static gboolean
is_start_of_frame (guint8 marker)
{
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8
      && marker != 0xcc;
}

static void
read_jpeg (CuvPictureFile *self, Source *file)
{
  guint8 head[10] = { 0 };
  goffset at = 2;

  while (read_at (file, at, head, 4) && head[0] == 0xff && head[1] != 0xda) {
    if (head[1] == 0xe1 && self->orientation == 0)
      self->orientation = read_exif (file, at + 4);
    if (is_start_of_frame (head[1]) && read_at (file, at, head, 10)
        && head[9] == 4)
      self->kind = "CMYK JPEG";
    at += head[1] == 0xff ? 1 : 2 + (goffset) number (head + 2, 2, TRUE);
  }
}

static void
read_png (CuvPictureFile *self, Source *file)
{
  guint8 head[10];
  goffset at = 8;

  self->is_rgb16 =
      read_at (file, 16, head, sizeof head) && head[8] == 16 && head[9] == 2;
  while (read_at (file, at, head, 8)) {
    if (memcmp (head + 4, "eXIf", 4) == 0)
      self->orientation = read_exif (file, at + 8);
    at += 12 + (goffset) number (head, 4, TRUE);
  }
}

static void
read_webp (CuvPictureFile *self, Source *file)
{
  guint8 head[9];
  goffset at = 12;

  while (read_at (file, at, head, sizeof head)) {
    const goffset size = number (head + 4, 4, FALSE);

    if (memcmp (head, "VP8X", 4) == 0 && (head[8] & 2) != 0)
      self->kind = "animated WebP";
    if (memcmp (head, "EXIF", 4) == 0)
      self->orientation = read_exif (file, at + 8);
    at += 8 + size + size % 2;
  }
}

static const struct {
  gsize at;
  const gchar *bytes, *kind;
} kinds[] = {
  { 4, "ftypheic", "HEIC" },
  { 4, "ftypheix", "HEIC" },
  { 4, "ftypmif1", "HEIF" },
  { 4, "ftypmsf1", "HEIF" },
  { 4, "ftypavi", "AVIF" },
  { 4, "JXL \r\n", "JPEG XL" },
  { 0, "\xff\x0a", "JPEG XL" },
  { 0, "8BPS", "Photoshop" },
};

static void
read_picture (CuvPictureFile *self, Source *file)
{
  guint8 head[12] = { 0 };

  read_at (file, 0, head, sizeof head);
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++) {
    if (memcmp (head + kinds[i].at, kinds[i].bytes, strlen (kinds[i].bytes))
        == 0)
      self->kind = kinds[i].kind;
  }
  if (memcmp (head, "\xff\xd8\xff", 3) == 0) {
    read_jpeg (self, file);
  } else if (memcmp (head, "\x89PNG", 4) == 0) {
    read_png (self, file);
  } else if (memcmp (head, "RIFF", 4) == 0
      && memcmp (head + 8, "WEBP", 4) == 0) {
    read_webp (self, file);
  } else {
    self->orientation = read_tiff (file, 0, &self->orientation_at);
    self->is_tiff = self->orientation != 0;
  }
}

gboolean
cuv_picture_file_read (
    const gchar *path, CuvPictureFile *self, const char **problem)
{
  const int fd = cuv_file_open (path, NULL, problem);
  FILE *file = fd >= 0 ? fdopen (fd, "rb") : NULL;

  *self = (CuvPictureFile){ 0 };
  if (file == NULL) {
    if (fd >= 0) {
      *problem = g_strerror (errno);
      close (fd);
    }
    return FALSE;
  }
  read_picture (self, &(Source){ .file = file });
  fclose (file);
  return TRUE;
}
