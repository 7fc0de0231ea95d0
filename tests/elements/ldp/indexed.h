/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Harnesses of ldpindexsink in a temporary folder, and checks of its index. */
#ifndef CUV_TEST_INDEXED_H
#define CUV_TEST_INDEXED_H

#include "cuvelements.h"
#include "index/ldpindex.h"

#define INDEX "pictures.ldp"

/* Frames are uploaded; with a real device the GPU must describe them. */
extern gboolean use_cuda, have_kernels;

void indexed_enter (void);
void indexed_leave (void);

/* A pipeline that ends in ldpindexsink; after cuvcudaupload if use_cuda. */
GstHarness *line_new (
    const gchar *line, const gchar *format, gint width, gint height);
/* ldpindexsink with the properties and location=INDEX. */
GstHarness *sink_new (
    const gchar *properties, const gchar *format, gint width, gint height);
GstElement *sink_of (GstHarness *h); /* unref it */
guint64 sink_stat (GstHarness *h, const gchar *field);

void push (GstHarness *h, GstBuffer *frame);
/* Pushes n random frames. */
void push_random (
    GstHarness *h, const gchar *format, gint width, gint height, guint n);
/* Pushes a frame and expects an error with this text. */
void push_refused (GstHarness *h, GstBuffer *frame, const gchar *part);

void add_region (
    GstBuffer *frame, gint id, guint x, guint y, guint width, guint height);
void fill_rect (GstBuffer *frame, const gchar *format, gint width, gint height,
    const CuvLdpRect *rect, guint32 rgb);

/* Opens an index and checks that it has n entries, all intact. */
CuvLdpIndex *index_open (const gchar *path, guint64 n);
/* Checks the names of the entries of INDEX: "a|b". */
void expect_names (const gchar *expected);
void expect_same_files (const gchar *a, const gchar *b);

/* Checks entry i against the C reference for a rectangle of the frame. */
void expect_described (const CuvLdpIndex *index, guint64 i, GstBuffer *frame,
    const gchar *format, gint width, gint height, const CuvLdpRect *rect);

/* Plays a pipeline that must fail with this text. */
void expect_line_fails (const gchar *line, const gchar *part);

void add_names (Suite *suite);
void add_thumbnails (Suite *suite);
void add_trouble (Suite *suite);
void indexed_add (Suite *suite, TCase *tcase); /* in a new folder each */

#endif
