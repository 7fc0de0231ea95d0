/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of detect, its messages and statistics. */
#ifndef DETECT_CLI_H
#define DETECT_CLI_H

#include <gst/gst.h>
#include <stdio.h>

/* Options of the command line; see detect --help. */
typedef struct {
  GPtrArray *files; /* paths */
  gchar *model, *csv, *output, *device, *scan, *mode, *block_size;
  gchar *video,
      *folder; /* output if it is a video, or a folder; otherwise NULL */
  gchar **settings;
  gboolean timing, survivors, show;
  gint frames;
} DetectOptions;

extern DetectOptions options;

/* Exits on --help and on errors. */
void parse_options (int *argc, char ***argv);

/* Prints an error or a warning about a file; name may be NULL. */
void print_message (const gchar *name, const gchar *what, GstMessage *message);

/* Prints why gst_parse_launch() failed. */
void print_parse_error (const GError *error);

/* Prints what --timing and --survivors ask for. stats: the detector's property
 * of that name.
 */
void print_stats (FILE *out, const gchar *name, const GstStructure *stats);

/* Prints the means for --timing. seconds: since the start. */
void print_means (FILE *out, guint n_objects, gdouble seconds);

#endif
