/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Harnesses of ldpretrieve, and access to its matches. */
#ifndef CUV_TEST_RETRIEVE_HARNESS_H
#define CUV_TEST_RETRIEVE_HARNESS_H

#include "device.h"
#include "gstcuvmeta.h"
#include "library.h"

typedef struct {
  GstHarness *h;
  GstElement *element; /* the ldpretrieve */
  GstBus *bus;
} Run;

/* Start a pipeline with an ldpretrieve and frames of this size; or an
 * ldpretrieve with this index and frames of SIZE x SIZE. */
void run_init (Run *self, const gchar *line, gint width, gint height);
void run_with_index (Run *self, const gchar *path, const gchar *properties);
void run_clear (Run *self);

/* Pushes a frame that shows picture i and returns the output; the table is
 * valid only while the buffer is kept. */
GstBuffer *push_picture (Run *self, gint i, GstCuvTable *table);
/* Pushes picture i and checks the number of its matches. */
void expect_rows (Run *self, gint i, guint n);

gdouble cell (const GstCuvTable *table, guint row, const gchar *column);

/* Checks that a row has the name of its entry and this similarity. */
void check_row (const GstCuvTable *table, guint row, gdouble wanted);

#endif
