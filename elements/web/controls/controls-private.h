/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of this folder share. */
#ifndef CUV_CONTROLS_PRIVATE_H
#define CUV_CONTROLS_PRIVATE_H

#include "controls/controls.h"
#include "controls/message.h"
#include "controls/target.h"

G_BEGIN_DECLS

typedef struct {
  gchar *name;              /* constant */
  gchar *element;           /* its part before the last dot */
  const gchar *member;      /* its part after that */
  CuvControlTarget *target; /* NULL: the element is missing */
  gulong handler;           /* of its notifications; 0: none */
  gboolean changed;         /* clients need the new value */
  GArray *values;           /* newest request; NULL: none */
  guint64 client;           /* who sent it; 0: it is from settings-file */
  gint64 id;
  JsonNode *saved; /* value in settings-file, or NULL; constant */
} CuvControl;

/* A request that has no control. */
typedef struct {
  CuvControlAction action;
  guint64 client;
  gint64 id;
} CuvControlJob;

struct _CuvControls {
  gint refs;
  GMutex lock; /* of all that is not constant; elements are never called with it
                * held */
  GCond cond;
  CuvControl *list; /* the controls, then those that only `use` sets */
  guint n, n_all;
  CuvControlsTeach teach; /* constant; zero-filled: none */
  gchar *settings_file;   /* NULL: none; constant */
  GThread *thread;        /* NULL: not started, or stopped */
  gboolean running, stopping;

  GstElement *sink;                      /* not a reference; NULL: stopped */
  CuvWebStream *stream;                  /* NULL: stopped */
  GWeakRef bin;                          /* the top-level bin */
  GstBus *bus;                           /* its bus, or NULL */
  gulong added, removed, warned, failed; /* signal handlers of bin and bus */

  guint n_loading;     /* values of settings-file that are not set yet */
  gboolean started;    /* problems with them are warnings from now on */
  gchar *load_problem; /* the first one, or NULL */
  GArray *jobs;        /* CuvControlJob, not begun yet */

  GArray *joined;        /* clients that need the description */
  gboolean describe_all; /* all clients need it */
  GQueue warnings;       /* JSON texts for all clients */
  CuvControl *acting;    /* control that is being set or called, or NULL */
  gchar *reason;         /* warning of its element meanwhile, or NULL */
};

CuvControls *cuv_controls_ref (CuvControls *self);

/* Schedules the description for all clients. Call with the lock held. */
void cuv_controls_describe (CuvControls *self);

CuvControl *cuv_controls_find (CuvControls *self, const gchar *name);

/* ---- service.c ---- */

/* The thread; controls is a reference, which it drops. */
gpointer cuv_controls_run (gpointer controls);

/* ---- pipeline.c ---- */

/* Connects the elements of the pipeline. Returns NULL, or why a control cannot
 * work. */
gchar *cuv_controls_enter (CuvControls *self);
void cuv_controls_leave (CuvControls *self);
/* Returns a text that names the missing elements, or NULL. */
gchar *cuv_controls_missing (CuvControls *self);
/* Posts a warning, unless the sink has stopped. Frees the problem. */
void cuv_controls_warn (CuvControls *self, gchar *problem);
/* Returns the pipeline as text, with what it lacks as comments, to be freed, or
 * NULL if it has gone. */
gchar *cuv_controls_line (CuvControls *self);

G_END_DECLS

#endif
