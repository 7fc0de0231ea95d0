/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Harnesses of ldpindexsink, and checks of its index; each test runs in a
 * temporary folder. */
#ifndef CUV_TEST_INDEXSINK_HARNESS_H
#define CUV_TEST_INDEXSINK_HARNESS_H

#include "device.h"
#include "index/ldpindex.h"

#define INDEX "pictures.ldp"

/* With a real device the GPU must describe the frames. */
extern gboolean have_kernels;

/* Returns a harness of a pipeline that ends in ldpindexsink, with cuvcudaupload
 * in front if use_cuda. */
GstHarness *line_new (
    const gchar *line, const gchar *format, gint width, gint height);
/* Returns a harness of ldpindexsink with the properties and location=INDEX. */
GstHarness *sink_new (
    const gchar *properties, const gchar *format, gint width, gint height);
GstElement *sink_of (GstHarness *h); /* unref it */
guint64 sink_stat (GstHarness *h, const gchar *field);

void push (GstHarness *h, GstBuffer *frame);
/* Pushes n random frames. */
void push_random (
    GstHarness *h, const gchar *format, gint width, gint height, guint n);
void add_region (
    GstBuffer *frame, gint id, guint x, guint y, guint width, guint height);
void fill_rect (GstBuffer *frame, const gchar *format, gint width, gint height,
    const CuvLdpRect *rect, guint32 rgb);

/* Opens an index and checks that it has n entries, all intact. */
CuvLdpIndex *index_open (const gchar *path, guint64 n);
/* Checks the names of the entries of INDEX, joined by "|". */
void expect_names (const gchar *expected);
void expect_same_files (const gchar *a, const gchar *b);

/* Checks entry i against the C reference for a rectangle of the frame. */
void expect_described (const CuvLdpIndex *index, guint64 i, GstBuffer *frame,
    const gchar *format, gint width, gint height, const CuvLdpRect *rect);

#endif
