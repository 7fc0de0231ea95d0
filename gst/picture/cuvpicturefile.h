/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_PICTURE_FILE_H
#define CUV_PICTURE_FILE_H

#include <glib.h>

typedef struct {
  const gchar *kind; /* if it is one that often cannot be decoded, or NULL */
  gint orientation;  /* EXIF's, 1 .. 8; 0: none */
  gboolean is_tiff;
  gboolean is_rgb16; /* a PNG with 16 bits and no alpha */
} CuvPictureFile;

/* All 0 if it is not a picture. FALSE with the reason, which is not freed, if
 * it cannot be opened. */
gboolean cuv_picture_file_read (
    const gchar *path, CuvPictureFile *self, const char **problem);

#endif
