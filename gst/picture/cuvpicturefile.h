/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Format and orientation of a picture, from the bytes of its file. */
#ifndef CUV_PICTURE_FILE_H
#define CUV_PICTURE_FILE_H

#include <glib.h>

typedef struct {
  const gchar *kind; /* a format that often cannot be decoded, or NULL */
  gint orientation;  /* EXIF orientation, 1 .. 8; 0: none */
  gboolean is_tiff;
  goffset
      orientation_at; /* TIFF: offset of the orientation's byte; otherwise 0 */
  gboolean is_rgb16;  /* a PNG with 16 bits and no alpha */
} CuvPictureFile;

/* Reads a file; all fields are 0 if it is not a picture. Returns FALSE with the
 * reason, which is not to be freed, if it cannot be opened. */
gboolean cuv_picture_file_read (
    const gchar *path, CuvPictureFile *self, const char **problem);

#endif
