/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Controls: the properties and signals of elements in the sink's pipeline that
 * viewers may set and call.
 *
 *   controls.c   the list and requests
 *   service.c    a thread that sets properties and calls signals
 *   pipeline.c   finds the elements, also ones added later; their warnings
 *   target.c     a property or a signal of an element
 *   value.c      a value as JSON, checked by its GParamSpec
 *   message.c    parses what a page sends; not trusted
 *   texts.c      what pages are sent
 *   settings.c   loads and saves a file with values of controls
 *   settings-format.c  parses it; not trusted
 *
 * A request: the server's thread parses and checks it, and stores the value as
 * the newest one of its control. The thread sets it, since a property may block
 * whoever sets it, and sends the value in force to all pages. Values changed by
 * others come the same way: a notification marks the control.
 *
 * Elements are not kept alive. Signal handlers hold a reference to the
 * controls, as they may still run in other threads after they were
 * disconnected. */
#ifndef CUV_CONTROLS_H
#define CUV_CONTROLS_H

#include <gst/gst.h>
#include "controls/message.h"
#include "server/server.h"

G_BEGIN_DECLS

typedef struct _CuvControls CuvControls;

/* Who takes the messages of teach. */
typedef struct {
  const gchar *detector; /* element whose model and label cuv_controls_use()
                          * sets; NULL: none */
  /* Called in the server's thread with a message of a client that may change.
   * Returns NULL, or why it is refused, to be freed. */
  gchar *(*message) (
      gpointer data, guint64 client, const CuvControlMessage *message);
  gpointer data;
} CuvControlsTeach;

/* Returns NULL, or what is wrong with the text "element.name,element.name", to
 * be freed. */
gchar *cuv_controls_problem (const gchar *text);

/* Finds the elements of the sink's pipeline, and reads their values from
 * settings_file, which may be NULL or a file that does not exist. text may be
 * empty, teach NULL. Returns NULL if a control or a value cannot work, with the
 * problem, to be freed. Otherwise *problem is NULL, or a text that names
 * elements that are missing, which may be added later. */
CuvControls *cuv_controls_new (GstElement *sink, const gchar *text,
    const gchar *settings_file, const CuvControlsTeach *teach, gchar **problem);

/* Starts the thread, which sends texts to the stream's clients. */
void cuv_controls_start (CuvControls *self, CuvWebStream *stream);

/* Waits until the values of settings-file are set, but not longer than half a
 * second: a property may block. Returns NULL, or why an element has refused a
 * value, to be freed. */
gchar *cuv_controls_settle (CuvControls *self);

/* Forgets pending requests and leaves the elements. Waits for a property or
 * signal that blocks, but not longer than half a second: it may wait for who
 * stops the sink. */
void cuv_controls_stop (CuvControls *self);
void cuv_controls_unref (CuvControls *self);

/* Sets model and label of the detector, which must have been named, in the
 * controls' thread, which then answers the client's request. Returns NULL, or
 * why it cannot, to be freed. */
gchar *cuv_controls_use (CuvControls *self, guint64 client, gint64 id,
    const gchar *model, const gchar *label);

/* For CuvWebCalls; in the server's thread. */
void cuv_controls_join (CuvControls *self, guint64 client);
gchar *cuv_controls_message (
    CuvControls *self, CuvWebClient *client, const gchar *text, gsize size);

G_END_DECLS

#endif
