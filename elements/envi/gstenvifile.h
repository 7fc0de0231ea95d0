/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ENVI files on disk: names, reading by mapping, writing by renaming. Errors
 * are GstResourceError or GstStreamError and name the file, the cause and the
 * fix. */
#ifndef GST_ENVI_FILE_H
#define GST_ENVI_FILE_H

#include "format/envi.h"
#include "spectral/gstcuvspectralinfo.h"

G_BEGIN_DECLS

/* ---- locations ---- */

/* A location may have one %d or %05d for the number of a cube in a sequence; %%
 * is a %. Returns FALSE and an error if it is empty or has more than one. */
gboolean gst_envi_location_check (const gchar *location, GError **error);
gboolean gst_envi_location_is_pattern (const gchar *location);
/* Returns a copy of the location, in which % has no meaning if a file of
 * exactly this name exists. */
gchar *gst_envi_location_for_reading (const gchar *location);
gchar *gst_envi_location_expand (const gchar *location, guint number);

/* Header and data file of a cube; path is one of the two. */
typedef struct {
  gchar *header, *data;
} GstEnviNames;

gboolean gst_envi_names_find (
    GstEnviNames *names, const gchar *path, GError **error);
void gst_envi_names_for_writing (GstEnviNames *names, const gchar *path);
void gst_envi_names_clear (GstEnviNames *names);

/* ---- cubes ---- */

typedef struct {
  CuvEnvi envi;
  GBytes *samples;                  /* memory-mapped: n_runs runs of samples */
  gint n_runs;                      /* 1, or one run for each band */
  gsize run_step;                   /* bytes from run to run */
  int fd;                           /* the data file */
  guint64 excess;                   /* bytes after the samples */
  GBytes *image_keys, *sample_keys; /* see gstcuvspectralheader.h */
} GstEnviFile;

/* Opens a cube; path is its header or its data file. */
gboolean gst_envi_file_open (
    GstEnviFile *self, const gchar *path, GError **error);
void gst_envi_file_clear (GstEnviFile *self);

/* Restricts the cube to some lines. Keys that describe the whole image are
 * dropped. */
void gst_envi_file_select (GstEnviFile *self, gint first, gint n_lines);

/* Checks the size of the converted cube against a limit; path is named in the
 * error. */
gboolean gst_envi_file_fits (const GstEnviFile *self, const gchar *path,
    guint64 max_bytes, GError **error);

/* Sets buffer to the converted samples: a buffer around the mapping if they
 * need no conversion and pool is NULL, otherwise a buffer of the pool, if large
 * enough, or a new one, into which they are read or converted. error is set
 * with GST_FLOW_ERROR. */
GstFlowReturn gst_envi_file_buffer (
    GstEnviFile *self, GstBufferPool *pool, GstBuffer **buffer, GError **error);

/* Writes both files under temporary names and then renames them. */
gboolean gst_envi_file_write (const gchar *path, const CuvEnvi *envi,
    const gchar *extra_keys, gconstpointer samples, GError **error);

/* Posts warnings about a file just opened, one of each kind. *warned, initially
 * 0, records the kinds that were posted. */
void gst_envi_warn_of_file (GstElement *element, const GstEnviFile *self,
    const gchar *path, guint *warned);

/* Posts the error as an element error and frees it. */
void gst_envi_post_error (GstElement *element, GError *error);

/* ---- statistics ---- */

/* Counts of the cubes since the start; under the element's object lock. */
typedef struct {
  guint64 cubes, bytes;
} GstEnviCounts;

void gst_envi_counts_add (
    GstEnviCounts *self, GstElement *element, guint64 bytes);
/* Sets value, of a property of the element, to a GstStructure of the counts. */
void gst_envi_counts_get (
    const GstEnviCounts *self, GstElement *element, GValue *value);

/* ---- caps ---- */

/* Sets info to describe the converted samples; the frame rate is unknown. */
void gst_envi_to_info (const CuvEnvi *envi, GstCuvSpectralInfo *info);
void gst_envi_from_info (CuvEnvi *envi, const GstCuvSpectralInfo *info);

G_END_DECLS

#endif
