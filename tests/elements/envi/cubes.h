/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared code of the envisrc and envisink tests, which run in a temporary
 * folder. */
#ifndef CUV_TEST_CUBES_H
#define CUV_TEST_CUBES_H

#include "cuvelements.h"

#define HEADER                                                                 \
  "ENVI\nsamples = 5\nlines = 4\nbands = 3\ninterleave = bil\n"                \
  "byte order = 0\n"
#define U8 HEADER "data type = 1\n"
#define U16 HEADER "data type = 12\n"
#define APPSINK " ! appsink name=out sync=false"
#define N_SAMPLES 60 /* samples of a cube with this header */

void write_file (const gchar *name, gconstpointer bytes, gsize size);
void write_text (const gchar *name, const gchar *text);
/* Writes size bytes that count up from first. */
void write_counting (const gchar *name, guint first, gsize size);

/* Writes a cube of N_SAMPLES bytes that count up from first: name.hdr,
 * name.img. */
void write_cube (const gchar *name, guint first);

/* A playing pipeline that ends in "appsink name=out sync=false". */
typedef struct {
  GstElement *pipeline, *out;
} Player;

Player player_new (const gchar *line);
GstSample *player_pull (Player *self); /* NULL at EOS */
void player_free (Player *self);
void expect_end (Player *self);

guint first_byte (GstSample *sample); /* unrefs the sample */

/* Returns the sorted file names of the folder, separated by blanks; g_free()
 * it. */
gchar *files_here (void);

#endif
