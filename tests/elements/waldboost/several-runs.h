/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames through a waldboostdetect with several models. */
#ifndef CUV_TEST_SEVERAL_RUNS_H
#define CUV_TEST_SEVERAL_RUNS_H

#include "picture.h"

enum { CASCADE, CHANNELS, RANK, MORE_CHANNELS, N_FILES };

/* The models, written by set_up_files() and removed by tear_down_files(). */
extern gchar *files[N_FILES];
void set_up_files (void);
void tear_down_files (void);

typedef struct {
  GstSample *sample;
  GstHarness *h;
  GstElement *d;
  GstBus *bus;
  guint n;
  Wanted wanted[N_FILES];
  const gchar *labels[N_FILES]; /* NULL: the label that the file has */
  gint ids[N_FILES];
} Run;

/* Sets the models whose objects are expected, and returns the list of their
 * files; free it. */
gchar *want (Run *self, const gint *models, guint n);

void run_init (Run *self, const gchar *format, const gchar *properties,
    const gint *models, guint n);
void run_clear (Run *self);

/* Checks that the buffer has the objects of all models, in their order, and
 * some of each. region: NULL, or the part of the frame that was searched. */
void check_buffer (Run *self, GstBuffer *buffer, const CuvRoi *region,
    gpointer *state, const gchar *what);

/* Pushes a frame and checks all its objects. */
void check_next (Run *self, const gchar *what);

#endif
