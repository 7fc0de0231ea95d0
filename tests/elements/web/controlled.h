/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pipeline with controls and an element that has properties of every type.
 * Texts for clients are collected instead of sent. */
#ifndef CONTROLLED_H
#define CONTROLLED_H

#include "controls/controls.h"
#include "cuvelements.h"

typedef struct {
  GstElement parent;
  GValue values[32]; /* by number of the property */
  GMutex gate;       /* held by a test: setting "slow" blocks */
  gint n_slow;       /* how often "slow" was set; atomic */
} TestElement;

typedef struct {
  GstElement *pipeline, *sink;
  TestElement *element; /* named "e" */
  CuvControls *controls;
  CuvWebClient client; /* its id is 3 */
} Line;

/* Makes a pipeline in which "e" is in a bin. */
void line_init (Line *self);
/* Makes one and starts its controls. */
void line_start (Line *self, const gchar *names);
void line_stop (Line *self);
/* Adds a TestElement. */
GstElement *line_add (GstElement *bin, const gchar *name);

/* Send a message; return the answer, to be freed, or NULL. */
gchar *line_send (Line *self, const gchar *format, ...) G_GNUC_PRINTF (2, 3);
gchar *line_set (Line *self, gint id, const gchar *control, const gchar *value);

/* Wait for the next text, "CLIENT: TEXT", client 0 for all: returns it, to be
 * freed; fails the test if it is another one, or does not contain the part. */
gchar *next_text (void);
void expect_text (const gchar *expected);
void expect_part (const gchar *part);
/* Skips the description, which comes first. */
void skip_description (void);
guint n_texts (void);

/* Fails the test unless the answer, which it frees, refuses with the part. */
void expect_refused (gchar *answer, const gchar *part);

#endif
