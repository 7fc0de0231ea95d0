/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DETECT_CLI_H
#define DETECT_CLI_H

#include <gst/gst.h>
#include <stdio.h>

/* What the command line says; see detect --help. */
typedef struct {
  GPtrArray *files; /* their names */
  gchar *model, *csv, *output, *device, *scan, *mode, *block_size;
  gchar *film, *folder; /* output is the one or the other */
  gchar **settings;
  gboolean timing, survivors, show;
  gint frames;
} DetectOptions;

extern DetectOptions options;

/* Ends the program if there is nothing it could do. */
void parse_options (int *argc, char ***argv);

/* An error or a warning about that file; name may be NULL. */
void print_message (const gchar *name, const gchar *what, GstMessage *message);

/* Why gst_parse_launch() failed. */
void print_parse_error (const GError *error);

/* --timing and --survivors, of a frame: the detector's property stats. */
void print_stats (FILE *out, const gchar *name, const GstStructure *stats);

/* --timing, of all frames so far. */
void print_means (FILE *out, guint n_objects, gdouble seconds);

#endif
